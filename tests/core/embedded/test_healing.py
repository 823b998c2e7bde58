"""What a crash leaves behind, and what it costs: nothing but the next start."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import LiteralString

import psutil
import psycopg
import pytest

from apps.core.embedded import EmbeddedError, locations, locks, postgres, running, server
from apps.core.embedded.server import Server
from tests.core.conftest import hold


def connect(var: Path) -> psycopg.Connection[tuple[object, ...]]:
    """A connection as Django would make it."""
    settings = locations.database_settings(var)
    host, user, name = settings["HOST"], settings["USER"], settings["NAME"]
    return psycopg.connect(host=host, port=settings["PORT"], user=user, dbname=name)


def query(var: Path, statement: LiteralString) -> object:
    """One value from the embedded database of ``var``."""
    with connect(var) as connection:
        row = connection.execute(statement).fetchone()
        return row[0] if row else None


def keep(var: Path, table: str) -> None:
    """Commit a table that holds 42."""
    with connect(var) as connection:
        connection.execute(f"CREATE TABLE IF NOT EXISTS {table} AS SELECT 42 AS answer".encode())


def ask_broker(var: Path, command: str) -> bytes:
    """The embedded Valkey's answer to a command."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(locations.broker_socket(var)))
        client.sendall(f"{command}\r\n".encode())
        return client.recv(64)


def main_pid(served: Server) -> int:
    """The process id of a server that lives."""
    process = served.main_process()
    assert process is not None
    return process.pid


def zombie() -> subprocess.Popen[bytes]:
    """A process that has ended and is not reaped."""
    process = subprocess.Popen(["true"])
    while psutil.Process(process.pid).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    return process


@pytest.fixture
def stopped(seasoned: Path) -> Path:
    """A folder whose servers have run and do not run now."""
    if not (seasoned / "servers" / "postgres").exists():
        with running(seasoned, fast=True):
            pass
    return seasoned


@pytest.mark.parametrize("server_title", ["PostgreSQL", "Valkey"])
def test_a_killed_server_starts_again_at_once_and_has_lost_nothing(seasoned: Path, server_title: str) -> None:
    with running(seasoned, fast=True) as stack:
        keep(seasoned, "kept")
        assert ask_broker(seasoned, "SET kept 42") == b"+OK\r\n"
        victim = next(served for served in stack.servers if served.title == server_title)
        os.kill(main_pid(victim), signal.SIGKILL)  # its zombie is ours, and nobody has reaped it yet
        stack.start()
        assert query(seasoned, "SELECT answer FROM kept") == 42
        assert ask_broker(seasoned, "GET kept") == b"$2\r\n42\r\n"


def test_all_processes_killed_at_once_leave_nothing_that_the_next_start_minds(seasoned: Path) -> None:
    holder = hold(seasoned)
    with running(seasoned, fast=True) as stack:
        keep(seasoned, "all_killed")
        mains = [process for served in stack.servers if (process := served.main_process())]
        for process in [*mains, *mains[-1].children(), psutil.Process(holder.pid)]:
            process.kill()
        holder.communicate()
    with running(seasoned, fast=True):
        assert query(seasoned, "SELECT answer FROM all_killed") == 42


@pytest.mark.parametrize(
    "pid_file",
    [
        pytest.param(lambda: f"{2**22 - 3}\nDATA\n1\n5432\n\n\n0 0\nready\n", id="stale"),
        pytest.param(
            lambda: f"{os.getpid()}\nDATA\n1\n5432\n\n\n0 0\nready\n", id="reused by a living process"
        ),
        pytest.param(lambda: "1\nDATA\n1\n5432\n\n\n0 0\nready\n", id="reused by the first process"),
        pytest.param(lambda: f"{zombie().pid}\nDATA\n1\n5432\n\n\n0 0\nready\n", id="zombie"),
        pytest.param(lambda: f"{os.getpid()}\nDA", id="torn"),
        pytest.param(lambda: "", id="empty"),
        pytest.param(lambda: "\x00\x00\x00", id="zeroed"),
    ],
)
@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_a_pid_file_of_a_former_life_is_not_believed(stopped: Path, pid_file: Callable[[], str]) -> None:
    text = pid_file().replace("DATA", str(stopped / "servers" / "postgres"))
    (stopped / "servers" / "postgres" / "postmaster.pid").write_text(text)
    sockets = locations.socket_folder(stopped)
    (sockets / ".s.PGSQL.5432").touch()
    (sockets / ".s.PGSQL.5432.lock").write_text(text)
    (sockets / "valkey.sock").touch()
    with running(stopped, fast=True):
        assert query(stopped, "SELECT 1") == 1


def test_a_child_that_outlives_its_killed_server_is_ended(
    seasoned: Path, said: list[str], say: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_HEADLESS_AFTER", 0.3)
    with running(seasoned, fast=True, say=say) as stack:
        postgres = stack.servers[-1]
        main = psutil.Process(main_pid(postgres))
        survivor = next(child for child in main.children() if "checkpointer" in " ".join(child.cmdline()))
        survivor.suspend()
        main.kill()
        assert postgres.lives()
        stack.start()
        assert query(seasoned, "SELECT 1") == 1
        assert not survivor.is_running() or survivor.status() == psutil.STATUS_ZOMBIE


def test_a_half_made_cluster_is_made_anew(var: Path) -> None:
    half = var / "servers" / "postgres.draft"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    for folder in (var, var / "servers"):
        folder.chmod(0o755)
    with running(var, broker=False, fast=True):
        assert query(var, "SELECT 1") == 1
    assert not half.exists()


def test_a_server_that_does_not_answer_is_waited_for_while_it_lives(
    seasoned: Path, said: list[str], say: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a long recovery, for which the wheel's own starter gave up after ten seconds."""
    monkeypatch.setattr(server, "_SAY_AFTER", 0.2)
    with running(seasoned, fast=True, say=say) as stack:
        valkey = stack.servers[0]
        process = psutil.Process(main_pid(valkey))
        process.suspend()
        resume = subprocess.Popen(["sh", "-c", f"sleep 3; kill -CONT {process.pid}"])
        stack.start()
        resume.wait()
        assert valkey.answers()
    assert [line for line in said if line.startswith("Valkey lives but does not answer")]


def test_a_running_server_is_joined_and_not_launched_again(seasoned: Path) -> None:
    """A second Valkey would silently take over the socket of the first, and both would live."""
    with running(seasoned, fast=True) as first:
        pids = [main_pid(served) for served in first.servers]
        with running(seasoned, fast=True) as second:
            assert [main_pid(served) for served in second.servers] == pids
        first.start()
        assert [main_pid(served) for served in first.servers] == pids


def test_a_server_launched_by_hand_is_joined(stopped: Path) -> None:
    """Without our lock: it must not be taken for dead, nor its pid file for rubbish."""
    with running(stopped, fast=True) as stack:
        postgres = stack.servers[-1]
        command, account = postgres.command(), postgres.places.account
    by_hand = account.popen(command, log=subprocess.DEVNULL, environment={"PATH": os.defpath})
    with running(stopped, fast=True) as stack:
        assert main_pid(stack.servers[-1]) == by_hand.pid
        stack.servers[-1].leave()
        while by_hand.poll() is None and not isinstance(query(stopped, "SELECT 1"), int):
            time.sleep(0.01)
    assert by_hand.wait(30) == 0


def test_its_last_words_say_why_it_does_not_start(stopped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(postgres._SETTINGS, "shared_preload_libraries", "no_such_library")
    with (
        pytest.raises(EmbeddedError, match=r'does not start: .*FATAL.*"no_such_library".*postgres\.log'),
        running(stopped, broker=False, fast=True),
    ):
        pytest.fail("it cannot start")


def test_a_server_that_cannot_be_seen_is_said_to_hold_the_data(
    stopped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One in another container over the same folder: the kernel knows its lock, and shows no process."""
    monkeypatch.setattr(server, "_HEADLESS_AFTER", 0.1)
    monkeypatch.setattr(server, "_UNSEEN_AFTER", 0.3)
    with (
        locks.exclusive(stopped / "servers" / "valkey.lock"),
        pytest.raises(EmbeddedError, match="Valkey is run by a process that cannot be seen from here"),
        running(stopped, database=False, fast=True),
    ):
        pytest.fail("it cannot start")
