"""What retrieval reads: each function is one statement, prepared, in one round trip."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from apps.core.database import fetch_prepared
from apps.embeddings.models import EmbeddingSpace
from apps.retrieval.composing import Literals, composed, near
from apps.rules.dials import DialValues
from apps.rules.edges import Walked
from apps.rules.ranking import Candidate

SETTING = composed("retrieve.sql", "setting")


class Setting(NamedTuple):
    """What a question names, as the database knows it; None where there is no such thing.

    Whether the caller may see it is for the action to say. ``space_id`` is 0 where no space serves yet; the
    statements are sound with it, and find nothing by meaning. ``tutor_size`` and ``public_size`` are how many
    chunks the vector indexes of the two large scopes hold, as PostgreSQL last counted them.
    """

    space_id: int
    provider: str
    model: str
    dimensions: int
    tutor_size: float
    public_size: float
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
        if not self.space_id:
            return None
        return EmbeddingSpace(
            id=self.space_id, provider=self.provider, model=self.model, dimensions=self.dimensions
        )

    def literals(self, wanted: Mapping[str, int]) -> Literals:
        """The text's literals for a statement that wants so many rows of each large scope."""
        sizes = {"tutor": self.tutor_size, "public": self.public_size}
        chunks = max(near(rows, sizes[scope]) for scope, rows in wanted.items())
        return Literals(space=self.space_id, dimensions=self.dimensions, near=chunks)


def setting_params(*, topic: str | None = None, session: UUID | None = None) -> dict[str, str | None]:
    """The parameters of ``SETTING``, always of the same types."""
    return {"topic": topic, "session": str(session) if session else None}


def setting(*, topic: str | None = None, session: UUID | None = None) -> Setting:
    """The serving space, and the session and topic of those names."""
    (row,) = fetch_prepared(SETTING, setting_params(topic=topic, session=session))
    return Setting(*row)


@dataclass(frozen=True, slots=True)
class Found:
    """What the statement of a retrieval found; ``ignored`` are expected names that no concept has."""

    concepts: list[str]
    ignored: list[str]
    candidates: list[Candidate]
    edges: list[Walked]


def retrieve(*, setting: Setting, query: Sequence[float] | None, ask: Mapping[str, Any]) -> Found:
    """All passes and the walk. ``query`` None leaves only what is found by name."""
    text = composed("retrieve.sql", "retrieve", setting.literals({"tutor": ask["tutor_k"]}))
    rows = fetch_prepared(text, _params(ask, query=_vector(query)))
    concepts, ignored, *_ = rows[0]
    found = [row[2:] for row in rows if row[2] is not None]
    return Found(
        concepts=concepts,
        ignored=ignored,
        candidates=[Candidate(by, *row) for found_in, _, *row in found for by in found_in],
        edges=[walked_edge(edge) for _, edges, *_ in found for edge in edges or ()],
    )


def match(*, setting: Setting, query: Sequence[float], ask: Mapping[str, Any]) -> list[Candidate]:
    """The rows of one semantic search, best first."""
    wanted = {scope: ask[f"{scope}_k"] for scope in ("tutor", "public")}
    text = composed("match.sql", "match", setting.literals(wanted))
    return [Candidate(*row) for row in fetch_prepared(text, _params(ask, query=_vector(query)))]


def match_concepts(ask: Mapping[str, Any]) -> tuple[list[str], list[Candidate]]:
    """The names that no concept has and no row in sight, and the rows of one search by name."""
    rows = fetch_prepared(composed("match.sql", "match_concepts"), _params(ask))
    return rows[0][0], [Candidate(*row) for _, *row in rows if row[1] is not None]


@dataclass(frozen=True, slots=True)
class Node:
    """An entry that a walk came to; ``depth`` counts the hops from the start."""

    entry: UUID
    title: str
    concept: str
    topic: str | None
    scope: str
    instruction: str
    maturity: str
    confidence: Decimal
    stale: bool
    depth: int


@dataclass(frozen=True, slots=True)
class Walk:
    """Where a walk went, in its order; ``truncated`` where it would have come to more entries than it may."""

    nodes: list[Node]
    edges: list[tuple[int, Walked]]
    truncated: bool


def walk(ask: Mapping[str, Any]) -> Walk | None:
    """A walk over edges; None where its start is not there, or not the caller's to see."""
    levels = fetch_prepared(composed("walk.sql", "walk"), _params(ask))
    if not levels:
        return None
    return Walk(
        nodes=[node for depth, _, nodes, _ in levels for node in _nodes(depth, nodes)],
        edges=[(depth, walked_edge(edge)) for depth, _, _, edges in levels for edge in edges or ()],
        truncated=any(cut for _, cut, _, _ in levels),
    )


def graph(*, topic: str, types: Sequence[str], provenance: Sequence[str]) -> dict[str, Any] | None:
    """A topic's rows and the edges between them; None for a topic that is not there."""
    params = {"topic": topic, "types": list(types), "provenance": list(provenance)}
    rows = fetch_prepared(composed("walk.sql", "graph"), params)
    if not rows:
        return None
    title, nodes, edges = rows[0]
    return {"topic": topic, "title": title, "nodes": nodes, "edges": edges}


def tally(*, now: datetime, limit: int) -> int:
    """Count at most ``limit`` retrievals of the log into their entries and edges; how many there were."""
    with connection.cursor() as cursor:
        cursor.execute(composed("tally.sql", "tally"), {"now": now, "limit": limit})
        return int(cursor.rowcount)


def rule_values(dials: DialValues, min_confidence: Decimal | None) -> dict[str, Any]:
    """The floor and the boost of each maturity (rules.md 4 and 5); decimals as text, to stay exact."""
    least = dials.retrieval_min_confidence if min_confidence is None else min_confidence
    return {
        "floor_proven": str(max(least, dials.retrieval_floor_proven)),
        "floor_pattern": str(max(least, dials.retrieval_floor_pattern)),
        "floor_candidate": str(max(least, dials.retrieval_floor_candidate)),
        "boost_proven": dials.maturity_boost_proven,
        "boost_pattern": dials.maturity_boost_pattern,
        "boost_candidate": dials.maturity_boost_candidate,
    }


def walked_edge(edge: list[Any]) -> Walked:
    """An edge and its target from the JSON of the part ``walked``."""
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


def _nodes(depth: int, nodes: list[list[Any]] | None) -> Iterator[Node]:
    for entry, title, concept, topic, scope, instruction, maturity, confidence, stale in nodes or ():
        place = (UUID(entry), title, concept, topic, scope, instruction)
        yield Node(*place, maturity, Decimal(confidence), stale, depth)


def _params(ask: Mapping[str, Any], **others: str | None) -> dict[str, str | None]:
    return {"ask": json.dumps(ask), **others}


def _vector(query: Sequence[float] | None) -> str | None:
    return None if query is None else str(list(query))
