"""Reading dials: one frozen value for one operation, from a cache that every change drops.

A process keeps the stored rows in memory. The version of all dials stands in the shared cache too:
a change renews it, and a process whose memory is of another version reads the rows again. Where the
shared cache does not answer, memory lasts ``dials_cache_seconds`` at most, and so does staleness.
"""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.core.cache import cache
from redis.exceptions import RedisError

from apps.dials.models import Dial
from apps.rules.dials import DIALS, DialValues, InvalidValueError, Place, Value, resolve

logger = logging.getLogger(__name__)

VERSION_KEY = "dials:version"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The stored dials as of one version. ``read_at`` is on the process's monotonic clock, in seconds."""

    version: int
    stored: Mapping[Place, Value]
    read_at: float
    resolved: dict[str, DialValues] = field(default_factory=dict)

    def values(self, space: str) -> DialValues:
        """All dials for ``space``, resolved once."""
        if space not in self.resolved:
            self.resolved[space] = resolve(self.stored, space)
        return self.resolved[space]


class _Memory:
    """What this process remembers; replaced whole, so that threads never see half of it."""

    snapshot: Snapshot | None = None


def get_dials(space: str) -> DialValues:
    """Every dial, resolved for ``space`` (``provider/model``), for the length of one operation."""
    return current_snapshot().values(space)


def dials_version() -> int:
    """The version of all dials together; 0 where none was ever turned."""
    return current_snapshot().version


def current_snapshot() -> Snapshot:
    """The stored dials, from memory where it is current."""
    remembered = _Memory.snapshot
    if remembered is not None and _is_current(remembered):
        return remembered
    read = read_snapshot()
    _publish(read.version)
    _Memory.snapshot = read
    return read


def read_snapshot() -> Snapshot:
    """The stored dials, from the database.

    A row that this release's registry does not know, or would refuse, is left out and said in the log:
    the default serves until somebody turns the dial again.
    """
    rows = list(Dial.objects.all())
    stored = {(row.key, row.space or None): value for row in rows if (value := _sound_value(row)) is not None}
    version = max((row.version for row in rows), default=0)
    return Snapshot(version=version, stored=stored, read_at=time.monotonic())


def _sound_value(row: Dial) -> Value | None:
    try:
        return DIALS[row.key].parse(row.value)
    except (KeyError, InvalidValueError) as error:
        logger.warning("the stored dial %s = %r is not used: %s", row.key, row.value, error)
        return None


def forget(version: int) -> None:
    """Drop every process's memory of an older version. Called when a change has committed."""
    _Memory.snapshot = None
    try:
        cache.set(VERSION_KEY, version, None)
    except RedisError as error:
        logger.warning("the shared cache does not answer; dials settle within their cache time (%s)", error)


def _is_current(snapshot: Snapshot) -> bool:
    try:
        return bool(cache.get(VERSION_KEY) == snapshot.version)
    except RedisError:
        age = time.monotonic() - snapshot.read_at
        return age < snapshot.values("hash").dials_cache_seconds


def _publish(version: int) -> None:
    """Say the version where nobody has: never over what a later change has said."""
    try:
        cache.add(VERSION_KEY, version, None)
    except RedisError as error:
        logger.warning("the shared cache does not answer (%s)", error)
