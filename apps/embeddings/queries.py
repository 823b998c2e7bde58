"""What is known of spaces: which one serves, and how far each has come."""

import time
from dataclasses import dataclass

from apps.core.errors import Missing
from apps.embeddings import indexes
from apps.embeddings.models import EmbeddingSpace, SpaceState
from apps.embeddings.registry import SpaceName
from apps.embeddings.sources import sources

# A switch is seen by every process within this; until then the old space answers, with its vectors whole.
_MEMORY_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class _Remembered:
    space: EmbeddingSpace
    read_at: float


class _Memory:
    """The serving space as this process last read it."""

    serving: _Remembered | None = None


@dataclass(frozen=True, slots=True)
class KindStatus:
    """How many texts of a kind there are, and how many of them have a current vector."""

    kind: str
    texts: int
    current: int


@dataclass(frozen=True, slots=True)
class SpaceStatus:
    """How far a space has come. ``indexes`` gives each index's state by its name."""

    space: EmbeddingSpace
    kinds: list[KindStatus]
    indexes: dict[str, indexes.IndexState]


def serving_space() -> EmbeddingSpace | None:
    """The space that answers, None where none does yet; from memory, where it is five seconds fresh."""
    remembered = _Memory.serving
    if remembered is not None and time.monotonic() - remembered.read_at < _MEMORY_SECONDS:
        return remembered.space
    space = EmbeddingSpace.objects.filter(state=SpaceState.SERVING).first()
    _Memory.serving = _Remembered(space, time.monotonic()) if space else None
    return space


def forget_serving_space() -> None:
    """Read the serving space anew when next asked for."""
    _Memory.serving = None


def find_space(name: SpaceName) -> EmbeddingSpace:
    """The space of that name. Raises Missing, which names those there are."""
    found = EmbeddingSpace.objects.filter(provider=name.provider, model=name.model)
    if name.dimensions is not None:
        found = found.filter(dimensions=name.dimensions)
    spaces = list(found[:2])
    if len(spaces) == 1:
        return spaces[0]
    problem = "there are several of that name; add @DIMENSIONS" if spaces else "there is no such space"
    existing = ", ".join(
        f"{space.name}@{space.dimensions}" for space in EmbeddingSpace.objects.order_by("pk")
    )
    raise Missing("space_unknown", f"{name.provider}/{name.model}: {problem} (spaces: {existing or 'none'})")


def live_spaces() -> list[EmbeddingSpace]:
    """The spaces that every write is embedded in: the serving one first, then those being built."""
    live = EmbeddingSpace.objects.filter(state__in=[SpaceState.SERVING, SpaceState.BUILDING])
    return sorted(live, key=lambda space: (space.state != SpaceState.SERVING, space.pk))


def missing_counts(space: EmbeddingSpace) -> dict[str, int]:
    """How many texts of each kind lack a current vector in ``space``."""
    return {source.kind: source.missing(space).count() for source in sources()}


def statuses() -> list[SpaceStatus]:
    """Every space, the oldest first."""
    return [_status(space) for space in EmbeddingSpace.objects.order_by("pk")]


def _status(space: EmbeddingSpace) -> SpaceStatus:
    missing = missing_counts(space)
    totals = {source.kind: source.texts().count() for source in sources()}
    kinds = [KindStatus(kind, total, total - missing[kind]) for kind, total in totals.items()]
    states = {index.name: indexes.state_of(index) for index in indexes.indexes_of(space)}
    return SpaceStatus(space, kinds, states)
