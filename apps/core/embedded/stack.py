"""Both servers of one ``var`` folder, for as long as someone uses them."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from apps.core.embedded.folders import Places, prepare
from apps.core.embedded.leases import is_last, lease
from apps.core.embedded.postgres import Postgres
from apps.core.embedded.server import Server
from apps.core.embedded.valkey import Valkey


@dataclass(frozen=True)
class Stack:
    """What ``running`` started or joined: those ``servers`` that were asked for."""

    places: Places
    servers: tuple[Server, ...]

    def start(self) -> None:
        """Start those that do not live, at once, and wait until all answer; also mends a killed one."""
        for server in self.servers:
            server.begin()
        for server in self.servers:
            server.finish()


def _to_standard_error(line: str) -> None:
    sys.stderr.write(f"{line}\n")


@contextlib.contextmanager
def running(
    var: Path,
    *,
    database: bool = True,
    broker: bool = True,
    fast: bool = False,
    say: Callable[[str], None] = _to_standard_error,
) -> Iterator[Stack]:
    """Have the embedded servers of ``var`` run inside the block.

    What does not run is started (its database and vector extension made), what runs is joined, and at
    the end both are stopped unless another process still uses them. ``fast`` gives up PostgreSQL's
    safety against a crash of the machine, for test clusters. ``say`` takes lines for the person at the
    terminal. Raises EmbeddedError, whose message is one sentence, where a server cannot run.
    """
    places = prepare(var, say)
    both = (Valkey(places, say), Postgres(places, say, fast=fast))
    asked = tuple(server for server, wanted in zip(both, (broker, database), strict=True) if wanted)
    with lease(places.lease_file) as descriptor:
        try:
            stack = Stack(places, asked)
            stack.start()
            yield stack
        finally:
            _leave(both, descriptor)


def _leave(servers: tuple[Server, ...], descriptor: int) -> None:
    """Stop the servers as the last one out, and let them run on otherwise."""
    last = is_last(descriptor)
    for server in servers:
        if last and server.lives():
            server.stop()
        server.leave()
