"""The processes that a supervisor of one ``var`` folder has launched, and all that came of them.

They carry a mark in their environment, which their own children inherit. So a pool process whose
worker was killed is found as surely as the worker, and a process that was given a dead one's pid never is.
"""

import os
import signal
import time

import psutil

from apps.core.embedded.processes import send

INSTANCE = "LODE_INSTANCE"
PROGRAM = "LODE_PROGRAM"
_PATIENCE = 5.0


def find(instance: str, program: str | None = None) -> list[psutil.Process]:
    """The living processes of this user that carry the mark of ``instance`` (and of ``program``)."""
    return [process for process in psutil.process_iter() if _is_marked(process, instance, program)]


def end(instance: str, program: str | None = None) -> int:
    """End them: asked first, killed after some seconds. Returns how many there were."""
    found = find(instance, program)
    send(found, signal.SIGTERM)
    patience = time.monotonic() + _PATIENCE
    while (left := find(instance, program)) and time.monotonic() < patience:
        time.sleep(0.05)
    while left:
        send(left, signal.SIGKILL)
        time.sleep(0.05)
        left = find(instance, program)
    return len(found)


def _is_marked(process: psutil.Process, instance: str, program: str | None) -> bool:
    try:
        if process.uids().real != os.geteuid() or process.status() == psutil.STATUS_ZOMBIE:
            return False
        marks = process.environ()
    except psutil.Error:  # gone, or not for us to see
        return False
    return marks.get(INSTANCE) == instance and program in (None, marks.get(PROGRAM))
