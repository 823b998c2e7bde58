"""One supervisor for one ``var`` folder."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from apps.core.embedded import locks
from apps.core.supervisor.errors import SupervisorError


@contextlib.contextmanager
def claimed(var: Path, address: str) -> Iterator[None]:
    """Be the only supervisor of ``var``, at ``address``; the kernel drops the claim however we end.

    Raises SupervisorError, which names its address, where another one is.
    """
    var.mkdir(mode=0o700, parents=True, exist_ok=True)
    noted = var / "address"
    with locks.exclusive(var / "up.lock") as descriptor:
        if descriptor is None:
            where = f" at {noted.read_text()}" if noted.exists() else ""
            raise SupervisorError(f"Lode is already running{where}.")
        noted.touch(mode=0o600)
        noted.write_text(address)
        yield
