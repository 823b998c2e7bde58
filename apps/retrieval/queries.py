"""What retrieval reads: each function is one statement, prepared, in one round trip."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from apps.core.database import fetch_prepared
from apps.embeddings.models import EmbeddingSpace
from apps.retrieval import composing
from apps.rules.dials import DialValues
from apps.rules.edges import Walked
from apps.rules.ranking import Candidate

SETTING = composing.statement("retrieve.sql", "setting").text


class Setting(NamedTuple):
    """What a retrieval names, as the database knows it; None where there is no such thing.

    Whether the caller may see it is for the action to say.
    """

    space_id: int | None
    provider: str | None
    model: str | None
    dimensions: int | None
    session: UUID | None
    level: str | None
    session_topic: str | None
    session_learner: str | None
    topic_id: int | None
    topic: str | None
    topic_title: str | None

    @property
    def space(self) -> EmbeddingSpace | None:
        """The space that serves."""
        if self.space_id is None:
            return None
        return EmbeddingSpace(
            id=self.space_id, provider=self.provider, model=self.model, dimensions=self.dimensions
        )


@dataclass(frozen=True, slots=True)
class Found:
    """What the statement of a retrieval found; ``ignored`` are expected names that no concept has."""

    concepts: list[str]
    ignored: list[str]
    candidates: list[Candidate]
    edges: list[Walked]


def setting(*, topic: str | None, session: UUID | None) -> Setting:
    """The serving space, and the session and topic of those names."""
    (row,) = fetch_prepared(SETTING, setting_params(topic=topic, session=session))
    return Setting(*row)


def setting_params(*, topic: str | None, session: UUID | None) -> dict[str, str | None]:
    """The parameters of ``SETTING``, always of the same types."""
    return {"topic": topic, "session": str(session) if session else None}


def retrieve(
    *, space: EmbeddingSpace | None, query: Sequence[float] | None, ask: Mapping[str, Any]
) -> Found:
    """All passes and the walk. ``query`` None leaves only what is found by name."""
    text = composing.retrieve(_literals(space), near=composing.near(ask["tutor_k"]))
    rows = [_Row(*row) for row in fetch_prepared(text, _params(query, ask))]
    found = [row for row in rows if row.entry is not None]
    return Found(
        concepts=rows[0].concepts,
        ignored=rows[0].ignored,
        candidates=[candidate for row in found for candidate in row.candidates()],
        edges=[_walked(edge) for row in found for edge in row.edges or ()],
    )


def rule_values(dials: DialValues, min_confidence: Decimal | None) -> dict[str, Any]:
    """The floor and the boost of each maturity (rules.md 4 and 5); numbers as JSON holds them."""
    least = dials.retrieval_min_confidence if min_confidence is None else min_confidence
    return {
        "floor_proven": str(max(least, dials.retrieval_floor_proven)),
        "floor_pattern": str(max(least, dials.retrieval_floor_pattern)),
        "floor_candidate": str(max(least, dials.retrieval_floor_candidate)),
        "boost_proven": dials.maturity_boost_proven,
        "boost_pattern": dials.maturity_boost_pattern,
        "boost_candidate": dials.maturity_boost_candidate,
    }


class _Row(NamedTuple):
    """One row of the statement ``retrieve``: a row that some pass found, or none, and what is said once."""

    concepts: list[str]
    ignored: list[str]
    found_in: list[str]
    entry: UUID
    scope: str
    topic: str | None
    concept: str
    title: str
    instruction: str
    maturity: str
    confidence: Decimal
    similarity: float | None
    last_matched_at: datetime | None
    stale: bool
    edges: list[list[Any]] | None

    def candidates(self) -> Iterator[Candidate]:
        """The row as each pass found it."""
        for found_in in self.found_in:
            yield Candidate(found_in, *self[3:-1])


def _walked(edge: list[Any]) -> Walked:
    number, kind, source, target, title, instruction, maturity, condition, confidence, provenance = edge
    return Walked(
        edge=number,
        type=kind,
        source=UUID(source),
        target=UUID(target),
        target_title=title,
        target_instruction=instruction,
        target_maturity=maturity,
        condition=condition,
        confidence=Decimal(confidence),
        provenance=provenance,
    )


def _literals(space: EmbeddingSpace | None) -> composing.Space:
    return composing.NO_SPACE if space is None else (space.pk, space.dimensions)


def _params(query: Sequence[float] | None, ask: Mapping[str, Any]) -> dict[str, str | None]:
    return {"query": None if query is None else str(list(query)), "ask": json.dumps(ask)}
