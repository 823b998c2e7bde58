"""Lode as a person starts it: ``manage.py up`` in a process of its own, on a free port."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_STOPPED_WITHIN = 60.0


@dataclass(frozen=True, slots=True)
class Serving:
    """A Lode that is ready: its process and port, what it said, and the seconds that it took."""

    process: subprocess.Popen[str]
    port: int
    said: list[str]
    seconds: float

    def stop(self) -> float:
        """Interrupt it as Ctrl-C does; the seconds until it has stopped."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=_STOPPED_WITHIN)
        return time.monotonic() - began


@contextlib.contextmanager
def serving(var: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[Serving]:
    """Have ``manage.py up`` run inside the block, on servers and logs under ``var``.

    Raises RuntimeError with its last line where it ends before it is ready.
    """
    port = _free_port()
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "up", "--port", str(port), *arguments],
        cwd=ROOT,
        env={**os.environ, "LODE_VAR": str(var), **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    started = Serving(process, port, _welcome(process), time.monotonic() - began)
    try:
        yield started
    finally:
        if process.poll() is None:
            started.stop()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def _welcome(process: subprocess.Popen[str]) -> list[str]:
    """What it says up to the last line of its welcome."""
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line.rstrip("\n"))
        if "Ctrl-C stops it." in line:
            return said
    raise RuntimeError(f"manage.py up has ended: {said[-1] if said else 'it said nothing'}")
