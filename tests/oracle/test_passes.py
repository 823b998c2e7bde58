"""Which rows may compete (rules.md 4) and the four passes (rules.md 5), by cases worked by hand."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from tests.oracle.examples import SPEC, ask, eid, entry, numbers, student, toward, tutor, world
from tests.oracle.model import VISUAL, Dials


class TestWhoMayCompete:
    """rules.md 4: confidence >= max(min_confidence, floor(maturity))."""

    @pytest.mark.parametrize(
        ("maturity", "confidence", "passes"),
        [
            ("candidate", "0.700000", True),
            ("candidate", "0.699999", False),
            ("pattern", "0.400000", True),
            ("pattern", "0.399999", False),
            ("proven", "0.400000", True),
            ("proven", "0.399999", False),
        ],
    )
    def test_a_row_on_its_floor_passes(self, maturity: str, confidence: str, passes: bool) -> None:
        """A proven row is held by `retrieval_min_confidence` 0.40, not by its own floor of 0.30."""
        answer = ask(world(entry(1, confidence, maturity=maturity)))
        assert numbers(answer.topic_memory) == ([1] if passes else [])

    def test_the_proven_floor_acts_only_where_a_caller_lowers_the_minimum(self) -> None:
        rows = world(
            entry(1, "0.300000", maturity="proven"),
            entry(2, "0.299999", maturity="proven"),
            entry(3, "0.399999", maturity="pattern"),
        )
        assert numbers(ask(rows, min_confidence=Decimal("0.1")).topic_memory) == [1]

    def test_a_caller_may_raise_the_minimum_above_every_floor(self) -> None:
        rows = world(entry(1, "0.89", maturity="proven"), entry(2, "0.9"), tutor(3, "0.89"), tutor(4, "0.9"))
        answer = ask(rows, min_confidence=Decimal("0.9"))
        assert (numbers(answer.topic_memory), numbers(answer.tutor_memory)) == ([2], [4])

    def test_a_row_is_neither_archived_nor_superseded(self) -> None:
        """Head of rules.md."""
        rows = world(entry(1, archived=True), entry(2, superseded=True), entry(3))
        assert numbers(ask(rows).topic_memory) == [3]

    def test_there_is_no_similarity_threshold(self) -> None:
        rows = world(entry(1, vectors=toward(-1.0)), entry(2, vectors=toward(0.0)))
        assert numbers(ask(rows).topic_memory) == [2, 1]

    def test_only_rows_of_the_scope_and_topic_asked_for_compete(self) -> None:
        rows = world(entry(1, topic="nets"), entry(2, scope=VISUAL), entry(3), tutor(4, topic="crypto"))
        assert numbers(ask(rows).topic_memory) == [3]


class TestSemanticTopic:
    """rules.md 5, pass 1: similarity x boost(maturity) descending, top_k x overfetch."""

    def test_boost_ranks_a_proven_row_above_a_nearer_candidate(self) -> None:
        """0.60 x 1.10 = 0.66 > 0.64 x 1.00: with a limit of 1, pass 1 has the proven row alone."""
        rows = world(
            entry(1, "0.9", vectors=toward(0.64)), entry(2, "0.9", vectors=toward(0.6), maturity="proven")
        )
        answer = ask(rows, Dials(retrieval_overfetch=1), top_k=1)
        assert numbers(answer.topic_memory) == [2]

    def test_overfetch_lets_a_surer_row_overtake_a_nearer_one(self) -> None:
        """0.9 x 0.70 = 0.63 < 0.8 x 0.99 = 0.792, which only counts where both are fetched."""
        rows = world(entry(1, "0.70", vectors=toward(0.9)), entry(2, "0.99", vectors=toward(0.8)))
        assert numbers(ask(rows, top_k=1).topic_memory) == [2]
        assert numbers(ask(rows, Dials(retrieval_overfetch=1), top_k=1).topic_memory) == [1]

    def test_ties_go_to_the_smaller_id(self) -> None:
        rows = world(entry(3), entry(1), entry(2))
        assert numbers(ask(rows, top_k=2).topic_memory) == [1, 2]

    def test_similarity_of_an_entry_is_the_largest_over_its_chunks(self) -> None:
        """rules.md 3; and entries, not chunks, count towards k."""
        rows = world(entry(1, vectors=toward(0.1) + toward(0.9) + toward(0.5)), entry(2, vectors=toward(0.8)))
        answer = ask(rows, top_k=2)
        assert numbers(answer.topic_memory) == [1, 2]
        assert answer.topic_memory[0].similarity == pytest.approx(0.9)

    def test_a_vector_of_another_text_counts_as_absent(self) -> None:
        """rules.md 3: one that differs from its entry's counts as absent."""
        rows = world(entry(1, vector_current=False), entry(2, vectors=None), entry(3, vectors=()))
        assert ask(rows).topic_memory == ()


class TestConcept:
    """rules.md 5, pass 2: rows whose slug is an expected concept, boost x confidence descending."""

    def test_order_then_last_match_then_nulls_last_then_id(self) -> None:
        """1.05 x 0.8 = 0.84 leads; of the four at 0.80 the latest match, the earlier, then nulls by id.

        A limit of n keeps the first n of the pass, so the answers at rising limits show its order.
        """
        early, late = datetime(2025, 1, 1, tzinfo=UTC), datetime(2025, 1, 2, tzinfo=UTC)
        named = {"concept_slug": "nonce", "vectors": None}
        rows = world(
            entry(1, "0.80", **named),
            entry(5, "0.80", **named, last_matched_at=early),
            entry(4, "0.80", **named, last_matched_at=late),
            entry(2, "0.80", **named),
            entry(9, "0.80", **named, maturity="pattern"),
        )
        dials = Dials(retrieval_overfetch=1)
        sets = [
            set(numbers(ask(rows, dials, top_k=k, expected_concepts=("nonce",)).topic_memory))
            for k in range(1, 6)
        ]
        assert sets == [{9}, {9, 4}, {9, 4, 5}, {9, 4, 5, 1}, {9, 4, 5, 1, 2}]

    def test_the_floor_holds_here_too(self) -> None:
        rows = world(
            entry(1, "0.69", concept_slug="nonce"), entry(2, "0.7", topic="nets", concept_slug="nonce")
        )
        assert ask(rows, expected_concepts=("nonce",)).topic_memory == ()

    def test_no_vector_is_needed_to_be_found(self) -> None:
        rows = world(entry(1, concept_slug="nonce", vectors=None))
        (found,) = ask(rows, expected_concepts=("nonce",)).topic_memory
        assert (found.found_by, found.similarity, found.decision_score) == (("concept",), None, None)
        assert found.score == pytest.approx(0.8 * 1.3)


class TestTutorAndStudent:
    """rules.md 5, passes 3 and 4: ordered as pass 1, appended in their own order."""

    def test_they_cross_topics(self) -> None:
        rows = world(tutor(1, topic="nets"), tutor(2), student(3, "ann", topic="nets"), student(4, "ann"))
        answer = ask(rows, learner="ann")
        assert (numbers(answer.tutor_memory), numbers(answer.student_patterns)) == ([1, 2], [3, 4])

    def test_each_has_its_own_limit_which_top_k_does_not_move(self) -> None:
        rows = world(*(tutor(n) for n in range(1, 6)), *(student(n, "ann") for n in range(11, 16)))
        answer = ask(rows, Dials(tutor_top_k=2), learner="ann", top_k=1)
        assert (numbers(answer.tutor_memory), numbers(answer.student_patterns)) == ([1, 2], [11, 12, 13])

    def test_their_order_is_similarity_times_boost_and_not_the_score(self) -> None:
        """0.9 before 0.8 although 0.9 x 0.70 < 0.8 x 0.99."""
        rows = world(tutor(1, "0.99", vectors=toward(0.8)), tutor(2, "0.70", vectors=toward(0.9)))
        assert numbers(ask(rows).tutor_memory) == [2, 1]

    def test_they_have_no_concept_bonus(self) -> None:
        rows = world(tutor(1, "0.80", concept_slug="xor", maturity="proven", vectors=toward(0.5)))
        (found,) = ask(rows, expected_concepts=("xor",)).tutor_memory
        assert found.score == pytest.approx(0.5 * 0.8 * 1.1)
        assert (found.found_by, found.expected) == (("semantic",), False)

    def test_only_this_learner_compared_for_equality(self) -> None:
        """rules.md 1: case is kept, and scopes are compared for equality only."""
        rows = world(student(1, "1"), student(2, "10"), student(3, "Ann"), student(4, "ann"))
        assert numbers(ask(rows, learner="1").student_patterns) == [1]
        assert numbers(ask(rows, learner="ann").student_patterns) == [4]

    def test_none_without_a_learner_and_no_error_for_an_unknown_one(self) -> None:
        rows = world(student(1, "ann"))
        assert ask(rows).student_patterns == ()
        assert ask(rows, learner="nobody").student_patterns == ()

    def test_they_never_compete_with_topic_rows(self) -> None:
        rows = world(*(entry(n, vectors=toward(0.1)) for n in range(1, 7)), tutor(11), student(12, "ann"))
        answer = ask(rows, learner="ann")
        assert numbers(answer.topic_memory) == [1, 2, 3, 4, 5]
        assert (numbers(answer.tutor_memory), numbers(answer.student_patterns)) == ([11], [12])


class TestProviderDown:
    """api.md: the answer is still given from the concept pass, with `degraded: ["semantic"]`."""

    def test_only_named_rows_come_back(self) -> None:
        rows = world(entry(1, concept_slug="nonce"), entry(2), tutor(3), student(4, "ann"))
        answer = ask(rows, query_vector=None, expected_concepts=("nonce",), learner="ann")
        assert numbers(answer.topic_memory) == [1]
        assert answer.tutor_memory == answer.student_patterns == ()
        assert answer.degraded == ("semantic",)
        assert answer.topic_memory[0].similarity is None
        assert answer.topic_memory[0].band == "named"

    def test_a_working_provider_degrades_nothing(self) -> None:
        assert ask(world()).degraded == ()


def test_the_defaults_are_those_of_dials_md() -> None:
    """A spot check of what the cases above were worked with."""
    assert (SPEC.retrieval_top_k, SPEC.retrieval_overfetch, SPEC.tutor_top_k) == (5, 4, 3)
    assert eid(1) < eid(2)
