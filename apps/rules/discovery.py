"""What the turns of a session show about the curriculum: edges to observe at its end (rules.md 10, steps 1 and 2)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from uuid import UUID

from apps.rules.words import EdgeType, Outcome


@dataclass(frozen=True, slots=True)
class TaughtTurn:
    """A turn as discovery sees it: the public entry that was taught (None where none was), and how it ended."""

    taught: UUID | None
    title: str
    outcome: str | None


@dataclass(frozen=True, slots=True)
class Discovery:
    """An edge that a session showed."""

    edge_type: EdgeType
    source: UUID
    target: UUID
    condition: str


@dataclass(frozen=True, slots=True)
class Struggle:
    """The evidence of one turn that ``missing`` was what the learner lacked for ``concept``."""

    concept: str
    missing: str


def discoveries(turns: Sequence[TaughtTurn]) -> Iterator[Discovery]:
    """The edges that consecutive turns show (step 1): what led on, and what helped where something failed."""
    for first, second in pairwise(turns):
        if first.taught is None or second.taught is None or first.taught == second.taught:
            continue
        if second.outcome != Outcome.SUCCESS:
            continue
        if first.outcome == Outcome.SUCCESS:
            yield Discovery(EdgeType.LEADS_TO, first.taught, second.taught, "")
        elif first.outcome == Outcome.FAILURE:
            condition = f"struggling with {first.title}"
            yield Discovery(EdgeType.FALLBACK, first.taught, second.taught, condition)


def quoted_struggles(message: str, struggles: Iterable[Mapping[str, str]]) -> Iterator[Struggle]:
    """The struggles of a turn that name what was missing and quote what the learner really wrote (step 2)."""
    for struggle in struggles:
        concept, missing, quote = (struggle.get(name) or "" for name in ("concept", "missing", "quote"))
        if concept and missing and quote.strip() and quote in message:
            yield Struggle(concept, missing)
