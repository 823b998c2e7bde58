"""When an answer of the product is the oracle's, to 1e-5 of a score.

Where nothing was decided by less than that (`smallest_gap`), all must be equal. Nearer rows may stand the
other way round, also across a cut: then the oracle's rows are put in the product's order, if that order is
right to 1e-5, and all else must still be equal: fields, clipped texts, walked edges, the prompt to the letter.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from tests.oracle.margins import smallest_gap, smallest_match_gap, threshold_gap
from tests.oracle.match import Filter, competing, match
from tests.oracle.model import (
    TUTOR,
    Advisory,
    Answer,
    Dials,
    Entry,
    Match,
    Vector,
    Walk,
    Walked,
    World,
    student_scope,
)
from tests.oracle.prompt import render
from tests.oracle.retrieve import (
    Ask,
    Ranked,
    advisory,
    boosted,
    merge,
    nearest,
    own_memory,
    scope_rows,
    walked_memory,
)

NEAR = 1e-5
BLOCKS = ("topic_memory", "tutor_memory", "student_patterns")
MEASURED = ("similarity", "score", "decision_score")
"""The numbers of an advisory that a cosine is in."""

Said = dict[str, Any]
"""An answer, or a part of one, as the product says it."""


# Retrieval


def assert_same_answer(said: Said, ask: Ask, theirs: Answer) -> None:
    """Hold the answer of a retrieval to the oracle's."""
    if smallest_gap(ask.world, ask.request, ask.dials) <= NEAR:
        theirs = in_order_of(said, ask, theirs)
    for name in BLOCKS:
        assert_same_rows(said[name], getattr(theirs, name))
    assert said["context_text"] == theirs.context_text
    assert sorted(said["expected_concepts"]) == sorted(theirs.expected_concepts)
    assert said["ignored"] == list(theirs.ignored)
    assert said["degraded"] == list(theirs.degraded)
    assert said["decision_tree"] == theirs.decision_tree
    assert said["prompt"] == theirs.prompt
    assert said["rendered_edges"] == list(theirs.rendered_edges)


def in_order_of(said: Said, ask: Ask, theirs: Answer) -> Answer:
    """The oracle's answer with its near rows in the order in which ``said`` has them."""
    learner = student_scope(ask.place.learner) if ask.place.learner else ""
    blocks = {
        "topic_memory": (topic_pool(ask), by_score),
        "tutor_memory": (own_pool(ask, TUTOR), by_nearness(ask.dials)),
        "student_patterns": (own_pool(ask, learner), by_nearness(ask.dials)),
    }
    topic, tutor, student = (
        reordered(said[name], getattr(theirs, name), pool, rank, ask.dials)
        for name, (pool, rank) in blocks.items()
    )
    walked = walked_memory(ask, list(topic))
    rendered = render(walked, tutor, student, ask.dials)
    return replace(
        theirs,
        topic_memory=walked,
        tutor_memory=tutor,
        student_patterns=student,
        prompt=rendered.prompt,
        decision_tree=rendered.decision_tree,
        rendered_edges=rendered.edges,
    )


def topic_pool(ask: Ask) -> list[Advisory]:
    """Every row that passes 1 and 2 found, before the cut."""
    return [advisory(row, ask.dials) for row in merge(ask)]


def own_pool(ask: Ask, scope: str) -> Sequence[Advisory]:
    """Every row of a scope that has a place in its pass, before the limit."""
    return own_memory(ask, nearest(scope_rows(ask, scope), ask.request.query_vector, ask.dials))


# Searches and walks


def assert_same_matches(
    said: Sequence[Said], world: World, vector: Vector, asked: Filter, dials: Dials
) -> None:
    """Hold the results of a `match` to the oracle's."""
    theirs = [near_advisory(found, dials) for found in match(world, vector, asked, dials)]
    if smallest_match_gap(world, vector, asked, dials) <= NEAR:
        everything = replace(asked, limit=len(competing(world, asked, dials)))
        pool = [near_advisory(found, dials) for found in match(world, vector, everything, dials)]
        theirs = list(reordered(said, theirs, pool, by_nearness(dials), dials))
    assert_same_rows([{**row, "edges": []} for row in said], theirs)


def near_advisory(found: Match, dials: Dials) -> Advisory:
    """A result of `match` with all that is shown of it."""
    score = found.rank * float(found.entry.confidence)
    return advisory(
        Ranked(
            entry=found.entry,
            found_by=("semantic",),
            similarity=found.similarity,
            score=score,
            expected=False,
        ),
        dials,
    )


def named_advisory(found: Match, dials: Dials) -> Advisory:
    """A result of `match-concepts` with all that is shown of it: every row is expected."""
    score = found.rank * float(dials.concept_match_bonus)
    row = Ranked(
        entry=found.entry, found_by=("concept",), similarity=found.similarity, score=score, expected=True
    )
    return advisory(row, dials)


def assert_same_named(said: Sequence[Said], theirs: Iterable[Match], dials: Dials) -> None:
    """Hold the results of a `match-concepts` to the oracle's: no cosine takes part, so nothing is near."""
    assert_same_rows([{**row, "edges": []} for row in said], [named_advisory(row, dials) for row in theirs])


def assert_same_walk(said: Said, theirs: Walk, world: World) -> None:
    """Hold a walk to the oracle's: its edges and entries in the order met."""
    depths = {theirs.start.id: 0}
    for walked in theirs.edges:
        depths.setdefault(walked.target.id, walked.depth)
    nodes = [(world.entry(number), depths[number]) for number in theirs.nodes]
    assert said["start"] == str(theirs.start.id)
    assert said["truncated"] == theirs.truncated
    assert said["edges"] == [{**edge_words(walked), "depth": walked.depth} for walked in theirs.edges]
    assert said["nodes"] == [
        {**entry_words(node), "instruction": node.instruction, "depth": depth} for node, depth in nodes
    ]


# Rows


def assert_same_rows(said: Sequence[Said], theirs: Sequence[Advisory]) -> None:
    """Hold rows to the oracle's: the same in order, word by word, and their numbers."""
    assert [row["entry"] for row in said] == [str(row.entry.id) for row in theirs]
    assert [words(row) for row in said] == [oracle_words(row) for row in theirs]
    for number in MEASURED:
        assert_close([row[number] for row in said], [getattr(row, number) for row in theirs])


def assert_close(ours: Sequence[float | None], theirs: Sequence[float | None]) -> None:
    """The same numbers to 1e-5, and none where there is none."""
    assert len(ours) == len(theirs)
    for place, (our, their) in enumerate(zip(ours, theirs, strict=True)):
        same = our is their if our is None or their is None else abs(our - their) <= NEAR
        assert same, (place, our, their)


def words(row: Said) -> Said:
    return {name: value for name, value in row.items() if name not in MEASURED}


def oracle_words(row: Advisory) -> Said:
    return {
        **entry_words(row.entry),
        "instruction": row.instruction,
        "clipped": row.clipped,
        "band": row.band,
        "found_by": list(row.found_by),
        "expected": row.expected,
        "edges": [edge_words(walked) for walked in row.edges],
    }


def entry_words(entry: Entry) -> Said:
    return {
        "entry": str(entry.id),
        "title": entry.title,
        "concept": entry.concept_slug,
        "topic": entry.topic,
        "scope": entry.scope,
        "maturity": entry.maturity,
        "confidence": float(entry.confidence),
        "stale": False,
    }


def edge_words(walked: Walked) -> Said:
    edge, target = walked.edge, walked.target
    return {
        "edge": edge.id,
        "type": edge.type,
        "source": str(edge.source),
        "target": str(edge.target),
        "target_title": target.title,
        "target_instruction": target.instruction,
        "condition": edge.condition,
        "confidence": float(edge.confidence),
        "provenance": edge.provenance,
    }


# Near rows


def reordered(
    said: Iterable[Said],
    theirs: Sequence[Advisory],
    pool: Iterable[Advisory],
    rank: Callable[[Advisory], float],
    dials: Dials,
) -> tuple[Advisory, ...]:
    """The rows of ``pool`` that ``said`` names, where each ranks as the one that the oracle has in its place."""
    by_id = {row.entry.id: row for row in pool}
    rows = tuple(near_band(row, by_id[UUID(row["entry"])], dials) for row in said)
    assert_close([rank(row) for row in rows], [rank(row) for row in theirs])
    return rows


def near_band(said: Said, row: Advisory, dials: Dials) -> Advisory:
    """The row with the product's band, where its decision score is too near a threshold to tell."""
    decision = row.decision_score
    if decision is None or row.band == "named" or threshold_gap(decision, dials) > NEAR:
        return row
    return replace(row, band=said["band"])


def by_score(row: Advisory) -> float:
    return row.score


def by_nearness(dials: Dials) -> Callable[[Advisory], float]:
    """What a semantic pass orders by: similarity x boost."""
    return lambda row: boosted(row.entry, row.similarity or 0.0, dials)
