"""Merge, score, cut, bands (rules.md 5), by cases worked by hand."""

from typing import Any

import pytest

from tests.oracle.examples import ask, entry, numbers, session, toward, world
from tests.oracle.model import Advisory, Dials, World


def only(a_world: World, **fields: Any) -> Advisory:
    (found,) = ask(a_world, **fields).topic_memory
    return found


class TestScore:
    """score = similarity x confidence x boost(maturity) x (1.30 if expected else 1)."""

    def test_of_a_semantic_row(self) -> None:
        """0.8 x 0.50 x 1.05 = 0.42; the decision score leaves the boost out: 0.40."""
        found = only(world(entry(1, "0.50", maturity="pattern", vectors=toward(0.8))))
        assert found.score == pytest.approx(0.42)
        assert found.decision_score == pytest.approx(0.40)
        assert (found.found_by, found.expected) == (("semantic",), False)

    def test_a_named_row_ranks_with_similarity_1_and_keeps_its_cosine(self) -> None:
        """1.0 x 0.80 x 1.30 = 1.04, although pass 1 found it too, at 0.1; decision 0.08."""
        found = only(world(entry(1, concept_slug="nonce", vectors=toward(0.1))), expected_concepts=("nonce",))
        assert found.found_by == ("semantic", "concept")
        assert found.similarity == pytest.approx(0.1)
        assert found.score == pytest.approx(1.04)
        assert found.decision_score == pytest.approx(0.08)

    def test_a_far_named_row_stands_before_a_near_unnamed_one(self) -> None:
        rows = world(entry(1, "0.99"), entry(2, "0.80", concept_slug="nonce", vectors=toward(0.1)))
        assert numbers(ask(rows, expected_concepts=("nonce",)).topic_memory) == [2, 1]

    def test_the_cosine_is_measured_where_only_the_concept_pass_found_the_row(self) -> None:
        """With a fetch of 1, pass 1 has row 1 alone."""
        rows = world(entry(1), entry(2, "0.8", concept_slug="nonce", vectors=toward(0.5)))
        (found,) = ask(rows, Dials(retrieval_overfetch=1), top_k=1, expected_concepts=("nonce",)).topic_memory
        assert (found.entry.id.int, found.found_by) == (2, ("concept",))
        assert found.decision_score == pytest.approx(0.4)

    def test_a_row_of_an_expected_concept_beyond_the_limit_of_pass_2_has_the_bonus_alone(self) -> None:
        """Pass 2 fetches the four surest, 2 to 5. Row 1, of pass 1 alone: 1.0 x 0.70 x 1.30 = 0.91."""
        rows = world(
            entry(1, "0.70", concept_slug="nonce"),
            *(
                entry(n, "0.8", concept_slug="nonce", fact_key=f"k{n}", vectors=toward(0.1))
                for n in (2, 3, 4)
            ),
            entry(5, "0.8", concept_slug="nonce", fact_key="k5", vectors=None),
        )
        dials = Dials(retrieval_overfetch=2, concept_collision="semantic")
        by_name, near = ask(rows, dials, top_k=2, expected_concepts=("nonce",)).topic_memory
        assert (by_name.entry.id.int, near.entry.id.int) == (5, 1)
        assert [by_name.score, near.score] == pytest.approx([1.04, 0.91])
        assert (near.found_by, near.expected) == (("semantic",), True)

    def test_collision_semantic_lets_the_cosine_rank(self) -> None:
        """Near row, both passes: 0.6 x 0.8 x 1.3 = 0.624; far row, by name alone: 1.04."""
        rows = world(
            entry(1, concept_slug="nonce", vectors=toward(0.6)),
            entry(2, concept_slug="xor", vectors=None),
        )
        answer = ask(rows, Dials(concept_collision="semantic"), expected_concepts=("nonce", "xor"))
        assert numbers(answer.topic_memory) == [2, 1]
        assert [row.score for row in answer.topic_memory] == [pytest.approx(1.04), pytest.approx(0.624)]


class TestTies:
    """The measured cosine breaks ties of the score, null last; then the smaller id."""

    def test_in_that_order(self) -> None:
        rows = world(
            entry(1, concept_slug="nonce", fact_key="a", vectors=None),
            entry(2, concept_slug="nonce", fact_key="b", vectors=toward(-0.5)),
            entry(4, concept_slug="nonce", fact_key="c", vectors=toward(0.5)),
            entry(3, concept_slug="nonce", fact_key="d", vectors=toward(0.5)),
        )
        assert numbers(ask(rows, expected_concepts=("nonce",)).topic_memory) == [3, 4, 2, 1]

    def test_equal_products_of_confidence_and_boost_are_equal(self) -> None:
        """0.735 x 1.00 = 0.70 x 1.05 as decimals, though not as floats: the id decides."""
        rows = world(
            entry(2, "0.735", concept_slug="nonce", vectors=None),
            entry(1, "0.70", concept_slug="nonce", fact_key="k", maturity="pattern", vectors=None),
        )
        assert numbers(ask(rows, expected_concepts=("nonce",)).topic_memory) == [1, 2]


class TestInferredGuests:
    """Of inferred concepts at most `concept_only_max` rows that pass 1 did not have among its first top_k."""

    def rows(self) -> World:
        """Rows 1 to 3 are near; 11 to 14 are of the concept, far away, sure, and last in pass 1."""
        near = [entry(n, "0.75", vectors=toward(0.9)) for n in (1, 2, 3)]
        far = [
            entry(n, "0.9", concept_slug="nonce", fact_key=f"k{n}", vectors=toward(0.1))
            for n in (11, 12, 13, 14)
        ]
        return world(*near, *far, sessions=(session(("nonce",)),))

    def test_two_stand_in_an_answer_of_three(self) -> None:
        answer = ask(self.rows(), session=self.rows().sessions[0].id, top_k=3)
        assert numbers(answer.topic_memory) == [11, 12, 1]

    def test_the_dial_moves_the_number(self) -> None:
        chosen = self.rows().sessions[0].id
        assert numbers(ask(self.rows(), Dials(concept_only_max=0), session=chosen, top_k=3).topic_memory) == [
            1,
            2,
            3,
        ]
        assert numbers(ask(self.rows(), Dials(concept_only_max=3), session=chosen, top_k=3).topic_memory) == [
            11,
            12,
            13,
        ]

    def test_a_row_among_the_first_of_pass_1_is_no_guest(self) -> None:
        """With top_k 5 pass 1 begins 1, 2, 3, 11, 12: these two are its own, 13 and 14 are guests."""
        answer = ask(self.rows(), session=self.rows().sessions[0].id, top_k=5)
        assert numbers(answer.topic_memory) == [11, 12, 13, 14, 1]
        fewer = ask(self.rows(), Dials(concept_only_max=1), session=self.rows().sessions[0].id, top_k=5)
        assert numbers(fewer.topic_memory) == [11, 12, 13, 1, 2]

    def test_concepts_that_the_caller_names_have_no_such_limit(self) -> None:
        assert numbers(ask(self.rows(), expected_concepts=("nonce",), top_k=3).topic_memory) == [11, 12, 13]


class TestBands:
    """strong >= 0.60, moderate >= 0.40, else weak; the concept pass alone is `named`."""

    @pytest.mark.parametrize(
        ("confidence", "cosine", "band"),
        [
            ("0.80", 0.76, "strong"),
            ("0.80", 0.74, "moderate"),
            ("0.80", 0.51, "moderate"),
            ("0.80", 0.49, "weak"),
        ],
    )
    def test_by_decision_score(self, confidence: str, cosine: float, band: str) -> None:
        assert only(world(entry(1, confidence, vectors=toward(cosine)))).band == band

    def test_a_decision_score_on_the_threshold_has_reached_it(self) -> None:
        assert only(world(entry(1, "0.60", maturity="proven"))).band == "strong"
        assert only(world(entry(1, "0.40", maturity="proven"))).band == "moderate"

    def test_a_row_of_both_passes_is_not_named(self) -> None:
        rows = world(entry(1, concept_slug="nonce", vectors=toward(0.1)))
        assert only(rows, expected_concepts=("nonce",)).band == "weak"

    def test_a_row_of_the_concept_pass_alone_is_named_whatever_its_cosine(self) -> None:
        rows = world(entry(1, maturity="proven"), entry(2, concept_slug="nonce", vectors=toward(0.99)))
        answer = ask(rows, Dials(retrieval_overfetch=1), top_k=1, expected_concepts=("nonce",))
        assert [(row.entry.id.int, row.band) for row in answer.topic_memory] == [(2, "named")]
