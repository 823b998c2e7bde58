"""Retrieval over twenty thousand rows: the plan of every pass, and answers held against a plain scan."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from django.db import connection
from pytest_django.plugin import DjangoDbBlocker

from apps.embeddings import indexes
from apps.retrieval import queries
from apps.retrieval.composing import composed
from apps.retrieval.queries import Found, Setting, rule_values
from apps.rules.ranking import Candidate
from benchmarks import corpus
from tests.factories import make_space
from tests.retrieval.large import DIALS, DIMENSIONS, Large, large_database
from tests.retrieval.plans import Plan

TOPIC, LEARNER = 3, 7
LARGE_TABLES = {
    "entries_entry",
    "entries_entryvector",
    "edges_edge",
    "catalog_conceptname",
    "catalog_concept",
}


@pytest.fixture(scope="module")
def large(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Large]:
    def before_statistics(setting: Setting) -> Plan:
        return plan_of_a_retrieval(setting, tutor_k=0)

    with django_db_blocker.unblock(), large_database(before_statistics) as made:
        yield made


pytestmark = pytest.mark.django_db


def retrieve_ask(**given: Any) -> dict[str, Any]:
    """The parameters of a retrieval with every pass, a session and a walk."""
    return {
        "topic": TOPIC,
        "session": str(corpus.session_id(LEARNER)),
        "learner": f"learner-{LEARNER}",
        "expected": None,
        "turn_window": 3,
        "top_k": 5,
        "fetch_k": 20,
        "tutor_k": 3,
        "student_k": 3,
        "exact_scan_max_rows": 2000,
        "concept_bonus": 1.3,
        "named_first": True,
        "clip": 401,
        "walk_k": 2,
        "walk_per_type": 2,
        "walk_min_confidence": "0.3",
        "walk_candidates": True,
        "key_topics": None,
        **rule_values(DIALS, None),
        **given,
    }


def match_ask(**given: Any) -> dict[str, Any]:
    """The parameters of a search over no scope at all."""
    return {
        "k": 5,
        "tutor_k": 0,
        "public_k": 0,
        "exact_scan_max_rows": 2000,
        "clip": 401,
        "scopes": [],
        "topics": [],
        "topic_scopes": [],
        **rule_values(DIALS, None),
        **given,
    }


def plan_of(setting: Setting, file: str, name: str, wanted: dict[str, int], ask: dict[str, Any]) -> Plan:
    text = composed(file, name, setting.literals(wanted))
    return Plan(text, queries._params(ask, query=str([1.0] * DIMENSIONS)))


def plan_of_a_retrieval(setting: Setting, **given: Any) -> Plan:
    return plan_of(setting, "retrieve.sql", "retrieve", {"tutor": 3}, retrieve_ask(**given))


def vector_index(large: Large, scope: str) -> str:
    return f"entryvector_hnsw_{scope}_{large.setting.space_id}"


class TestPlans:
    """Indexes where they are meant, scans where the filter is selective; and no table from end to end."""

    ALWAYS = {
        "entry_by_topic_concept",
        "entry_by_learner",
        "entry_vector_once",
        "edge_walk",
        "turn_once_a_number",
    }

    def retrieve(self, large: Large, **given: Any) -> Plan:
        plan = plan_of_a_retrieval(large.setting, **given)
        assert not plan.scanned & LARGE_TABLES
        assert plan.indexes >= self.ALWAYS
        return plan

    def test_of_a_retrieval_over_many_moves(self, large: Large) -> None:
        assert vector_index(large, "tutor") in self.retrieve(large).indexes

    def test_of_a_retrieval_over_few_moves(self, large: Large) -> None:
        selective = self.retrieve(large, **rule_values(DIALS, Decimal("0.9")))
        assert vector_index(large, "tutor") not in selective.indexes
        assert vector_index(large, "tutor") not in self.retrieve(large, exact_scan_max_rows=100_000).indexes

    def test_of_a_retrieval_without_moves(self, large: Large) -> None:
        assert vector_index(large, "tutor") not in self.retrieve(large, tutor_k=0).indexes

    def test_of_a_retrieval_just_after_an_import(self, large: Large) -> None:
        """Without statistics yet."""
        plan = large.plan_before_statistics
        assert not plan.scanned & LARGE_TABLES
        assert plan.indexes >= self.ALWAYS

    def test_of_a_retrieval_just_after_a_switch(self, large: Large) -> None:
        """Of the space that serves now the statistics know nothing: they say that it is empty."""
        other = make_space(state="building", model="other")
        with connection.cursor() as cursor:
            for index in indexes.indexes_of(other):
                cursor.execute(f"CREATE INDEX {index.name} {index.definition}")
        plan = plan_of_a_retrieval(large.setting._replace(space_id=other.pk))
        assert not plan.scanned & LARGE_TABLES
        vectors = {index for index in plan.indexes if "vector" in index}
        assert vectors == {"entry_vector_once", f"entryvector_hnsw_tutor_{other.pk}"}

    @pytest.mark.parametrize("scope", ["tutor", "public"])
    def test_of_a_search_over_a_large_scope(self, large: Large, scope: str) -> None:
        ask = match_ask(**{f"{scope}_k": 5})
        plan = plan_of(large.setting, "match.sql", "match", {"tutor": 5, "public": 5}, ask)
        assert {index for index in plan.indexes if "hnsw" in index} == {vector_index(large, scope)}
        assert not plan.scanned & LARGE_TABLES

    def test_of_a_search_within_a_topic(self, large: Large) -> None:
        ask = match_ask(topics=["topic-1"], topic_scopes=["public", "tutor"])
        plan = plan_of(large.setting, "match.sql", "match", {"tutor": 0, "public": 0}, ask)
        assert plan.indexes >= {"entry_by_topic_concept", "entry_vector_once"}
        assert not any("hnsw" in index for index in plan.indexes)

    def test_of_a_search_in_a_learners_scope(self, large: Large) -> None:
        ask = match_ask(scopes=["student:learner-1"])
        plan = plan_of(large.setting, "match.sql", "match", {"tutor": 0, "public": 0}, ask)
        assert plan.indexes >= {"entry_by_scope", "entry_vector_once"}
        assert not plan.scanned & LARGE_TABLES

    def test_of_a_search_by_name(self, large: Large) -> None:
        ask: dict[str, Any] = {
            "names": ["concept-5"],
            "scopes": ["public"],
            "topics": None,
            "key_topics": None,
        }
        ask |= {"k": 5, "clip": 401, **rule_values(DIALS, None)}
        plan = plan_of(large.setting, "match.sql", "match_concepts", {"tutor": 0}, ask)
        assert "entry_by_concept" in plan.indexes
        assert not plan.scanned & LARGE_TABLES

    def test_of_a_walk(self, large: Large) -> None:
        ask = {
            "start": str(corpus.entry_id(0)),
            "depth": 4,
            "types": ["related", "fallback"],
            "walk_min_confidence": "0.1",
            "walk_candidates": True,
            "walk_per_type": 5,
            "walk_limit": 8,
            "max_nodes": 200,
            "key_topics": None,
            "learner_prefix": "",
        }
        plan = plan_of(large.setting, "walk.sql", "walk", {"tutor": 0}, ask)
        assert "edge_walk" in plan.indexes
        assert not plan.scanned & LARGE_TABLES


def retrieved(large: Large, question: list[float], **given: Any) -> Found:
    return queries.retrieve(setting=large.setting, query=question, ask=retrieve_ask(**given))


def in_pass(found: Found, name: str) -> list[Candidate]:
    return [row for row in found.candidates if row.found_in == name]


def scored(rows: list[Candidate], rules: dict[str, Any]) -> list[tuple[float, Any]]:
    """Rows as ``Rows.nearest`` gives them."""
    return sorted((-(row.similarity or 0.0) * rules[f"boost_{row.maturity}"], row.entry) for row in rows)


def agree(found: list[tuple[float, Any]], expected: list[tuple[float, Any]]) -> bool:
    """Whether the ids are the same in order, and the scores to 1e-6; nearer rows than that may swap."""
    scores = np.array([score for score, _ in found]), np.array([score for score, _ in expected])
    if len(found) != len(expected) or not np.allclose(*scores, rtol=0, atol=1e-6):
        return False
    return all(
        one == other or abs(score - best) < 1e-6
        for (score, one), (best, other) in zip(found, expected, strict=True)
    )


FILTERS = [
    rule_values(DIALS, None),
    rule_values(DIALS, Decimal("0.85")),
    rule_values(DIALS, Decimal("0.949")),
    rule_values(DIALS, Decimal("0.3")) | {"boost_proven": 2.0, "boost_pattern": 1.0, "boost_candidate": 0.5},
]


# With few rows that pass, or boosts that lift rows from afar, the index proves nothing: all is scanned.
SCANNED = FILTERS[2:]


@pytest.mark.parametrize("rules", FILTERS)
class TestAnswers:
    """As a plain scan over float64 finds them."""

    def test_of_the_passes_of_a_topic_and_a_learner(self, large: Large, rules: dict[str, Any]) -> None:
        of_topic = (large.rows.scopes == "public") & (large.rows.topics == TOPIC)
        of_learner = large.rows.scopes == f"student:learner-{LEARNER}"
        for question in large.questions[:20]:
            found = retrieved(large, question, expected=[], top_k=20, **rules)
            for name, chosen, k in (("semantic", of_topic, 20), ("student", of_learner, 3)):
                expected = large.rows.nearest(question, k=k, chosen=chosen, rules=rules)
                assert agree(scored(in_pass(found, name), rules)[:k], expected)

    def test_where_few_rows_pass(self, large: Large, rules: dict[str, Any]) -> None:
        moves = large.rows.scopes == "tutor"
        for most in (0, 2000, 100_000):
            if most < (moves & large.rows.passing(rules)).sum():
                continue
            for question in large.questions[:20]:
                found = retrieved(large, question, exact_scan_max_rows=most, **rules)
                expected = large.rows.nearest(question, k=3, chosen=moves, rules=rules)
                assert agree(scored(in_pass(found, "tutor"), rules), expected)

    def test_where_many_rows_pass(self, large: Large, rules: dict[str, Any]) -> None:
        for scope, k in (("tutor", 3), ("public", 5)):
            chosen = large.rows.scopes == scope
            right = total = 0
            for question in large.questions[: 10 if rules in SCANNED else 40]:
                ask = match_ask(**{"k": k, f"{scope}_k": k, "exact_scan_max_rows": 0}, **rules)
                found = queries.match(setting=large.setting, query=question, ask=ask)
                everything = large.rows.nearest(question, k=len(chosen), chosen=chosen, rules=rules)
                scores = {entry: score for score, entry in everything}
                assert len(found) == min(k, len(everything))
                assert agree(scored(found, rules), sorted((scores[row.entry], row.entry) for row in found))
                right += len({row.entry for row in found} & {entry for _, entry in everything[:k]})
                total += len(found)
            assert right / total >= 0.99


def test_a_scope_counts_its_rows_and_not_their_chunks(large: Large) -> None:
    """Over ``exact_scan_max_rows`` by one, and not: the index is asked in the first case alone."""
    rules = rule_values(DIALS, None)
    passing = int(((large.rows.scopes == "tutor") & large.rows.passing(rules)).sum())
    for most, indexed in ((passing, False), (passing - 1, True)):
        plan = plan_of_a_retrieval(large.setting, exact_scan_max_rows=most)
        assert (vector_index(large, "tutor") in plan.indexes) is indexed


def test_extreme_filters_find_every_row_that_passes(large: Large) -> None:
    """An index that is asked for what almost nothing passes comes back short; the answer does not."""
    rules = rule_values(DIALS, Decimal("0.9499"))
    moves = large.rows.scopes == "tutor"
    passing = int((moves & large.rows.passing(rules)).sum())
    assert 0 < passing < 20
    found = queries.match(
        setting=large.setting,
        query=large.questions[0],
        ask=match_ask(k=50, tutor_k=50, exact_scan_max_rows=0, **rules),
    )
    assert len(found) == passing
