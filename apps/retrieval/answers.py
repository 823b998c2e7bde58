"""Answers as the API sends them and the log keeps them: plain dictionaries (api.md, Retrieval)."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from apps.entries.models import Entry
from apps.retrieval.queries import Node, Walk
from apps.rules.edges import Walked
from apps.rules.ranking import Advisory


def advisories(rows: Iterable[Advisory], *, explain: bool) -> list[dict[str, Any]]:
    """A block of a retrieval; ``explain`` adds the factors of each score."""
    return [_advisory(row, explain=explain) for row in rows]


def _advisory(row: Advisory, *, explain: bool) -> dict[str, Any]:
    said = {**match(row), "edges": [walked(edge) for edge in row.edges]}
    if explain:
        said["factors"] = factors(row)
    return said


def match(row: Advisory) -> dict[str, Any]:
    """An entry as a search found it: an advisory that nothing was walked from."""
    return {
        "entry": str(row.entry),
        "title": row.title,
        "concept": row.concept,
        "topic": row.topic,
        "scope": row.scope,
        "instruction": row.instruction,
        "clipped": row.clipped,
        "maturity": row.maturity,
        "confidence": float(row.confidence),
        "similarity": row.similarity,
        "score": row.score,
        "decision_score": row.decision_score,
        "band": row.band.value,
        "found_by": [kind.value for kind in row.found_by],
        "expected": row.expected,
        "stale": row.stale,
    }


def matches(rows: Iterable[Advisory]) -> list[dict[str, Any]]:
    """All of what a search found."""
    return [match(row) for row in rows]


def factors(row: Advisory) -> dict[str, float]:
    """What the score is the product of; ``similarity`` is the one that ranked."""
    return {
        "similarity": row.factors.similarity,
        "confidence": row.factors.confidence,
        "maturity_boost": row.factors.maturity_boost,
        "concept_bonus": row.factors.concept_bonus,
    }


def walked(edge: Walked) -> dict[str, Any]:
    """An edge that a walk took."""
    return {
        "edge": edge.edge,
        "type": edge.type,
        "source": str(edge.source),
        "target": str(edge.target),
        "target_title": edge.target_title,
        "target_instruction": edge.target_instruction,
        "condition": edge.condition,
        "confidence": float(edge.confidence),
        "provenance": edge.provenance,
    }


def walk(start: UUID, found: Walk) -> dict[str, Any]:
    """A walk with the entries that it came to, the start first."""
    return {
        "start": str(start),
        "nodes": [node(each) for each in found.nodes],
        "edges": [{**walked(edge), "depth": depth} for depth, edge in found.edges],
        "truncated": found.truncated,
    }


def node(found: Node) -> dict[str, Any]:
    """An entry that a walk came to."""
    return {
        "entry": str(found.entry),
        "title": found.title,
        "concept": found.concept,
        "topic": found.topic,
        "scope": found.scope,
        "instruction": found.instruction,
        "maturity": found.maturity,
        "confidence": float(found.confidence),
        "stale": found.stale,
        "depth": found.depth,
    }


def visual(entry: Entry) -> dict[str, Any]:
    """A visual record: its drawing is a sanitised SVG."""
    return {
        "entry": str(entry.pk),
        "concept": entry.concept_slug,
        "title": entry.title,
        "instruction": entry.instruction,
        "detail": entry.detail,
        "visual": entry.visual,
        "maturity": entry.maturity,
        "confidence": float(entry.confidence),
    }
