"""`manage.py up` as a person meets it: the real command, real kills, a real Ctrl-C."""

import contextlib
import http.client
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from apps.core.embedded import folders, locations
from apps.core.embedded.postgres import Postgres
from apps.core.embedded.server import Server
from apps.core.embedded.valkey import Valkey
from apps.core.supervisor import marked
from tests.core.conftest import PROJECT, cleared

pytestmark = pytest.mark.slow
PATIENCE = 90


class Up:
    """A running `manage.py up`, and what it prints."""

    def __init__(self, var: Path, port: int, **environment: str) -> None:
        self.var = var
        self.port = port
        # Nothing of this suite's own settings must reach it.
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(("DJANGO", "LODE"))
        }
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "up", "--no-demo", "--port", str(port)],
            cwd=PROJECT,
            env={**inherited, "LODE_VAR": str(var), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.lines: list[str] = []
        self._queue: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as output:
            for line in output:
                self._queue.put(line.rstrip("\n"))

    def read_until(self, part: str) -> str:
        """The first new line that contains ``part``."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with contextlib.suppress(queue.Empty):
                self.lines.append(self._queue.get(timeout=0.2))
                if part in self.lines[-1]:
                    return self.lines[-1]
            if self.process.poll() is not None and self._queue.empty():
                break
        pytest.fail(f"no line with {part!r} in:\n" + "\n".join(self.lines))

    def ready(self) -> "Up":
        self.read_until("Ctrl-C stops it.")
        return self

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Ask it to stop, and give its exit status."""
        self.process.send_signal(number)
        return self.end()

    def end(self) -> int:
        status = self.process.wait(PATIENCE)
        self._reader.join()
        while not self._queue.empty():
            self.lines.append(self._queue.get())
        return status

    def answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def programs(var: Path) -> dict[str, psutil.Process]:
    """The main process of web, worker and beat."""
    found = marked.find(locations.fingerprint(var))
    mains = [process for process in found if process.ppid() not in {other.pid for other in found}]
    return {process.environ()[marked.PROGRAM]: process for process in mains}


def servers(var: Path) -> list[Server]:
    places = folders.prepare(var, print)
    return [Postgres(places, print), Valkey(places, print)]


def everything(var: Path) -> list[psutil.Process]:
    """All processes of an installation but its supervisor."""
    mains = [process for served in servers(var) if (process := served.main_process())]
    backends = [child for main in mains for child in main.children()]
    return [*marked.find(locations.fingerprint(var)), *mains, *backends]


def users(var: Path) -> list[str]:
    settings = locations.database_settings(var)
    host, name = settings["HOST"], settings["NAME"]
    with psycopg.connect(host=host, port=settings["PORT"], user=settings["USER"], dbname=name) as connection:
        return [
            str(row[0]) for row in connection.execute("SELECT username FROM auth_user ORDER BY 1").fetchall()
        ]


def eventually(holds: object, *arguments: object) -> None:
    """Wait until ``holds(*arguments)`` is true."""
    assert callable(holds)
    end = time.monotonic() + PATIENCE
    while not holds(*arguments):
        assert time.monotonic() < end, holds
        time.sleep(0.1)


@pytest.fixture(scope="module")
def home(ground: Path) -> Iterator[Path]:
    """An installation that has been started once."""
    with cleared(ground / "with spaces" / "var") as var:
        try:
            up = Up(var, free_port()).ready()
            assert up.stop() == 0, up.lines
            yield var
        finally:
            for process in everything(var):
                process.kill()


@pytest.fixture
def up(home: Path) -> Iterator[Up]:
    """A second and later start of it, stopped at the end if the test has not."""
    running = Up(home, free_port())
    try:
        yield running.ready()
    finally:
        if running.process.poll() is None:
            running.stop()
        assert everything(home) == []


def test_a_second_start_keeps_the_login(home: Path) -> None:
    up = Up(home, free_port()).ready()
    assert up.answers()
    assert "admin, the password made at the first start is in" in "\n".join(up.lines)
    assert up.stop(signal.SIGTERM) == 0
    assert everything(home) == []


@pytest.mark.parametrize("name", ["web", "worker", "beat"])
def test_a_killed_program_is_started_again(up: Up, name: str) -> None:
    before = programs(up.var)
    before[name].kill()
    up.read_until(f"The {name} process was killed by SIGKILL; starting it again in 0.5 s.")
    eventually(lambda: name in programs(up.var) and programs(up.var)[name].pid != before[name].pid)
    eventually(up.answers)
    after = programs(up.var)
    assert {other: after[other].pid for other in after if other != name} == {
        other: before[other].pid for other in before if other != name
    }


@pytest.mark.parametrize("title", ["PostgreSQL", "Valkey"])
def test_a_killed_server_is_started_again_and_has_lost_nothing(up: Up, title: str) -> None:
    before = users(up.var)
    server = next(served for served in servers(up.var) if served.title == title)
    main = server.main_process()
    assert main is not None
    main.kill()
    up.read_until(f"{title} has died; starting it again.")
    eventually(server.answers)
    assert users(up.var) == before == ["admin"]


def test_after_a_kill_of_everything_the_next_start_works_and_nothing_is_lost(home: Path) -> None:
    up = Up(home, free_port()).ready()
    victims = [psutil.Process(up.process.pid), *everything(home)]
    assert len(victims) > 10
    for process in victims:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    up.end()
    again = Up(home, free_port()).ready()
    assert users(home) == ["admin"]
    assert again.stop() == 0
    assert everything(home) == []


def test_what_a_killed_supervisor_leaves_is_ended_by_the_next(home: Path) -> None:
    up = Up(home, free_port()).ready()
    up.process.kill()
    up.end()
    assert set(programs(home)) == {"web", "worker", "beat"}
    left = {process.pid for process in marked.find(locations.fingerprint(home))}
    bystander = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()", "celery", "--app", "config"],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
    )
    again = Up(home, up.port).ready()
    assert any("processes that a killed supervisor had left" in line for line in again.lines)
    assert not left & {process.pid for process in marked.find(locations.fingerprint(home))}
    assert again.stop() == 0
    assert everything(home) == []
    assert bystander.poll() is None
    bystander.communicate(b"")


def test_a_second_supervisor_says_where_the_first_is(up: Up) -> None:
    second = Up(up.var, free_port())
    assert second.end() == 1
    assert f"Lode is already running at http://127.0.0.1:{up.port}." in second.lines[-1]
    assert up.answers()


def test_a_taken_port_is_said_in_one_sentence(home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        up = Up(home, port)
        assert up.end() == 1
    said = f"CommandError: Port {port} on 127.0.0.1 is taken by another program: choose another with --port."
    assert up.lines == [said]


def test_a_command_joins_the_servers_of_up_and_leaves_them_running(up: Up) -> None:
    environment = {
        **os.environ,
        "LODE_VAR": str(up.var),
        "DJANGO_SETTINGS_MODULE": "config.settings.development",
    }
    command = [sys.executable, "manage.py", "showmigrations", "--plan"]
    ran = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "[X]  auth.0001_initial" in ran.stdout
    assert up.answers()
    assert users(up.var) == ["admin"]


def test_named_servers_are_used_and_none_is_embedded(up: Up, ground: Path) -> None:
    """Another installation over the servers of this one, named as any server would be."""
    host = str(locations.socket_folder(up.var)).replace("/", "%2F")
    named = {
        "DATABASE_URL": f"postgres://lode@{host}:5432/lode",
        "REDIS_URL": f"unix://{locations.broker_socket(up.var)}?db=0",
    }
    guest = ground / "guest"
    other = Up(guest, free_port(), **named).ready()
    assert other.answers()
    assert not (guest / "servers").exists()
    assert "PostgreSQL" not in "\n".join(other.lines)
    assert other.stop() == 0
    assert up.answers()


def test_a_database_that_does_not_answer_is_said_in_one_sentence(ground: Path) -> None:
    up = Up(
        ground / "alone",
        free_port(),
        DATABASE_URL="postgres://lode@127.0.0.1:1/lode",
        REDIS_URL="redis://127.0.0.1:1",
    )
    assert up.end() == 1
    assert up.lines[-1].startswith("CommandError: The database cannot be used: connection failed")


def test_a_request_to_stop_while_it_starts_leaves_nothing(home: Path) -> None:
    for line in ("PostgreSQL and Valkey", "Migrations"):
        up = Up(home, free_port())
        up.read_until(line)
        assert up.stop() == 0, up.lines
        assert everything(home) == []
