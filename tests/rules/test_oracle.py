"""Ranking and prompt against the oracle: rules.md 5 to 7, written twice by different hands.

The oracle's passes stand in for the database; everything after them is compared.
"""

import dataclasses
from collections.abc import Iterable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from apps.rules import ranking
from apps.rules.dials import DIALS, DialValues, resolve
from apps.rules.edges import Walked
from apps.rules.prompt import neutralised, render
from apps.rules.ranking import Candidate, Expected, Pass, concept_order, rank
from apps.rules.text import clip
from tests.oracle import model
from tests.oracle.margins import smallest_gap
from tests.oracle.prompt import clean
from tests.oracle.prompt import clip as oracle_clip
from tests.oracle.retrieve import (
    Ask,
    concept_pass,
    retrieve,
    student_pass,
    surest,
    topic_pass,
    tutor_pass,
    understand,
)
from tests.oracle.strategies import Scenario, scenarios
from tests.oracle.vectors import similarity
from tests.oracle.visibility import may_be_walked_to

# The readings of both agree on these; quotes and other scripts' full stops are ours alone.
plain_prose = st.text(st.sampled_from("ab,.!? \n\u2028"), max_size=120)


def our_dials(dials: model.Dials) -> DialValues:
    values = {field.name: getattr(dials, field.name) for field in dataclasses.fields(dials)}
    return dataclasses.replace(resolve({}, "openai"), **{key: DIALS[key].type(values[key]) for key in values})  # type: ignore[arg-type]  # each value has its own dial's type


def candidate(entry: model.Entry, found_in: str, query: model.Vector | None) -> Candidate:
    return Candidate(
        found_in=found_in,
        entry=entry.id,
        scope=entry.scope,
        topic=entry.topic,
        concept=entry.concept_slug,
        title=entry.title,
        instruction=entry.instruction,
        maturity=entry.maturity,
        confidence=entry.confidence,
        similarity=similarity(entry, query),
        last_matched_at=entry.last_matched_at,
    )


def candidates(ask: Ask) -> Iterable[Candidate]:
    passes = {
        Pass.SEMANTIC: topic_pass,
        Pass.CONCEPT: concept_pass,
        Pass.TUTOR: tutor_pass,
        Pass.STUDENT: student_pass,
    }
    return [
        candidate(entry, name, ask.request.query_vector)
        for name, found in passes.items()
        for entry in found(ask)
    ]


def visible_edges(ask: Ask) -> Iterable[Walked]:
    """Every edge of the world that leads to a row in sight: what the database filters."""
    for edge in ask.world.edges:
        target = ask.world.entry(edge.target)
        if target.is_row and may_be_walked_to(target, ask.place.learner, ask.request.key):
            yield Walked(
                edge=edge.id,
                type=edge.type,
                source=edge.source,
                target=edge.target,
                target_title=target.title,
                target_instruction=target.instruction,
                target_maturity=target.maturity,
                condition=edge.condition,
                confidence=edge.confidence,
                provenance=edge.provenance,
            )


def answered(memory: tuple[model.Advisory, ...]) -> list[tuple[object, ...]]:
    return [
        (
            row.entry.id,
            row.band,
            row.found_by,
            row.expected,
            row.instruction,
            row.clipped,
            [walked.edge.id for walked in row.edges],
        )
        for row in memory
    ]


def ranked(block: tuple[ranking.Advisory, ...]) -> list[tuple[object, ...]]:
    return [
        (
            row.entry,
            row.band,
            row.found_by,
            row.expected,
            row.instruction,
            row.clipped,
            [walked.edge for walked in row.edges],
        )
        for row in block
    ]


@given(scenarios() | scenarios(hashed=True))
def test_an_answer_is_that_of_the_oracle(scenario: Scenario) -> None:
    try:
        ask = understand(scenario.world, scenario.request, scenario.dials)
    except model.RefusedError:
        assume(False)
    # Nearer than this, the last bit of a product decides.
    assume(smallest_gap(scenario.world, scenario.request, scenario.dials) > 1e-12)
    theirs = retrieve(scenario.world, scenario.request, scenario.dials)
    dials = our_dials(ask.dials)
    expected = Expected(frozenset(ask.expected.slugs), inferred=ask.expected.inferred)
    ours = rank(candidates(ask), visible_edges(ask), expected=expected, dials=dials)
    for block, memory in (
        (ours.topic, theirs.topic_memory),
        (ours.tutor, theirs.tutor_memory),
        (ours.student, theirs.student_patterns),
    ):
        assert ranked(block) == answered(memory)
        assert [row.score for row in block] == pytest.approx([row.score for row in memory])
        assert [row.decision_score for row in block] == pytest.approx([row.decision_score for row in memory])
    prompt = render(ours, dials)
    assert (prompt.text, prompt.decision_tree, prompt.edges) == (
        theirs.prompt,
        theirs.decision_tree,
        theirs.rendered_edges,
    )


@given(scenarios())
def test_the_order_of_the_concept_pass_is_that_of_the_oracle(scenario: Scenario) -> None:
    rows = list(scenario.world.entries)
    ours = [candidate(row, Pass.CONCEPT, None) for row in rows]
    assert [row.entry for row in concept_order(ours, our_dials(scenario.dials))] == [
        row.id for row in surest(rows, scenario.dials)
    ]


@given(plain_prose, st.integers(4, 80))
def test_texts_are_clipped_and_cleaned_as_by_the_oracle(text: str, limit: int) -> None:
    assert clip(text, limit) == oracle_clip(text, limit)
    assert neutralised(text) == clean(text)
