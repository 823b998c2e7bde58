"""Finding the processes of one server, and ending them.

Only asked once a lock has said that something lives. A process is ours by its account and its command
line (both can be read in a container where ``/proc/*/cwd`` cannot), never by a number alone.
"""

import contextlib
import signal
from collections.abc import Callable, Iterable

import psutil


def owned_by(uid: int, is_ours: Callable[[str], bool]) -> list[psutil.Process]:
    """The living processes of the account ``uid`` whose command line ``is_ours``, the oldest first."""
    found = [process for process in psutil.process_iter() if _is(process, uid, is_ours)]
    return sorted(found, key=lambda process: (process.create_time(), process.pid))


def _is(process: psutil.Process, uid: int, is_ours: Callable[[str], bool]) -> bool:
    try:
        with process.oneshot():
            if process.uids().real != uid or process.status() == psutil.STATUS_ZOMBIE:
                return False
            return is_ours(" ".join(process.cmdline()))
    except psutil.Error:  # gone, or not for us to see
        return False


def send(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    """Signal each of ``processes`` that still lives (psutil checks that no pid has been reused)."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(number)
