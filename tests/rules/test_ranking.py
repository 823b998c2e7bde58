"""rules.md 5 and 6: merging, scores, bands and walked edges."""

import dataclasses
import itertools
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.rules.edges import Walked, walk
from apps.rules.ranking import (
    Advisory,
    Candidate,
    Expected,
    Pass,
    Ranking,
    concept_advisories,
    concept_order,
    rank,
    semantic_order,
)
from apps.rules.slugs import UNANCHORED
from tests.rules.strategies import DEFAULTS

D = Decimal
BOOSTS = {"candidate": 1.0, "pattern": 1.05, "proven": 1.1}
DAY = datetime(2024, 5, 1, tzinfo=UTC)


def candidate(number: int, found_in: str = "semantic", **values: object) -> Candidate:
    row = Candidate(
        found_in=found_in,
        entry=UUID(int=number),
        scope="public",
        topic="t",
        concept=f"c{number}",
        title=f"title {number}",
        instruction=f"instruction {number}",
        maturity="candidate",
        confidence=D("0.8"),
        similarity=0.5,
    )
    return dataclasses.replace(row, **values)  # type: ignore[arg-type]  # each test names real fields


def edge(number: int, source: int, edge_type: str = "prerequisite", confidence: str = "0.8") -> Walked:
    return Walked(
        edge=number,
        type=edge_type,
        source=UUID(int=source),
        target=UUID(int=1000 + number),
        target_title="target",
        target_instruction="what to know first",
        target_maturity="proven",
        condition="",
        confidence=D(confidence),
        provenance="seed",
    )


def numbers(advisories: tuple[Advisory, ...]) -> list[int]:
    return [advisory.entry.int for advisory in advisories]


@dataclasses.dataclass(frozen=True)
class Case:
    """The rows of one retrieval as the passes found them, and what was asked."""

    semantic: list[Candidate]
    concept: list[Candidate]
    expected: Expected
    top_k: int
    only_max: int
    collision: Literal["named", "semantic"]

    def rank(self) -> Ranking:
        dials = dataclasses.replace(
            DEFAULTS, concept_only_max=self.only_max, concept_collision=self.collision
        )
        return rank(
            [*self.semantic, *self.concept], [], expected=self.expected, dials=dials, top_k=self.top_k
        )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Few values for everything, so that ties and collisions are common."""
    slugs = st.sampled_from(["a", "b", "c", UNANCHORED])
    expected = draw(st.frozensets(slugs, max_size=3))
    rows = [
        candidate(
            number,
            concept=draw(slugs),
            maturity=draw(st.sampled_from(list(BOOSTS))),
            confidence=draw(st.sampled_from([D("0.7"), D("0.8"), D("0.84")])),
            similarity=draw(st.sampled_from([None, -0.1, 0.5, 0.55, 0.9])),
        )
        for number in draw(st.lists(st.integers(1, 30), unique=True, max_size=14))
    ]
    near = semantic_order([row for row in rows if row.similarity is not None], DEFAULTS)
    named = concept_order([row for row in rows if row.concept in expected - {UNANCHORED}], DEFAULTS)
    return Case(
        semantic=near[: draw(st.integers(0, 12))],
        concept=[dataclasses.replace(row, found_in="concept") for row in named[: draw(st.integers(0, 12))]],
        expected=Expected(expected, inferred=draw(st.booleans())),
        top_k=draw(st.integers(1, 6)),
        only_max=draw(st.integers(0, 3)),
        collision=draw(st.sampled_from(["named", "semantic"])),
    )


def place(case: Case, row: Candidate) -> tuple[float, float, UUID]:
    """Where a row stands by rules.md 5, the first place least, said in another way than the code says it."""
    is_near = row.entry in {other.entry for other in case.semantic}
    is_named = row.entry in {other.entry for other in case.concept}
    by_cosine = not is_named or (case.collision == "semantic" and is_near)
    cosine = -2.0 if row.similarity is None else row.similarity
    bonus = 1.3 if row.concept in case.expected.concepts and row.concept != UNANCHORED else 1.0
    score = (cosine if by_cosine else 1.0) * float(row.confidence) * BOOSTS[row.maturity] * bonus
    return (-score, -cosine, row.entry)


def far_entries(case: Case) -> set[UUID]:
    """The rows of expected concepts that pass 1 did not have among its first."""
    first = {row.entry for row in semantic_order(case.semantic, DEFAULTS)[: case.top_k]}
    rows = [*case.semantic, *case.concept]
    return {r.entry for r in rows if r.concept in case.expected and r.entry not in first}


class TestTopicBlock:
    @given(cases())
    def test_holds_the_best_rows_in_order(self, case: Case) -> None:
        rows = {row.entry: row for row in [*case.semantic, *case.concept]}
        ordered = sorted(rows, key=lambda entry: place(case, rows[entry]))
        if case.expected.inferred:
            far = far_entries(case)
            allowed = set([entry for entry in ordered if entry in far][: case.only_max])
            ordered = [entry for entry in ordered if entry not in far or entry in allowed]
        assert [advisory.entry for advisory in case.rank().topic] == ordered[: case.top_k]

    @given(cases())
    def test_is_full_where_pass_one_has_enough(self, case: Case) -> None:
        assert len(case.rank().topic) >= min(case.top_k, len(case.semantic))

    @given(cases(), st.randoms())
    def test_does_not_depend_on_the_order_of_rows(self, case: Case, random: Random) -> None:
        rows = [*case.semantic, *case.concept]
        shuffled = random.sample(rows, len(rows))
        assert rank(shuffled, [], expected=case.expected, dials=DEFAULTS) == rank(
            rows, [], expected=case.expected, dials=DEFAULTS
        )

    @given(cases())
    def test_says_which_passes_found_a_row_and_how_it_scores(self, case: Case) -> None:
        for advisory in case.rank().topic:
            found = [
                name
                for name, rows in (("semantic", case.semantic), ("concept", case.concept))
                if advisory.entry in {row.entry for row in rows}
            ]
            factors = advisory.factors
            assert list(advisory.found_by) == found
            assert advisory.score == (
                factors.similarity * factors.confidence * factors.maturity_boost * factors.concept_bonus
            )
            if advisory.similarity is None:
                assert advisory.decision_score is None
            else:
                assert advisory.decision_score == pytest.approx(
                    advisory.similarity * float(advisory.confidence)
                )

    def test_keeps_a_confident_row_of_no_expected_concept_whatever_was_inferred(self) -> None:
        rows = [candidate(1, similarity=0.6, confidence=D("0.7")), candidate(2, confidence=D("0.9"))]
        dials = dataclasses.replace(DEFAULTS, concept_only_max=0)
        inferred = Expected(frozenset("a"), inferred=True)
        assert numbers(rank(rows, [], expected=inferred, dials=dials, top_k=1).topic) == [2]

    def test_multiplies_in_the_order_of_the_rule(self) -> None:
        row = candidate(1, similarity=0.1, confidence=D("0.7"), maturity="proven", concept="a")
        [advisory] = rank([row], [], expected=Expected(frozenset("a")), dials=DEFAULTS).topic
        assert advisory.score == 0.1 * 0.7 * 1.1 * 1.3

    def test_ranks_a_named_row_as_an_exact_match_and_keeps_its_cosine(self) -> None:
        rows = [
            candidate(1, similarity=0.2, concept="a"),
            candidate(1, "concept", similarity=0.2, concept="a"),
        ]
        [advisory] = rank(rows, [], expected=Expected(frozenset("a")), dials=DEFAULTS).topic
        assert advisory.score == pytest.approx(1.0 * 0.8 * 1.3)
        assert advisory.similarity == 0.2
        assert advisory.decision_score == pytest.approx(0.16)
        assert advisory.found_by == ("semantic", "concept")

    def test_ranks_by_cosine_what_both_passes_found_in_the_other_way(self) -> None:
        rows = [
            candidate(1, similarity=0.9, concept="a"),
            candidate(1, "concept", similarity=0.9, concept="a"),
            candidate(2, "concept", similarity=0.1, concept="a"),
        ]
        dials = dataclasses.replace(DEFAULTS, concept_collision="semantic")
        near_first = rank(rows, [], expected=Expected(frozenset("a")), dials=DEFAULTS).topic
        far_first = rank(rows, [], expected=Expected(frozenset("a")), dials=dials).topic
        assert (numbers(near_first), numbers(far_first)) == ([1, 2], [2, 1])

    def test_takes_the_cosine_from_whichever_pass_measured_it(self) -> None:
        rows = [
            candidate(1, "concept", similarity=None, concept="a"),
            candidate(1, similarity=0.3, concept="a"),
        ]
        [advisory] = rank(rows, [], expected=Expected(frozenset("a")), dials=DEFAULTS).topic
        assert advisory.similarity == 0.3

    def test_puts_a_row_without_a_vector_last_among_equals(self) -> None:
        rows = [
            candidate(1, "concept", similarity=None, concept="a"),
            candidate(2, "concept", similarity=-0.5, concept="a"),
            candidate(3, "concept", similarity=0.5, concept="a"),
        ]
        assert numbers(rank(rows, [], expected=Expected(frozenset("a")), dials=DEFAULTS).topic) == [3, 2, 1]

    def test_gives_no_bonus_for_an_entry_without_a_concept(self) -> None:
        expected = Expected(frozenset({UNANCHORED}))
        [advisory] = rank([candidate(1, concept=UNANCHORED)], [], expected=expected, dials=DEFAULTS).topic
        assert not advisory.expected
        assert advisory.factors.concept_bonus == 1.0

    def test_holds_top_k_rows_of_the_dial_where_the_caller_names_no_number(self) -> None:
        rows = [candidate(number) for number in range(1, 9)]
        assert len(rank(rows, [], expected=Expected(), dials=DEFAULTS).topic) == 5


class TestOtherBlocks:
    @given(cases(), st.sampled_from([Pass.TUTOR, Pass.STUDENT]), st.integers(0, 5))
    def test_have_their_own_order_and_limit_and_no_bonus(
        self, case: Case, found_in: Pass, limit: int
    ) -> None:
        rows = [dataclasses.replace(row, found_in=found_in) for row in case.semantic]
        is_tutor = found_in is Pass.TUTOR
        dials = dataclasses.replace(
            DEFAULTS, tutor_top_k=limit if is_tutor else 9, student_top_k=9 if is_tutor else limit
        )
        answer = rank(rows, [], expected=case.expected, dials=dials, top_k=1)
        block = answer.tutor if is_tutor else answer.student
        assert [a.entry for a in block] == [row.entry for row in semantic_order(rows, dials)[:limit]]
        assert not any(advisory.expected or advisory.edges for advisory in block)
        assert all(advisory.factors.concept_bonus == 1.0 for advisory in block)
        assert answer.topic == ()

    def test_never_compete_with_topic_rows(self) -> None:
        rows = [candidate(1, similarity=0.1), candidate(2, "tutor", similarity=0.9), candidate(3, "student")]
        answer = rank(rows, [], expected=Expected(), dials=DEFAULTS, top_k=1)
        assert [numbers(block) for block in (answer.topic, answer.tutor, answer.student)] == [[1], [2], [3]]


class TestOrders:
    def test_boosts_similarity_and_gives_ties_to_the_smaller_id(self) -> None:
        rows = [
            candidate(4, similarity=None),
            candidate(3, similarity=0.5, maturity="proven"),
            candidate(2, similarity=0.54),
            candidate(1, similarity=0.54),
            candidate(5, similarity=0.6),
        ]
        assert [row.entry.int for row in semantic_order(rows, DEFAULTS)] == [5, 3, 1, 2, 4]

    def test_boosts_confidence_then_takes_the_last_matched(self) -> None:
        rows = [
            candidate(1, "concept", last_matched_at=None),
            candidate(2, "concept", last_matched_at=DAY),
            candidate(3, "concept", last_matched_at=DAY + timedelta(microseconds=1)),
            candidate(4, "concept", maturity="proven"),
            candidate(5, "concept", confidence=D("0.9")),
        ]
        assert [row.entry.int for row in concept_order(rows, DEFAULTS)] == [5, 4, 3, 2, 1]
        expected = Expected(frozenset({"c5"}))
        advisories = concept_advisories(rows, expected, DEFAULTS, limit=2)
        assert numbers(advisories) == [5, 4]
        assert [advisory.expected for advisory in advisories] == [True, False]

    @pytest.mark.parametrize("maturity", ["archived", "retired"])
    def test_refuse_a_row_that_is_locked_out(self, maturity: str) -> None:
        with pytest.raises(ValueError, match=f"'{maturity}' may not compete"):
            semantic_order([candidate(1, maturity=maturity)], DEFAULTS)

    def test_refuse_a_row_of_no_known_pass(self) -> None:
        with pytest.raises(ValueError, match="visual"):
            rank([candidate(1, "visual")], [], expected=Expected(), dials=DEFAULTS)


class TestBands:
    @pytest.mark.parametrize(
        ("similarity", "band"),
        [(1.0, "strong"), (0.99, "moderate"), (0.5, "moderate"), (0.49, "weak")],
    )
    def test_go_by_the_decision_score(self, similarity: float, band: str) -> None:
        dials = dataclasses.replace(DEFAULTS, band_strong=0.8, band_moderate=0.4)
        [advisory] = rank([candidate(1, similarity=similarity)], [], expected=Expected(), dials=dials).topic
        assert advisory.band == band

    @pytest.mark.parametrize("similarity", [None, 0.99])
    def test_name_what_only_its_concept_found(self, similarity: float | None) -> None:
        rows = [candidate(1, "concept", similarity=similarity, concept="a")]
        [advisory] = rank(rows, [], expected=Expected(frozenset("a")), dials=DEFAULTS).topic
        assert advisory.band == "named"

    def test_go_by_the_decision_score_where_both_passes_found_a_row(self) -> None:
        rows = [
            candidate(1, similarity=0.1, concept="a"),
            candidate(1, "concept", similarity=0.1, concept="a"),
        ]
        [advisory] = rank(rows, [], expected=Expected(frozenset("a")), dials=DEFAULTS).topic
        assert advisory.band == "weak"


class TestEdges:
    def test_are_walked_from_the_first_topic_advisories_alone(self) -> None:
        rows = [candidate(1, similarity=0.9), candidate(2, similarity=0.8), candidate(3, similarity=0.7)]
        edges = [edge(number, source) for number, source in enumerate([3, 2, 1, 1], start=1)]
        answer = rank(
            [*rows, candidate(4, "tutor")], [*edges, edge(9, 4)], expected=Expected(), dials=DEFAULTS
        )
        assert [[e.edge for e in advisory.edges] for advisory in answer.topic] == [[3, 4], [2], []]
        assert answer.tutor[0].edges == ()

    def test_are_walked_within_the_limits(self) -> None:
        edges = [
            edge(n, 1, kind)
            for n, kind in enumerate(itertools.islice(itertools.cycle(["related", "fallback"]), 9))
        ]
        answer = rank([candidate(1)], edges, expected=Expected(), dials=DEFAULTS)
        assert list(answer.topic[0].edges) == walk(edges, dials=DEFAULTS)
        assert [e.edge for e in answer.topic[0].edges] == [1, 3, 0, 2]


class TestClipping:
    def test_cuts_a_long_instruction_and_says_so(self) -> None:
        long = "A sentence of the instruction. " * 20
        [advisory] = rank([candidate(1, instruction=long)], [], expected=Expected(), dials=DEFAULTS).topic
        assert advisory.clipped
        assert advisory.instruction == ("A sentence of the instruction. " * 12).rstrip()

    def test_leaves_a_text_of_exactly_the_limit(self) -> None:
        [advisory] = rank(
            [candidate(1, instruction="x" * 400)], [], expected=Expected(), dials=DEFAULTS
        ).topic
        assert not advisory.clipped
        assert advisory.instruction == "x" * 400
