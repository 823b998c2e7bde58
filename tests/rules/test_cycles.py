"""rules.md 10: cycles of prerequisites."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.rules.cycles import added_cycles, find_cycle

nodes = st.integers(0, 7)
edge_lists = st.lists(st.tuples(nodes, nodes), max_size=14)
Edges = list[tuple[int, int]]


def reaches(edges: Edges, start: int, goal: int) -> bool:
    """By brute force: whether a path of any length, also none, leads from start to goal."""
    reached = {start}
    for _ in range(8):
        reached |= {target for source, target in edges if source in reached}
    return goal in reached


def on_a_cycle(edges: Edges, edge: tuple[int, int]) -> bool:
    return reaches(edges, edge[1], edge[0])


@given(edge_lists, edge_lists)
def test_every_new_edge_on_a_cycle_is_on_a_reported_one(edges: Edges, new: Edges) -> None:
    everything = edges + new
    reported = {pair for cycle in added_cycles(edges, new) for pair in pairwise(cycle)}
    added = set(new) - set(edges)
    assert {edge for edge in added if on_a_cycle(everything, edge)} == reported & added


@given(edge_lists, edge_lists)
def test_a_reported_cycle_is_one_and_begins_with_a_new_edge(edges: Edges, new: Edges) -> None:
    for cycle in added_cycles(edges, new):
        assert cycle[0] == cycle[-1]
        assert set(pairwise(cycle)) <= set(edges) | set(new)
        assert len(set(cycle)) == len(cycle) - 1
        assert (cycle[0], cycle[1]) in set(new) - set(edges)


@given(edge_lists, edge_lists)
def test_the_first_cycle_is_found_exactly_where_one_is_added(edges: Edges, new: Edges) -> None:
    cycles = list(added_cycles(edges, new))
    assert find_cycle(edges, new) == (cycles[0] if cycles else None)


@pytest.mark.parametrize("forks", [[("b", "c"), ("b", "d")], [("b", "d"), ("b", "c")]])
def test_a_cycle_is_shown_by_the_shortest_path(forks: list[tuple[str, str]]) -> None:
    edges = [*forks, ("c", "d"), ("d", "a")]
    assert find_cycle(edges, [("a", "b")]) == ("a", "b", "d", "a")


def test_a_cycle_that_was_there_before_is_not_reported_again() -> None:
    old = [("a", "b"), ("b", "a")]
    assert find_cycle(old, [("b", "c"), ("a", "b")]) is None
    assert find_cycle(old, [("b", "c"), ("c", "a")]) == ("b", "c", "a", "b")


def test_one_cycle_of_several_new_edges_is_reported_once() -> None:
    assert list(added_cycles([], [("a", "b"), ("b", "c"), ("c", "a")])) == [("a", "b", "c", "a")]


def test_an_edge_to_itself_is_a_cycle() -> None:
    assert find_cycle([], [("a", "a")]) == ("a", "a")


def test_a_long_chain_needs_no_stack() -> None:
    chain = list(pairwise(range(20_000)))
    assert find_cycle([], chain) is None
    assert len(find_cycle(chain, [(19_999, 0)]) or ()) == 20_001
