"""Who uses the embedded servers: each user holds a shared lock, and the last one out stops them.

A user that is killed leaves no lease behind. What it started then runs on until the next user,
who finds it running, uses it, and stops it as the last one out.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from apps.core.embedded import locks


@contextlib.contextmanager
def lease(file: Path) -> Iterator[int]:
    """Hold a shared lease (waits while the last user is still stopping the servers).

    A child process that is given the descriptor goes on holding the lease after this block.
    """
    descriptor = locks.open_lock(file)
    try:
        locks.share_lock(descriptor)
        yield descriptor
    finally:
        os.close(descriptor)


def is_last(descriptor: int) -> bool:
    """Turn the lease into the exclusive one if nobody else holds any; newcomers then wait.

    Where others remain the lease is given up; of several who leave at once, the last one gets True.
    """
    return locks.try_lock(descriptor)
