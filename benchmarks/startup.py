"""How long `manage.py up` takes to start and to stop, and how much memory each of its programs has.

The first start makes everything: cluster, tables, demo curriculum, login and key. Memory is taken when the
programs have settled. Its proportional share (PSS) divides what processes share among them, so that those
rows add up to what the machine gives; the resident size (RSS) counts it in each.
"""

import shutil
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
from django.conf import settings

from apps.core.embedded import locations
from apps.core.supervisor import marked
from benchmarks.rows import Row
from benchmarks.serving import serving

_STARTS = 3
_SETTLED_AFTER = 10.0


def run() -> list[Row]:
    """A first start in an empty folder, later ones, and the memory in between."""
    var: Path = settings.LODE_VAR / "startup"
    _remove(var)
    with serving(var) as lode:
        first = lode.seconds
        time.sleep(_SETTLED_AFTER)
        memory = list(_memory(lode.process.pid, var))
        stops = [lode.stop()]
    starts = []
    for _ in range(_STARTS):
        with serving(var) as lode:
            starts.append(lode.seconds)
            stops.append(lode.stop())
    return [
        Row("first start", first, "s"),
        Row("second start", statistics.median(starts), "s", "<= 10"),
        Row("stop", statistics.median(stops), "s"),
        *memory,
    ]


def _memory(supervisor: int, var: Path) -> Iterator[Row]:
    """Megabytes by program."""
    programs = {"supervisor": [psutil.Process(supervisor)]}
    for name in ("web", "worker", "beat"):
        programs[name] = marked.find(locations.fingerprint(var), name)
    for process in psutil.Process(supervisor).children():
        server = {"postgres": "PostgreSQL", "valkey-server": "Valkey"}.get(process.name())
        if server:
            programs[server] = [process, *process.children()]
    used = {
        name: [process.memory_full_info() for process in processes] for name, processes in programs.items()
    }
    for kind in ("pss", "rss"):
        sums = {name: sum(getattr(one, kind) for one in each) / 2**20 for name, each in used.items()}
        for name, megabytes in {**sums, "all": sum(sums.values())}.items():
            yield Row(f"memory of {name}, {kind.upper()}", megabytes, "MB")


def _remove(var: Path) -> None:
    """Take away what a former run left, its data elsewhere included."""
    shutil.rmtree((var / "servers").resolve(), ignore_errors=True)
    shutil.rmtree(var, ignore_errors=True)
