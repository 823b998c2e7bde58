"""Several processes on the same servers: one launches, all use, the last one out stops."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from apps.core.embedded import Stack, locks, running
from apps.core.embedded.leases import lease
from apps.core.embedded.processes import owned_by
from tests.core.conftest import HOLDER, PROJECT, hold, release


def live(var: Path) -> set[str]:
    """The servers of ``var`` of which anything lives, asked of the kernel."""
    home = (var / "servers").resolve()
    return {name for name in ("postgres", "valkey") if locks.is_held(home / f"{name}.lock")}


def pids(stack: Stack) -> set[int]:
    return {process.pid for served in stack.servers if (process := served.main_process())}


def test_starters_at_once_share_one_server_of_each_kind(var: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(var)]
    options = {"cwd": PROJECT, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    starters = [subprocess.Popen(command, **options) for _ in range(3)]  # type: ignore[call-overload]  # as a dict
    assert [starter.stdout.readline() for starter in starters] == ["ready\n"] * 3
    with running(var, fast=True) as stack:
        uid = stack.places.account.uid
        assert [len(owned_by(uid, served.is_main)) for served in stack.servers] == [1, 1]
    for starter in starters:
        starter.communicate("", timeout=60)
    assert [starter.returncode for starter in starters] == [0, 0, 0]
    assert live(var) == set()


def test_who_leaves_first_stops_nothing_and_who_leaves_last_stops_all(seasoned: Path) -> None:
    holder = hold(seasoned)
    with running(seasoned, fast=True) as stack:
        assert len(pids(stack)) == 2
    assert live(seasoned) == {"postgres", "valkey"}
    release(holder)
    assert live(seasoned) == set()


def test_what_a_killed_holder_leaves_is_taken_over_and_stopped(seasoned: Path) -> None:
    holder = hold(seasoned)
    holder.kill()
    holder.communicate()
    assert live(seasoned) == {"postgres", "valkey"}
    with running(seasoned, fast=True):
        pass
    assert live(seasoned) == set()


def test_a_child_process_can_hold_the_lease_on(seasoned: Path) -> None:
    """As web, worker and beat do: a killed supervisor's children keep their database."""
    with running(seasoned, fast=True) as stack, lease(stack.places.lease_file) as descriptor:
        child = subprocess.Popen(["sleep", "600"], pass_fds=(descriptor,))
    assert live(seasoned) == {"postgres", "valkey"}
    child.kill()
    child.wait()
    with running(seasoned, fast=True):
        pass
    assert live(seasoned) == set()


def test_only_what_is_asked_for_is_started(seasoned: Path) -> None:
    with running(seasoned, database=False, fast=True):
        assert live(seasoned) == {"valkey"}
    with running(seasoned, broker=False, fast=True):
        assert live(seasoned) == {"postgres"}


def test_a_server_that_will_not_stop_is_ended(
    seasoned: Path, said: list[str], say: Callable[[str], None]
) -> None:
    with running(seasoned, database=False, fast=True, say=say) as stack:
        valkey = stack.servers[0]
        process = valkey.main_process()
        assert process is not None
        os.kill(process.pid, signal.SIGSTOP)
        valkey.stop(patience=0.2)
        assert not valkey.lives()
    assert said == ["Valkey has not stopped in 0.2 s and is ended."]


def test_an_error_inside_leaves_nothing_running(seasoned: Path) -> None:
    with pytest.raises(ZeroDivisionError), running(seasoned, fast=True):
        _ = 1 / 0
    assert live(seasoned) == set()
