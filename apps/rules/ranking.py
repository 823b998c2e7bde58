"""How the passes of one retrieval become an answer: merging, scores, bands and walked edges (rules.md 5 and 6).

The database hands over the rows of each pass, already within its filter and limit, and edges that go out from the
rows that may be walked; edges of other rows do no harm. Everything is ordered again here, so the order in which they
come does not matter. Scores are products in binary floating point, taken from left to right as they are written, so
SQL that multiplies `double precision` in the same order gets the same bits and the same ties.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

from apps.rules.dials import DialValues
from apps.rules.edges import Walked, walk
from apps.rules.slugs import UNANCHORED
from apps.rules.text import clip
from apps.rules.words import Band, FoundBy, Maturity


class Pass(StrEnum):
    """The passes of one retrieval (rules.md 5)."""

    SEMANTIC = "semantic"
    CONCEPT = "concept"
    TUTOR = "tutor"
    STUDENT = "student"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row as one pass found it; a row that two passes found is handed over twice.

    `similarity` is the largest cosine over the row's chunks, in any pass; None where the row has no vector or no
    query vector could be had. `topic` is a slug. `instruction` may be cut, but not shorter than
    `advisory_clip_chars + 1`.
    """

    found_in: str
    entry: UUID
    scope: str
    topic: str | None
    concept: str
    title: str
    instruction: str
    maturity: str
    confidence: Decimal
    similarity: float | None
    last_matched_at: datetime | None = None
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Factors:
    """What a score is the product of; `similarity` is the one that ranks, 1.0 for a row found by its concept."""

    similarity: float
    confidence: float
    maturity_boost: float
    concept_bonus: float

    @property
    def score(self) -> float:
        """similarity x confidence x boost x bonus (rules.md 5)."""
        return self.similarity * self.confidence * self.maturity_boost * self.concept_bonus


@dataclass(frozen=True, slots=True)
class Advisory:
    """An entry as it is handed to a tutor client, scored and clipped (api.md)."""

    entry: UUID
    title: str
    concept: str
    topic: str | None
    scope: str
    instruction: str
    clipped: bool
    maturity: str
    confidence: Decimal
    similarity: float | None
    score: float
    decision_score: float | None
    band: Band
    found_by: tuple[FoundBy, ...]
    expected: bool
    stale: bool
    edges: tuple[Walked, ...]
    factors: Factors


@dataclass(frozen=True, slots=True)
class Ranking:
    """What one retrieval answers, best first in each block."""

    topic: tuple[Advisory, ...]
    tutor: tuple[Advisory, ...]
    student: tuple[Advisory, ...]


@dataclass(frozen=True, slots=True)
class Expected:
    """The slugs of the concepts that a turn expects; `inferred` where they come from the session's last turns."""

    concepts: frozenset[str] = frozenset()
    inferred: bool = False

    def __contains__(self, concept: str) -> bool:
        return concept in self.concepts and concept != UNANCHORED


def rank(
    candidates: Iterable[Candidate],
    edges: Iterable[Walked],
    *,
    expected: Expected,
    dials: DialValues,
    top_k: int | None = None,
) -> Ranking:
    """The answer to one retrieval. `top_k` is the caller's, or None for the dial's.

    Raises ValueError for a pass or a maturity that is not among those that may answer.
    """
    found: dict[Pass, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        found[Pass(candidate.found_in)].append(candidate)
    topic = _topic_block(
        found[Pass.SEMANTIC],
        found[Pass.CONCEPT],
        expected,
        dials,
        dials.retrieval_top_k if top_k is None else top_k,
    )
    return Ranking(
        topic=_with_edges(topic, edges, dials),
        tutor=semantic_advisories(found[Pass.TUTOR], dials, limit=dials.tutor_top_k),
        student=semantic_advisories(found[Pass.STUDENT], dials, limit=dials.student_top_k),
    )


def maturity_boost(maturity: str, dials: DialValues) -> float:
    """How much a row of this maturity ranks ahead (rules.md 5).

    Raises ValueError for one that may not compete.
    """
    match maturity:
        case Maturity.PROVEN:
            return dials.maturity_boost_proven
        case Maturity.PATTERN:
            return dials.maturity_boost_pattern
        case Maturity.CANDIDATE:
            return dials.maturity_boost_candidate
    raise ValueError(f"a row of maturity {maturity!r} may not compete; it is locked out")


def semantic_order(candidates: Iterable[Candidate], dials: DialValues) -> list[Candidate]:
    """Rows in the order of a semantic pass: similarity x boost, the greatest first (rules.md 5)."""

    def key(row: Candidate) -> tuple[bool, float, UUID]:
        nearness = (row.similarity or 0.0) * maturity_boost(row.maturity, dials)
        return (row.similarity is None, -nearness, row.entry)

    return sorted(candidates, key=key)


def concept_order(candidates: Iterable[Candidate], dials: DialValues) -> list[Candidate]:
    """Rows in the order of the concept pass: boost x confidence, then the last matched first (rules.md 5).

    The product is exact (in SQL: of `numeric`), so that 1.05 x 0.80 and 1.00 x 0.84 tie as they should.
    """

    def key(row: Candidate) -> tuple[Decimal, bool, float, UUID]:
        weight = Decimal(repr(maturity_boost(row.maturity, dials))) * row.confidence
        matched = row.last_matched_at
        return (-weight, matched is None, -matched.timestamp() if matched else 0.0, row.entry)

    return sorted(candidates, key=key)


def semantic_advisories(
    candidates: Iterable[Candidate], dials: DialValues, *, limit: int
) -> tuple[Advisory, ...]:
    """The first advisories of a semantic pass on its own: in its own order, and without a concept bonus."""
    rows = semantic_order(candidates, dials)[:limit]
    return tuple(_advisory(_scored(row, (FoundBy.SEMANTIC,), Expected(), dials), dials) for row in rows)


def concept_advisories(
    candidates: Iterable[Candidate], expected: Expected, dials: DialValues, *, limit: int
) -> tuple[Advisory, ...]:
    """The first advisories of the concept pass on its own, in its own order."""
    rows = concept_order(candidates, dials)[:limit]
    return tuple(_advisory(_scored(row, (FoundBy.CONCEPT,), expected, dials), dials) for row in rows)


@dataclass(frozen=True, slots=True)
class _Scored:
    """A row on its way into the topic block; only what stands in the answer is made an advisory."""

    row: Candidate
    found_by: tuple[FoundBy, ...]
    expected: bool
    factors: Factors

    @property
    def key(self) -> tuple[float, bool, float, UUID]:
        """Score, then measured cosine with none last, then the smaller id (rules.md 5)."""
        cosine = self.row.similarity
        return (-self.factors.score, cosine is None, -(cosine or 0.0), self.row.entry)


def _topic_block(
    semantic: Sequence[Candidate],
    concept: Sequence[Candidate],
    expected: Expected,
    dials: DialValues,
    top_k: int,
) -> list[Advisory]:
    near = {row.entry for row in semantic_order(semantic, dials)[:top_k]}
    ranked = sorted(_merged(semantic, concept, expected, dials), key=lambda scored: scored.key)
    if expected.inferred:
        ranked = _without_surplus(ranked, near, dials.concept_only_max)
    return [_advisory(scored, dials) for scored in ranked[:top_k]]


def _merged(
    semantic: Iterable[Candidate], concept: Iterable[Candidate], expected: Expected, dials: DialValues
) -> Iterable[_Scored]:
    """Each row that either pass found, once, with the names of those that did."""
    by_meaning = {row.entry: row for row in semantic}
    by_concept = {row.entry: row for row in concept}
    # The row of pass 1 is taken where there are two: it always has a cosine.
    for entry, row in (by_concept | by_meaning).items():
        found = {FoundBy.SEMANTIC: by_meaning, FoundBy.CONCEPT: by_concept}
        found_by = tuple(kind for kind, rows in found.items() if entry in rows)
        yield _scored(row, found_by, expected, dials)


def _without_surplus(ranked: Iterable[_Scored], near: Collection[UUID], most: int) -> list[_Scored]:
    """`ranked` without the rows of expected concepts, beyond the first `most`, that are not `near` the message."""
    kept = []
    places = most
    for scored in ranked:
        is_far = scored.expected and scored.row.entry not in near
        if not is_far or places > 0:
            kept.append(scored)
        places -= is_far
    return kept


def _scored(row: Candidate, found_by: tuple[FoundBy, ...], expected: Expected, dials: DialValues) -> _Scored:
    is_expected = row.concept in expected
    factors = Factors(
        similarity=_ranking_similarity(row.similarity, found_by, dials),
        confidence=float(row.confidence),
        maturity_boost=maturity_boost(row.maturity, dials),
        concept_bonus=dials.concept_match_bonus if is_expected else 1.0,
    )
    return _Scored(row, found_by, is_expected, factors)


def _advisory(scored: _Scored, dials: DialValues) -> Advisory:
    row = scored.row
    decision = None if row.similarity is None else scored.factors.confidence * row.similarity
    return Advisory(
        entry=row.entry,
        title=row.title,
        concept=row.concept,
        topic=row.topic,
        scope=row.scope,
        instruction=clip(row.instruction, dials.advisory_clip_chars),
        clipped=len(row.instruction) > dials.advisory_clip_chars,
        maturity=row.maturity,
        confidence=row.confidence,
        similarity=row.similarity,
        score=scored.factors.score,
        decision_score=decision,
        band=_band(decision, scored.found_by, dials),
        found_by=scored.found_by,
        expected=scored.expected,
        stale=row.stale,
        edges=(),
        factors=scored.factors,
    )


def _ranking_similarity(cosine: float | None, found_by: tuple[FoundBy, ...], dials: DialValues) -> float:
    """What a row ranks by: its cosine, or 1.0 where its concept found it (rules.md 5, `concept_collision`)."""
    by_cosine = FoundBy.CONCEPT not in found_by or (
        dials.concept_collision == "semantic" and FoundBy.SEMANTIC in found_by
    )
    return (cosine or 0.0) if by_cosine else 1.0


def _band(decision: float | None, found_by: tuple[FoundBy, ...], dials: DialValues) -> Band:
    if found_by == (FoundBy.CONCEPT,):
        return Band.NAMED
    if decision is not None and decision >= dials.band_strong:
        return Band.STRONG
    return Band.MODERATE if decision is not None and decision >= dials.band_moderate else Band.WEAK


def _with_edges(
    advisories: Sequence[Advisory], edges: Iterable[Walked], dials: DialValues
) -> tuple[Advisory, ...]:
    outgoing: dict[UUID, list[Walked]] = defaultdict(list)
    for edge in edges:
        outgoing[edge.source].append(edge)
    walked = [
        replace(advisory, edges=tuple(walk(outgoing[advisory.entry], dials=dials)))
        for advisory in advisories[: dials.edge_walk_top_k]
    ]
    return (*walked, *advisories[len(walked) :])
