"""rules.md 6 and 10: confidence of edges, and the walk."""

import dataclasses
from collections import Counter
from decimal import Decimal
from random import Random
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.rules.edges import (
    Walked,
    held_below_walk,
    initial_confidence,
    initial_hit_count,
    observed_confidence,
    walk,
)
from apps.rules.words import EdgeType, Maturity, Provenance
from tests.rules.strategies import DEFAULTS, confidences

D = Decimal


@st.composite
def walkable_edges(draw: st.DrawFn) -> list[Walked]:
    """Edges out of one entry, many of them equally confident, in any order."""
    numbers = draw(st.lists(st.integers(1, 40), unique=True, max_size=25))
    few = st.sampled_from([D("0.299999"), D("0.30"), D("0.5"), D("0.9")])
    return [
        Walked(
            edge=number,
            type=draw(st.sampled_from(EdgeType)),
            source=UUID(int=0),
            target=UUID(int=number),
            target_title="t",
            target_instruction="i",
            target_maturity=draw(st.sampled_from([Maturity.CANDIDATE, Maturity.PROVEN])),
            condition="",
            confidence=draw(few | confidences),
            provenance="seed",
        )
        for number in numbers
    ]


@pytest.mark.parametrize(
    ("provenance", "confidence", "hits"), [("seed", "0.8", 0), ("enriched", "0.4", 0), ("learned", "0.3", 1)]
)
def test_an_edge_begins_by_its_provenance(provenance: str, confidence: str, hits: int) -> None:
    assert initial_confidence(provenance, DEFAULTS) == D(confidence)
    assert initial_hit_count(provenance) == hits


def test_an_unknown_provenance_is_an_error() -> None:
    with pytest.raises(ValueError, match="guessed"):
        initial_confidence("guessed", DEFAULTS)


@given(confidences, st.integers(1, 10))
def test_an_observation_lifts_to_what_the_sessions_support_and_never_lowers(
    confidence: Decimal, hits: int
) -> None:
    after = observed_confidence(confidence, hits, DEFAULTS)
    assert after == max(confidence, D("0.6") if hits >= 3 else D("0.3"))


def test_a_learned_edge_is_corroborated_by_its_third_session() -> None:
    confidence = initial_confidence(Provenance.LEARNED, DEFAULTS)
    course = [confidence := observed_confidence(confidence, hits, DEFAULTS) for hits in (2, 3, 4)]
    assert course == [D("0.3"), D("0.6"), D("0.6")]


def test_an_edge_that_is_held_stands_just_below_the_walk_floor() -> None:
    assert held_below_walk(DEFAULTS) == D("0.299999")
    assert held_below_walk(dataclasses.replace(DEFAULTS, edge_walk_min_confidence=D(0))) == 0


@given(walkable_edges(), st.booleans(), st.integers(1, 4), st.integers(1, 10))
def test_a_walk_takes_the_first_of_each_type_in_order(
    edges: list[Walked], candidates: bool, per_type: int, limit: int
) -> None:
    dials = dataclasses.replace(
        DEFAULTS,
        edge_include_candidate_targets=candidates,
        edge_walk_per_type=per_type,
        edge_walk_limit=limit,
    )
    taken = walk(edges, dials=dials)
    order = ["prerequisite", "fallback", "leads_to", "related", "supersedes"]
    keys = [(order.index(edge.type), -edge.confidence, edge.edge) for edge in taken]
    assert keys == sorted(keys)
    assert len(taken) <= limit
    assert max(Counter(edge.type for edge in taken).values(), default=0) <= per_type
    allowed = [e for e in edges if e.confidence >= D("0.3") and (candidates or e.target_maturity == "proven")]
    assert set(taken) <= set(allowed)
    for left_out in set(allowed) - set(taken):
        better = [
            e
            for e in taken
            if e.type == left_out.type and (-e.confidence, e.edge) < (-left_out.confidence, left_out.edge)
        ]
        assert len(better) == per_type or len(taken) == limit


@given(walkable_edges(), st.randoms())
def test_a_walk_does_not_depend_on_the_order_it_is_given(edges: list[Walked], random: Random) -> None:
    shuffled = list(edges)
    random.shuffle(shuffled)
    assert walk(shuffled, dials=DEFAULTS) == walk(edges, dials=DEFAULTS)


@given(walkable_edges(), confidences)
def test_a_caller_may_set_the_floor_and_leave_candidates_out(edges: list[Walked], minimum: Decimal) -> None:
    taken = walk(edges, dials=DEFAULTS, min_confidence=minimum, include_candidates=False)
    assert all(edge.confidence >= minimum and edge.target_maturity == "proven" for edge in taken)
