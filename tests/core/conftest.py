"""Folders to run servers in, and processes to run them from."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from apps.core.embedded import folders, locations
from apps.core.embedded.postgres import Postgres
from apps.core.embedded.valkey import Valkey

PROJECT = Path(__file__).resolve().parents[2]
# Holds the servers of argv[1] until its standard input ends, and says when they answer.
HOLDER = """
import sys
from pathlib import Path
from apps.core.embedded import running
with running(Path(sys.argv[1]), fast=True) as stack:
    print("ready", flush=True)
    sys.stdin.read()
"""

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can take on another account")


@pytest.fixture(scope="session")
def ground() -> Iterator[Path]:
    """A short folder that the servers' account can pass through, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="lode-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@contextlib.contextmanager
def cleared(var: Path) -> Iterator[Path]:
    """``var``, of whose servers nothing is left afterwards, neither a process nor a folder elsewhere."""
    try:
        yield var
    finally:
        left = end_all(var) if (var / "servers" / "valkey.lock").exists() else []
        for folder in (locations.socket_folder(var), folders.ELSEWHERE / locations.fingerprint(var)):
            shutil.rmtree(folder, ignore_errors=True)
    assert left == []


def end_all(var: Path) -> list[str]:
    """Kill the servers of ``var``, and name those that lived."""
    places = folders.prepare(var, print)
    left = [served for served in (Postgres(places, print), Valkey(places, print)) if served.lives()]
    for served in left:
        served.end()
    return [served.title for served in left]


@pytest.fixture
def var(ground: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder for servers that have never run."""
    with cleared(ground / request.node.name.replace("[", "-").replace("]", "") / "var") as folder:
        yield folder


@pytest.fixture(scope="session")
def seasoned(ground: Path) -> Iterator[Path]:
    """A folder whose servers have run before, shared by tests that all leave it stopped and whole."""
    with cleared(ground / "seasoned") as folder:
        yield folder


def hold(var: Path) -> subprocess.Popen[str]:
    """Another process that uses the servers of ``var`` until its standard input is closed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(var)],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def release(process: subprocess.Popen[str]) -> None:
    """Let it leave."""
    process.communicate("", timeout=60)


@pytest.fixture
def said() -> list[str]:
    """Lines for the person at the terminal."""
    return []


@pytest.fixture
def say(said: list[str]) -> Callable[[str], None]:
    return said.append
