"""The supervisor's parts, each by itself."""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from apps.core.first_admin import FirstAdmin
from apps.core.supervisor import SupervisorError, marked, network
from apps.core.supervisor.child import Child, Deaths, Program
from apps.core.supervisor.claim import claimed
from apps.core.supervisor.network import Address
from apps.core.supervisor.preparation import Access
from apps.core.supervisor.signals import Signals, Stopped
from apps.core.supervisor.terminal import Terminal
from apps.core.supervisor.welcome import welcome

SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]
EVERYWHERE = "0.0.0.0"  # noqa: S104 - never bound here
STUBBORN = [sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"]


def child(tmp_path: Path, argv: list[str], instance: str) -> Child:
    environment = {**os.environ, marked.INSTANCE: instance}
    return Child(Program("sleeper", argv), log=tmp_path / "sleeper.log", environment=environment, lease=None)


class TestMarked:
    def test_only_processes_with_the_mark_are_ended(self) -> None:
        ours, pool = (
            {**os.environ, marked.INSTANCE: "ours", marked.PROGRAM: name} for name in ("web", "worker")
        )
        processes = [subprocess.Popen(SLEEPER, env=env) for env in (ours, pool, os.environ.copy())]
        try:
            assert {process.pid for process in marked.find("ours")} == {
                process.pid for process in processes[:2]
            }
            assert marked.end("ours", "web") == 1
            assert [process.poll() for process in processes] == [-signal.SIGTERM, None, None]
            assert marked.end("ours") == 1
            assert processes[2].poll() is None
        finally:
            for process in processes:
                process.kill()
                process.wait()

    def test_one_that_does_not_listen_is_killed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(marked, "_PATIENCE", 0.2)
        process = subprocess.Popen(STUBBORN, env={**os.environ, marked.INSTANCE: "stubborn"})
        time.sleep(0.3)
        assert marked.end("stubborn") == 1
        assert process.wait() == -signal.SIGKILL

    def test_a_grandchild_whose_parent_died_is_found(self) -> None:
        parent = f"import subprocess, sys; subprocess.Popen({SLEEPER!r})"
        subprocess.run(
            [sys.executable, "-c", parent], env={**os.environ, marked.INSTANCE: "heir"}, check=True
        )
        assert marked.end("heir") == 1


class TestChild:
    def test_is_started_again_after_a_pause_that_grows(self, tmp_path: Path) -> None:
        program = child(tmp_path, [sys.executable, "-c", "raise SystemExit('no luck')"], "again")
        program.launch()
        said: list[str] = []
        end = time.monotonic() + 20
        while len(said) < 2 and time.monotonic() < end:
            said += [line for line in [program.tend()] if line]
            time.sleep(0.02)
        assert said == [
            "The sleeper process ended with status 1; starting it again in 0.5 s.",
            "The sleeper process ended with status 1; starting it again in 1 s.",
        ]

    def test_that_dies_again_and_again_ends_it_all_with_its_last_words(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        program = child(tmp_path, [sys.executable, "-c", "raise SystemExit('no luck')"], "hopeless")
        monkeypatch.setattr(
            Deaths, "count", lambda *_: (_ for _ in ()).throw(OverflowError("5 times within 60 s"))
        )
        program.launch()
        end = time.monotonic() + 20
        with pytest.raises(SupervisorError, match="has died 5 times within 60 s; its last words: no luck"):
            while time.monotonic() < end:
                program.tend()
                time.sleep(0.02)


class TestDeaths:
    def test_pauses_double_up_to_a_limit_and_old_deaths_are_forgotten(self) -> None:
        deaths = Deaths()
        assert [deaths.count(now) for now in (0, 1, 2, 3)] == [0.5, 1, 2, 4]
        assert deaths.count(100) == 0.5

    def test_five_in_a_minute_are_too_many(self) -> None:
        deaths = Deaths()
        for now in range(4):
            deaths.count(now)
        with pytest.raises(OverflowError):
            deaths.count(59)


class TestClaim:
    def test_a_second_one_is_told_the_address_of_the_first(self, tmp_path: Path) -> None:
        with (
            claimed(tmp_path, "http://127.0.0.1:8000"),
            pytest.raises(SupervisorError, match=r"^Lode is already running at http://127\.0\.0\.1:8000\.$"),
            claimed(tmp_path, "http://127.0.0.1:9000"),
        ):
            pytest.fail("claimed twice")

    def test_a_claim_ends_with_its_process_however_it_ended(self, tmp_path: Path) -> None:
        holder = (
            "import pathlib, sys; from apps.core.supervisor.claim import claimed\n"
            f"with claimed(pathlib.Path({str(tmp_path)!r}), 'x'): print(flush=True); sys.stdin.read()"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()
        process.kill()
        process.communicate()
        with claimed(tmp_path, "http://127.0.0.1:8000"):
            pass


class TestAddress:
    def test_a_free_port_is_free_and_a_taken_one_is_not(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]
            taken.listen()
            with pytest.raises(
                SupervisorError, match=f"^Port {port} on 127.0.0.1 is taken by another program"
            ):
                network.require_free(Address("127.0.0.1", port))
        network.require_free(Address("127.0.0.1", port))

    @pytest.mark.parametrize("host", ["no.such.host.invalid", "203.0.113.7"])
    def test_a_host_that_is_not_ours_is_refused(self, host: str) -> None:
        with pytest.raises(SupervisorError, match=f"^The host {host} is no address of this machine"):
            network.require_free(Address(host, 8000))

    @pytest.mark.parametrize(
        ("host", "url"),
        [
            ("127.0.0.1", "http://127.0.0.1:8000"),
            (EVERYWHERE, "http://127.0.0.1:8000"),
            ("::", "http://[::1]:8000"),
            ("lode.example.org", "http://lode.example.org:8000"),
        ],
    )
    def test_its_url_is_one_that_this_machine_reaches(self, host: str, url: str) -> None:
        assert Address(host, 8000).url == url

    def test_requests_may_name_this_machine_only_where_others_reach_it(self) -> None:
        assert Address("127.0.0.1", 8000).host_names() == ["127.0.0.1", "[::1]", "localhost"]
        assert socket.gethostname() in Address(EVERYWHERE, 8000).host_names()
        assert "*" not in Address(EVERYWHERE, 8000).host_names()


class TestSignals:
    def test_a_request_to_stop_is_counted_and_leaves_an_interruptible_stretch(self) -> None:
        with Signals() as signals:
            os.kill(os.getpid(), signal.SIGTERM)
            assert signals.stop_requested
            with pytest.raises(Stopped), signals.interruptible():
                pytest.fail("asked to stop before")
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL

    def test_a_long_step_is_left_at_once(self) -> None:
        began = time.monotonic()
        with Signals() as signals:
            asker = subprocess.Popen(["sh", "-c", f"sleep 0.2; kill -INT {os.getpid()}"])
            with pytest.raises(Stopped), signals.interruptible():
                time.sleep(30)
            asker.wait()
        assert time.monotonic() - began < 20

    def test_the_death_of_a_child_wakes_it(self) -> None:
        with Signals() as signals:
            began = time.monotonic()
            process = subprocess.Popen(["sleep", "0.2"])
            signals.wait(30)
            assert time.monotonic() - began < 10
            process.wait()


class TestTerminal:
    def test_a_step_ends_its_line_with_seconds_and_a_note(self) -> None:
        written: list[str] = []
        with Terminal(written.append).step("Migrations") as step:
            step.note = "up to date"
        assert "".join(written) == "Migrations ................... 0.0 s, up to date\n"

    def test_what_is_said_inside_a_step_has_a_line_of_its_own(self) -> None:
        written: list[str] = []
        terminal = Terminal(written.append)
        with terminal.step("PostgreSQL"):
            terminal.say("made an account")
        first, said, last = "".join(written).splitlines()
        assert (first, said) == ("PostgreSQL ...................", "made an account")
        assert last.startswith(first)

    def test_a_step_with_a_bar_of_its_own_has_its_line_at_the_end(self) -> None:
        written: list[str] = []
        with Terminal(written.append).step("Embeddings", has_own_progress=True):
            assert "".join(written) == ""
        assert "".join(written) == "Embeddings ................... 0.0 s\n"

    def test_a_closed_terminal_is_no_reason_to_fall(self) -> None:
        def closed(_: str) -> None:
            raise BrokenPipeError

        Terminal(closed).say("nobody reads this")


class TestWelcome:
    def test_shows_the_login_once_and_a_request_that_a_shell_understands(self, tmp_path: Path) -> None:
        access = Access(FirstAdmin("admin", tmp_path / "admin_password", "s3cret"), key="lode_abc.def")
        lines = welcome(Address("127.0.0.1", 8000), access, tmp_path, 3.2)
        assert f"  login     admin, password s3cret (kept in {tmp_path}/admin_password)" in lines
        command = shlex.split(next(line for line in lines if line.startswith("curl ")))
        assert command[2] == "http://127.0.0.1:8000/api/v1/retrieve"
        assert "Authorization: Bearer lode_abc.def" in command
        asked = {
            "message": "why does reusing a nonce break it?",
            "topic": "cryptography",
            "learner": "demo-ada",
        }
        assert json.loads(command[-1]) == asked

    def test_does_not_show_a_password_made_earlier(self, tmp_path: Path) -> None:
        (tmp_path / "admin_password").write_text("s3cret")
        access = Access(FirstAdmin("admin", tmp_path / "admin_password"), key=None)
        lines = welcome(Address(EVERYWHERE, 8000), access, tmp_path, 3.2)
        assert "s3cret" not in "".join(lines)
        assert any("without encryption" in line for line in lines)
