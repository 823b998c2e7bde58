"""What must hold of every answer, and of every world that the strategies draw."""

from collections import Counter
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.examples import EAST, entry, request, toward
from tests.oracle.examples import world as small_world
from tests.oracle.margins import smallest_gap
from tests.oracle.match import Filter, match, match_concepts
from tests.oracle.model import PUBLIC, UNANCHORED, VISUAL, Answer, Dials, Entry, RefusedError, Vector, World
from tests.oracle.retrieve import retrieve
from tests.oracle.strategies import (
    PALETTE,
    Scenario,
    concept_names,
    filters,
    identities,
    scenarios,
    walkers,
    worlds,
)
from tests.oracle.vectors import cosine
from tests.oracle.visibility import confident, key_sees
from tests.oracle.walk import Walker, walk

SPEC = Dials()
patient = settings(deadline=None, max_examples=60)


def answer_of(scenario: Scenario) -> Answer | str:
    """The answer, or the code of the refusal."""
    try:
        return retrieve(scenario.world, scenario.request, scenario.dials)
    except RefusedError as refused:
        return refused.code


def shuffled(world: World, seed: int) -> World:
    random = Random(seed)
    return replace(
        world,
        entries=tuple(random.sample(world.entries, len(world.entries))),
        edges=tuple(random.sample(world.edges, len(world.edges))),
        concepts=tuple(random.sample(world.concepts, len(world.concepts))),
    )


@patient
@given(scenario=scenarios() | scenarios(hashed=True), seed=st.integers())
def test_an_answer_does_not_depend_on_the_order_of_storage(scenario: Scenario, seed: int) -> None:
    elsewhere = replace(scenario, world=shuffled(scenario.world, seed))
    assert answer_of(scenario) == answer_of(elsewhere)


@patient
@given(scenario=scenarios())
def test_limits_floors_and_lines(scenario: Scenario) -> None:
    answer = answer_of(scenario)
    if isinstance(answer, str):
        return
    dials, request = scenario.dials, scenario.request
    memories = (answer.topic_memory, answer.tutor_memory, answer.student_patterns)
    limits = (request.top_k or dials.retrieval_top_k, dials.tutor_top_k, dials.student_top_k)
    assert all(len(memory) <= limit for memory, limit in zip(memories, limits, strict=True))
    rows = [row for memory in memories for row in memory]
    assert all(row.entry.is_row and confident(row.entry, request.min_confidence, dials) for row in rows)
    scores = [row.score for row in answer.topic_memory]
    assert scores == sorted(scores, reverse=True)
    assert len({row.entry.id for row in rows}) == len(rows)
    assert all(len(row.instruction) <= dials.advisory_clip_chars for row in rows)
    assert_every_line_is_ours(answer)


def assert_every_line_is_ours(answer: Answer) -> None:
    """The prompt has as many headings, rows and edge lines as were meant, whatever is stored."""
    lines = answer.prompt.splitlines()
    memories = (answer.topic_memory, answer.tutor_memory, answer.student_patterns)
    assert sum(line.startswith("## ") for line in lines) == sum(map(bool, memories))
    assert sum(line.startswith("- [") for line in lines) == sum(map(len, memories))
    assert sum(line.startswith("  ") for line in lines) == len(answer.rendered_edges)
    assert sum(line == "" for line in lines) == max(0, sum(map(bool, memories)) - 1)


@patient
@given(world=worlds(), asked=filters(), names=concept_names(), vector=st.sampled_from(PALETTE))
def test_matches_pass_their_filter(
    world: World, asked: Filter, names: tuple[str, ...], vector: Vector
) -> None:
    """A subset of what may compete, in order; what the key may not see is not there."""
    try:
        near, named = match(world, vector, asked, SPEC), match_concepts(world, names, asked, SPEC)
    except RefusedError:
        return
    for found in (near, named):
        assert len(found) <= (asked.limit or 0)
        assert [one.rank for one in found] == sorted((one.rank for one in found), reverse=True)
        assert all(one.entry.scope in asked.scopes and key_sees(one.entry, asked.key) for one in found)
        assert all(asked.topic in (None, one.entry.topic) for one in found)
    assert all(one.entry.concept_slug != UNANCHORED for one in named)


@patient
@given(world=worlds(), walker=walkers(), depth=st.integers(1, 4), most=st.integers(1, 12))
def test_a_walk_is_bounded_and_connected(world: World, walker: Walker, depth: int, most: int) -> None:
    dials = Dials(edge_walk_max_nodes=most)
    for start in world.entries[:3]:
        try:
            found = walk(world, start.id, walker, dials, depth=depth)
        except RefusedError:
            continue
        assert len(found.nodes) == len(set(found.nodes)) <= most
        assert set(found.nodes) == {start.id, *(one.target.id for one in found.edges)}
        assert {one.edge.source for one in found.edges} <= set(found.nodes)
        assert len({one.edge.id for one in found.edges}) == len(found.edges)
        assert [one.depth for one in found.edges] == sorted(one.depth for one in found.edges)
        assert all(one.target.is_row and one.depth <= depth for one in found.edges)


@patient
@given(world=worlds())
def test_worlds_keep_the_invariants_of_the_database(world: World) -> None:
    """rules.md 1 and 2: identities, concepts of public and visual rows, topics of public rows, edges."""
    taken = Counter(key for entry in world.entries for key in identities(entry))
    assert all(count == 1 for count in taken.values())
    slugs = {concept.slug for concept in world.concepts} | {UNANCHORED}
    assert all(entry.concept_slug in slugs for entry in world.entries if entry.scope in (PUBLIC, VISUAL))
    assert all(entry.topic for entry in world.entries if entry.scope == PUBLIC)
    assert len({(edge.source, edge.target, edge.type) for edge in world.edges}) == len(world.edges)
    assert all(edge.source != edge.target for edge in world.edges)


def test_cosines_of_the_palette_are_far_apart() -> None:
    """So that rows tie exactly or not at all (but for maturity boosts, which `smallest_gap` watches)."""
    for query in PALETTE:
        cosines = [cosine(query, vector) for vector in PALETTE]
        assert min(abs(a - b) for a, b in combinations(cosines, 2)) > 1e-3


SIGHTS = (
    *("refused", "degraded", "inferred", "ignored", "full", "clipped", "rendered", "named", "both passes"),
    *("strong", "moderate", "weak", "tutor", "student", "tie", "guest left out", "second tree"),
)


def sights(scenario: Scenario, answer: Answer | str) -> set[str]:
    """Which interesting circumstances one scenario shows."""
    if isinstance(answer, str):
        return {"refused"}
    topic = answer.topic_memory
    scores = [row.score for row in topic]
    seen = {
        "degraded": answer.degraded,
        "inferred": answer.expected_concepts and scenario.request.expected_concepts is None,
        "ignored": answer.ignored,
        "full": len(topic) == (scenario.request.top_k or scenario.dials.retrieval_top_k),
        "clipped": any(row.clipped for row in topic),
        "rendered": answer.rendered_edges,
        "both passes": any(len(row.found_by) > 1 for row in topic),
        "tutor": answer.tutor_memory,
        "student": answer.student_patterns,
        "tie": len(set(scores)) < len(scores),
        "guest left out": guest_left_out(scenario, answer),
        "second tree": "match 2" in answer.decision_tree,
    }
    return {name for name, shown in seen.items() if shown} | {row.band for row in topic}


def guest_left_out(scenario: Scenario, answer: Answer) -> bool:
    lenient = replace(scenario, dials=replace(scenario.dials, concept_only_max=50))
    return answer_of(lenient) != answer


def test_the_strategies_show_everything_that_matters() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=200, database=None, derandomize=True, deadline=None)
    @given(scenario=scenarios())
    def look(scenario: Scenario) -> None:
        seen.update(sights(scenario, answer_of(scenario)))

    look()
    assert [sight for sight in SIGHTS if not seen[sight]] == []


class TestSmallestGap:
    """`margins`: how far the nearest decision was from going the other way."""

    @pytest.mark.parametrize(
        ("rows", "expected"),
        [
            ((entry(1),), 0.2),
            ((entry(1), entry(2)), 0.2),
            ((entry(1), entry(2, vectors=toward(0.9999))), 0.0001 * 0.8),
            ((entry(1, "0.90", vectors=toward(0.8)), entry(2, "0.75", vectors=toward(0.96))), 0.0),
            ((entry(1, "0.75", vectors=toward(0.8001)),), 0.000075),
        ],
        ids=["band", "same inputs", "cosines", "products", "band threshold"],
    )
    def test_by_hand(self, rows: tuple[Entry, ...], expected: float) -> None:
        """One row at 1.0 x 0.8: 0.2 above `strong`. 0.8 x 0.90 and 0.96 x 0.75 are both 0.72."""
        found = smallest_gap(small_world(*rows), request(query_vector=EAST), SPEC)
        assert found == pytest.approx(expected, abs=1e-12)
