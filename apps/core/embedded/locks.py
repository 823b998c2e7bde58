"""Locks that the kernel holds, and drops with their last holder however that ended.

A pid file can be stale, torn or name a process that came later. A lock of ``flock`` cannot: it
belongs to the open file, which a process inherits to its children and which no ``kill -9``, zombie
or reboot outlives. So the lock, and nothing else, says whether a server lives.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path


def open_lock(file: Path) -> int:
    """A descriptor of ``file`` (made with mode 0600) to lock; children get it only by ``pass_fds``."""
    return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def try_lock(descriptor: int) -> bool:
    """Take the exclusive lock if nobody holds any."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def share_lock(descriptor: int) -> None:
    """Take a shared lock; waits while someone holds the exclusive one."""
    fcntl.flock(descriptor, fcntl.LOCK_SH)


@contextlib.contextmanager
def turn(file: Path) -> Iterator[None]:
    """One process at a time; the others wait."""
    descriptor = open_lock(file)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def exclusive(file: Path) -> Iterator[int | None]:
    """The descriptor with the exclusive lock, or None where another holds it.

    At the end the descriptor is closed, not unlocked: a child that was given it keeps the lock.
    """
    descriptor = open_lock(file)
    try:
        yield descriptor if try_lock(descriptor) else None
    finally:
        os.close(descriptor)


def is_held(file: Path) -> bool:
    """Whether any process holds a lock on ``file`` (nobody does where it is gone)."""
    try:
        with exclusive(file) as descriptor:
            return descriptor is None
    except FileNotFoundError:
        return False
