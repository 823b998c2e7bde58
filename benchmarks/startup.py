"""How long `manage.py up` takes to start and to stop, and how much memory each of its processes has.

Memory is the proportional share (PSS): what processes share is divided among them, so that the rows
add up to what the machine gives.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from django.conf import settings

from apps.core.embedded import locations
from apps.core.supervisor import marked
from benchmarks.rows import Row

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Run:
    """One run of `manage.py up`: seconds from its launch to ready, and from Ctrl-C to gone."""

    process: subprocess.Popen[str]
    start: float = 0.0
    stop: float = 0.0


def run() -> list[Row]:
    """A first start in an empty folder, a second one, and the memory in between."""
    var = settings.LODE_VAR / "startup"
    _remove(var)
    with _up(var) as first:
        pass
    with _up(var) as second:
        time.sleep(5)  # the worker's pool and beat settle after the web process answers
        memory = _memory(second.process.pid, var)
    return [
        Row("first start", first.start, "s"),
        Row("second start", second.start, "s", "<= 10"),
        Row("stop", second.stop, "s"),
        *(Row(f"memory of {name}", megabytes, "MB") for name, megabytes in memory.items()),
        Row("memory of all", sum(memory.values()), "MB"),
    ]


@contextmanager
def _up(var: Path) -> Iterator[Run]:
    command = [sys.executable, "manage.py", "up", "--port", str(_free_port())]
    environment = {**os.environ, "LODE_VAR": str(var)}
    began = time.monotonic()
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    running = Run(process)
    with process:
        _read_until_ready(process)
        running.start = time.monotonic() - began
        yield running
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        running.stop = time.monotonic() - began


def _read_until_ready(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if "Ctrl-C stops it." in line:
            return
    raise RuntimeError("".join(said))


def _memory(supervisor: int, var: Path) -> dict[str, float]:
    """Megabytes (PSS) by kind of process."""
    found = {"supervisor": [psutil.Process(supervisor)]}
    for name in ("web", "worker", "beat"):
        found[name] = marked.find(locations.fingerprint(var), name)
    for process in psutil.Process(supervisor).children():
        kind = {"postgres": "PostgreSQL", "valkey-server": "Valkey"}.get(process.name())
        if kind:
            found[kind] = [process, *process.children()]
    return {
        name: sum(process.memory_full_info().pss for process in all_) / 2**20 for name, all_ in found.items()
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _remove(var: Path) -> None:
    """Take away what a former run left, its data elsewhere included."""
    shutil.rmtree((var / "servers").resolve(), ignore_errors=True)
    shutil.rmtree(var, ignore_errors=True)
