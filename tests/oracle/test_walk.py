"""Walking edges (rules.md 6), by hand."""

from decimal import Decimal

import pytest

from tests.oracle.examples import SPEC, ask, bound, edge, eid, entry, student, toward, tutor, world
from tests.oracle.model import VISUAL, Dials, Edge, Entry, RefusedError, World
from tests.oracle.walk import Walker, outgoing, walk


def walked(a_world: World, dials: Dials = SPEC, walker: Walker | None = None) -> list[int]:
    """The edges walked from entry 1."""
    return [one.edge.id for one in outgoing(a_world, eid(1), walker or Walker(), dials)]


def star(*edges: Edge) -> World:
    """Entry 1 with edges to some of entries 2 to 9."""
    return world(*(entry(n, vectors=None) for n in range(1, 10)), edges=edges)


class TestWhichEdges:
    def test_outgoing_at_or_above_the_least_confidence(self) -> None:
        edges = (edge(1, 1, 2, confidence="0.30"), edge(2, 1, 3, confidence="0.299999"), edge(3, 4, 1))
        assert walked(star(*edges)) == [1]

    @pytest.mark.parametrize(
        ("target", "seen"),
        [
            (entry(2), True),
            (entry(2, "0.01"), True),
            (entry(2, topic="nets"), True),
            (tutor(2), True),
            (student(2, "ann"), True),
            (student(2, "annika"), False),
            (entry(2, scope=VISUAL), False),
            (entry(2, archived=True), False),
            (entry(2, superseded=True), False),
        ],
    )
    def test_whose_target_is_a_row_visible_to_the_caller(self, target: Entry, seen: bool) -> None:
        """A target's own confidence and maturity are no matter: it has only to be a row in sight."""
        rows = world(entry(1), target, edges=(edge(9, 1, 2),))
        assert walked(rows, walker=Walker(learner="ann")) == ([9] if seen else [])

    def test_public_targets_within_the_keys_topics(self) -> None:
        rows = world(
            entry(1), entry(2, topic="nets"), tutor(3, topic="nets"), edges=(edge(8, 1, 2), edge(9, 1, 3))
        )
        assert walked(rows, walker=Walker(key=bound("crypto"))) == [9]

    def test_candidates_only_while_the_dial_is_on(self) -> None:
        rows = world(entry(1), entry(2), entry(3, maturity="pattern"), edges=(edge(8, 1, 2), edge(9, 1, 3)))
        assert walked(rows) == [8, 9]
        assert walked(rows, Dials(edge_include_candidate_targets=False)) == [9]


class TestOrderAndLimits:
    def test_type_then_confidence_then_id(self) -> None:
        edges = (
            edge(1, 1, 2, "supersedes"),
            edge(2, 1, 3, "related"),
            edge(3, 1, 4, "leads_to"),
            edge(4, 1, 5, "fallback"),
            edge(7, 1, 6, "prerequisite", confidence="0.5"),
            edge(6, 1, 7, "prerequisite", confidence="0.5"),
            edge(8, 1, 8, "prerequisite", confidence="0.6"),
        )
        assert walked(star(*edges), Dials(edge_walk_per_type=3)) == [8, 6, 7, 4, 3, 2, 1]

    def test_two_of_a_type_and_eight_in_all(self) -> None:
        kinds = ("prerequisite", "fallback", "leads_to", "related", "supersedes")
        edges = tuple(edge(10 * i + n, 1, n, kind) for i, kind in enumerate(kinds) for n in (2, 3, 4))
        assert walked(star(*edges)) == [2, 3, 12, 13, 22, 23, 32, 33]

    def test_edges_that_may_not_be_walked_take_no_place(self) -> None:
        rows = world(
            entry(1),
            *(entry(n, archived=True) for n in (2, 3)),
            entry(4),
            edges=tuple(edge(n, 1, n) for n in (2, 3, 4)),
        )
        assert walked(rows, Dials(edge_walk_per_type=1)) == [4]


def test_only_the_first_two_topic_advisories_are_walked() -> None:
    """`edge_walk_top_k`; the tutor's rows never are."""
    rows = world(
        *(entry(n, vectors=toward(1 - n / 10)) for n in (1, 2, 3)),
        tutor(4),
        edges=tuple(edge(10 + n, n, 3 if n < 3 else 1) for n in (1, 2, 3, 4)),
    )
    answer = ask(rows)
    assert [[one.edge.id for one in row.edges] for row in answer.topic_memory] == [[11], [12], []]
    assert answer.tutor_memory[0].edges == ()


class TestLongerWalk:
    """Bounded in depth and in nodes (said when reached), safe on cycles."""

    def chain(self) -> World:
        """1 -> 2 -> 3 -> 1, and 3 -> 4."""
        return star(edge(1, 1, 2), edge(2, 2, 3), edge(3, 3, 1, confidence="0.9"), edge(4, 3, 4))

    def test_one_hop(self) -> None:
        found = walk(self.chain(), eid(1), Walker(), SPEC)
        assert [one.edge.id for one in found.edges] == [1]
        assert found.nodes == (eid(1), eid(2))

    def test_a_cycle_ends(self) -> None:
        found = walk(self.chain(), eid(1), Walker(), SPEC, depth=4)
        assert [(one.edge.id, one.depth) for one in found.edges] == [(1, 1), (2, 2), (3, 3), (4, 3)]
        assert found.nodes == (eid(1), eid(2), eid(3), eid(4))
        assert found.truncated is False

    def test_the_bound_on_nodes_is_said(self) -> None:
        found = walk(self.chain(), eid(1), Walker(), Dials(edge_walk_max_nodes=3), depth=4)
        assert found.nodes == (eid(1), eid(2), eid(3))
        assert [one.edge.id for one in found.edges] == [1, 2, 3]
        assert found.truncated is True

    def test_a_walk_that_just_fits_is_not_truncated(self) -> None:
        assert walk(self.chain(), eid(1), Walker(), Dials(edge_walk_max_nodes=4), depth=4).truncated is False

    def test_deeper_than_the_dial_is_refused(self) -> None:
        with pytest.raises(RefusedError, match="depth"):
            walk(self.chain(), eid(1), Walker(), SPEC, depth=5)

    def test_limits_hold_at_every_entry(self) -> None:
        rows = star(edge(1, 1, 2), edge(2, 2, 3), edge(3, 2, 4), edge(4, 2, 5))
        assert walk(rows, eid(1), Walker(), SPEC, depth=2).nodes == (eid(1), eid(2), eid(3), eid(4))

    def test_what_the_caller_asks_for(self) -> None:
        rows = star(edge(1, 1, 2, "related"), edge(2, 1, 3), edge(3, 1, 4, confidence="0.1"))
        asked = Walker(types=("prerequisite",), min_confidence=Decimal("0.1"))
        assert [one.edge.id for one in walk(rows, eid(1), asked, SPEC).edges] == [2, 3]
        assert walk(rows, eid(1), Walker(include_candidates=False), SPEC).edges == ()

    @pytest.mark.parametrize(
        "start", [entry(1, archived=True), entry(1, topic="nets"), student(1, "bob"), entry(2)]
    )
    def test_a_start_that_is_out_of_sight_does_not_exist(self, start: Entry) -> None:
        with pytest.raises(RefusedError, match="not_found"):
            walk(world(start), eid(1), Walker(key=bound("crypto", prefix="a")), SPEC)

    def test_the_learner_is_that_of_the_start(self) -> None:
        rows = world(
            student(1, "ann"), student(2, "ann"), student(3, "bob"), edges=(edge(1, 1, 2), edge(2, 1, 3))
        )
        assert [one.edge.id for one in walk(rows, eid(1), Walker(), SPEC).edges] == [1]
