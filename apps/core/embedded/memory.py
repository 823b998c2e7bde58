"""How much memory PostgreSQL may take on this machine or in this container."""

import contextlib
import shutil
from pathlib import Path

import psutil

_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
_MEGABYTE = 1 << 20


def megabytes() -> int:
    """The memory of this machine, or of this container where that is less."""
    total: int = psutil.virtual_memory().total
    for limit in _LIMITS:
        with contextlib.suppress(OSError, ValueError):  # no such file, or the word "max"
            total = min(total, int(limit.read_text()))
    return total // _MEGABYTE


def settings() -> dict[str, str]:
    """PostgreSQL's settings that follow from the memory.

    The retrieval wants its vector index in shared buffers (2 ms of a 5 ms statement at PostgreSQL's
    own 128 MB): an eighth of the memory, at most 1 GB, which is 512 MB on a machine of 4 GB.
    """
    total = megabytes()
    return {
        "shared_buffers": f"{min(1024, max(64, total // 8))}MB",
        "effective_cache_size": f"{max(128, total // 2)}MB",
        "maintenance_work_mem": f"{min(512, max(64, total // 16))}MB",
        "dynamic_shared_memory_type": "posix" if _roomy_shm() else "sysv",
    }


def _roomy_shm() -> bool:
    """Whether /dev/shm can hold a parallel index build: a container's has 64 MB and would fail it."""
    with contextlib.suppress(OSError):
        return shutil.disk_usage("/dev/shm").total >= 1024 * _MEGABYTE  # noqa: S108 - only measured
    return False
