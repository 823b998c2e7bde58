"""One retrieval, by the letter of rules.md 4 to 7: every list is built whole, sorted, then cut.

An oracle, not an implementation: each function is one sentence of the rules, and speed is no concern.
Weights (confidence x boost x bonus) are exact decimals; only what a cosine touches is float64.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

from tests.oracle.model import (
    PUBLIC,
    TUTOR,
    Advisory,
    Answer,
    Dials,
    Entry,
    Request,
    Vector,
    World,
    student_scope,
)
from tests.oracle.prompt import clip, render
from tests.oracle.vectors import similarity
from tests.oracle.visibility import Expected, Place, confident, expected_concepts, place_of
from tests.oracle.walk import Walker, outgoing

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NOTHING_EXPECTED = Expected(slugs=(), inferred=False)


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A request understood: everything that the rules below read."""

    world: World
    request: Request
    dials: Dials
    place: Place
    expected: Expected

    @property
    def fetch_k(self) -> int:
        """What passes 1 and 2 take."""
        return self.dials.retrieval_top_k * self.dials.retrieval_overfetch


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A row with what decides its place."""

    entry: Entry
    found_by: tuple[str, ...]
    similarity: float | None
    score: float
    expected: bool


def retrieve(world: World, request: Request, dials: Dials) -> Answer:
    """The whole answer to a `POST retrieve`; `RefusedError` where there is none."""
    ask = understand(world, request, dials)
    topic_memory = walked_memory(ask, [advisory(row, ask.dials) for row in cut(ask)])
    tutor_memory = own_memory(ask, tutor_pass(ask))
    student_patterns = own_memory(ask, student_pass(ask))
    rendered = render(topic_memory, tutor_memory, student_patterns, ask.dials)
    return Answer(
        context_text=context_text(ask),
        expected_concepts=ask.expected.slugs,
        ignored=ask.expected.ignored,
        topic_memory=topic_memory,
        tutor_memory=tutor_memory,
        student_patterns=student_patterns,
        prompt=rendered.prompt,
        decision_tree=rendered.decision_tree,
        rendered_edges=rendered.edges,
        degraded=("semantic",) if request.query_vector is None else (),
    )


def understand(world: World, request: Request, dials: Dials) -> Ask:
    """Api.md: `top_k` stands for the dial wherever rules.md 5 uses it."""
    if request.top_k is not None:
        dials = replace(dials, retrieval_top_k=request.top_k)
    place = place_of(world, request)
    expected = expected_concepts(world, request, place.session, dials)
    return Ask(world=world, request=request, dials=dials, place=place, expected=expected)


def context_text(ask: Ask) -> str:
    """Rules.md 3, the turn query text, exactly."""
    place, focus = ask.place, ask.request.focus or "none"
    message = ask.request.message[: ask.dials.student_message_clip_chars]
    return f"topic:{place.topic.title} level:{place.level} focus:{focus} student:{message}"


# The four passes (rules.md 5)


def topic_pass(ask: Ask) -> list[Entry]:
    """Pass 1."""
    return nearest(topic_rows(ask), ask.request.query_vector, ask.dials)[: ask.fetch_k]


def concept_pass(ask: Ask) -> list[Entry]:
    """Pass 2: no vector is needed to be found."""
    rows = [row for row in topic_rows(ask) if row.concept_slug in ask.expected.slugs]
    return surest(rows, ask.dials)[: ask.fetch_k]


def tutor_pass(ask: Ask) -> list[Entry]:
    """Pass 3."""
    rows = scope_rows(ask, TUTOR)
    return nearest(rows, ask.request.query_vector, ask.dials)[: ask.dials.tutor_top_k]


def student_pass(ask: Ask) -> list[Entry]:
    """Pass 4: none without a learner."""
    if ask.place.learner is None:
        return []
    rows = scope_rows(ask, student_scope(ask.place.learner))
    return nearest(rows, ask.request.query_vector, ask.dials)[: ask.dials.student_top_k]


def scope_rows(ask: Ask, scope: str) -> list[Entry]:
    """The rows of a scope that may compete (rules.md 4)."""
    return [
        entry
        for entry in ask.world.entries
        if entry.is_row and entry.scope == scope and confident(entry, ask.request.min_confidence, ask.dials)
    ]


def topic_rows(ask: Ask) -> list[Entry]:
    return [row for row in scope_rows(ask, PUBLIC) if row.topic == ask.place.topic.slug]


def boost(entry: Entry, dials: Dials) -> Decimal:
    return {
        "proven": dials.maturity_boost_proven,
        "pattern": dials.maturity_boost_pattern,
        "candidate": dials.maturity_boost_candidate,
    }[entry.maturity]


def boosted(entry: Entry, cosine: float, dials: Dials) -> float:
    return cosine * float(boost(entry, dials))


def nearest(rows: list[Entry], query: Vector | None, dials: Dials) -> list[Entry]:
    """Order of a semantic pass: similarity x boost descending, then the smaller id."""
    measured = [(row, cosine) for row in rows if (cosine := similarity(row, query)) is not None]
    measured.sort(key=lambda pair: (-boosted(pair[0], pair[1], dials), pair[0].id))
    return [row for row, _ in measured]


def surest(rows: list[Entry], dials: Dials) -> list[Entry]:
    """Order of the concept pass: boost x confidence, then `last_matched_at`, both descending, then id."""

    def order(row: Entry) -> tuple[Decimal, bool, timedelta, UUID]:
        return -boost(row, dials) * row.confidence, *latest_first(row.last_matched_at), row.id

    return sorted(rows, key=order)


def latest_first(moment: datetime | None) -> tuple[bool, timedelta]:
    """Sorts moments descending, nulls last."""
    return moment is None, EPOCH - (moment or EPOCH)


# Merge, score and cut (rules.md 5)


def merge(ask: Ask) -> list[Ranked]:
    """Passes 1 and 2 by entry id, in the order of their score, before the cut."""
    semantic, concept = topic_pass(ask), concept_pass(ask)
    found = {entry.id: entry for entry in (*semantic, *concept)}.values()
    rows = [rank(ask, entry, found_by(entry, semantic, concept), ask.expected) for entry in found]
    return sorted(rows, key=merged_order)


def found_by(entry: Entry, semantic: list[Entry], concept: list[Entry]) -> tuple[str, ...]:
    passes = (("semantic", semantic), ("concept", concept))
    return tuple(name for name, rows in passes if entry in rows)


def rank(ask: Ask, entry: Entry, passes: tuple[str, ...], expected: Expected) -> Ranked:
    """Score = similarity x confidence x boost x (bonus where the concept is expected, else 1)."""
    cosine = similarity(entry, ask.request.query_vector)
    is_expected = entry.concept_slug in expected.slugs
    bonus = ask.dials.concept_match_bonus if is_expected else Decimal(1)
    weight = float(entry.confidence * boost(entry, ask.dials) * bonus)
    score = ranking_similarity(passes, cosine, ask.dials) * weight
    return Ranked(entry=entry, found_by=passes, similarity=cosine, score=score, expected=is_expected)


def ranking_similarity(passes: tuple[str, ...], cosine: float | None, dials: Dials) -> float:
    """1.0 for a row of the concept pass; under `semantic`, only where pass 1 did not find it too."""
    named = passes == ("concept",) or ("concept" in passes and dials.concept_collision == "named")
    return 1.0 if named or cosine is None else cosine


def merged_order(row: Ranked) -> tuple[float, bool, float, UUID]:
    """Score descending; the measured cosine breaks ties, null last; then the smaller id."""
    return -row.score, row.similarity is None, -(row.similarity or 0.0), row.entry.id


def cut(ask: Ask) -> list[Ranked]:
    """The first `retrieval_top_k`, with at most `concept_only_max` guests among them: rows of an
    inferred concept that pass 1 did not have among its first `retrieval_top_k`."""
    ranked = merge(ask)
    first = topic_pass(ask)[: ask.dials.retrieval_top_k]
    guests = [row for row in ranked if ask.expected.inferred and row.expected and row.entry not in first]
    left_out = guests[ask.dials.concept_only_max :]
    return [row for row in ranked if row not in left_out][: ask.dials.retrieval_top_k]


def own_memory(ask: Ask, rows: list[Entry]) -> tuple[Advisory, ...]:
    """Passes 3 and 4 keep their own order; their score has no concept bonus."""
    ranked = [rank(ask, row, ("semantic",), NOTHING_EXPECTED) for row in rows]
    return tuple(advisory(row, ask.dials) for row in ranked)


def advisory(row: Ranked, dials: Dials) -> Advisory:
    """As handed to a client; the decision score is confidence x measured cosine."""
    decision = None if row.similarity is None else float(row.entry.confidence) * row.similarity
    instruction = clip(row.entry.instruction, dials.advisory_clip_chars)
    return Advisory(
        entry=row.entry,
        similarity=row.similarity,
        score=row.score,
        decision_score=decision,
        band=band(row.found_by, decision, dials),
        found_by=row.found_by,
        expected=row.expected,
        instruction=instruction,
        clipped=instruction != row.entry.instruction,
    )


def band(passes: tuple[str, ...], decision: float | None, dials: Dials) -> str:
    if passes == ("concept",) or decision is None:
        return "named"
    if decision >= float(dials.band_strong):
        return "strong"
    return "moderate" if decision >= float(dials.band_moderate) else "weak"


def walked_memory(ask: Ask, rows: list[Advisory]) -> tuple[Advisory, ...]:
    """Rules.md 6: the walk starts from the first `edge_walk_top_k` topic advisories."""
    walker = Walker(learner=ask.place.learner, key=ask.request.key)
    first, rest = rows[: ask.dials.edge_walk_top_k], rows[ask.dials.edge_walk_top_k :]
    walked = [replace(row, edges=outgoing(ask.world, row.entry.id, walker, ask.dials)) for row in first]
    return (*walked, *rest)
