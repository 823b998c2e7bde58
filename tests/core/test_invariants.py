"""Each invariant finds what breaks it, and an intact database breaks none."""

import re
from collections.abc import Callable
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from apps.catalog.models import ConceptVector
from apps.core.invariants import findings, invariants
from apps.entries.models import EntryVector
from apps.tutoring.models import Retrieval, Turn
from tests.factories import NOW, make_concept, make_edge, make_entry, make_learner, make_session, make_space

pytestmark = pytest.mark.django_db


def run(sql: str) -> None:
    """Run ``sql`` with the triggers of the tables that it names out of the way."""
    tables = sorted(set(re.findall(r"\b(?:audit|catalog|entries|edges)_[a-z]+\b", sql)))
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        cursor.execute(sql)
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


def drop(table: str, constraint: str) -> None:
    """Take a constraint away for the rest of the test's transaction."""
    run(f"ALTER TABLE {table} DROP CONSTRAINT {constraint}")


def two_serving_spaces() -> None:
    run("DROP INDEX one_space_serves")
    make_space()
    make_space(model="other")


def a_vector_of_another_scope() -> None:
    entry, space = make_entry(), make_space(dimensions=2)
    EntryVector.objects.create(
        entry=entry, space=space, dimensions=2, visibility_scope="tutor", embedding=[0.6, 0.8], created_at=NOW
    )


def a_long_vector() -> None:
    drop("entries_entryvector", "entryvector_norm")
    entry, space = make_entry(), make_space(dimensions=2)
    EntryVector.objects.create(
        entry=entry, space=space, dimensions=2, visibility_scope="public", embedding=[3, 4], created_at=NOW
    )


def a_long_vector_of_a_name() -> None:
    drop("catalog_conceptvector", "conceptvector_norm")
    name, space = make_concept().names.get(), make_space(dimensions=2)
    ConceptVector.objects.create(
        concept_name=name, space=space, dimensions=2, embedding=[3, 4], created_at=NOW
    )


def two_values_of_one_key() -> None:
    run("DROP INDEX identity_keyed_fact")
    topic = make_entry().topic
    for _ in range(2):
        make_entry(topic=topic, fact_key="k")


def a_slug_without_a_concept() -> None:
    make_entry()
    drop("entries_entry", "entry_names_a_concept")
    run("DELETE FROM catalog_conceptname; DELETE FROM catalog_concept")


def an_edge_between_learners() -> None:
    for learner in ("a", "b"):
        make_learner(learner)
    edge = make_edge(source=make_entry(visibility_scope="student:a"))
    other = make_entry(visibility_scope="student:b")
    run(f"UPDATE edges_edge SET target_id = '{other.pk}' WHERE id = {edge.pk}")


def a_gap_between_turns() -> None:
    Turn.objects.create(session=make_session(), number=2, student_message="?", created_at=NOW)


def a_retrieval_of_another_session() -> None:
    asked = {"request": {}, "response": {}, "space": "s", "dials_version": 0, "created_at": NOW}
    retrieval = Retrieval.objects.create(session=uuid4(), **asked)
    Turn.objects.create(
        session=make_session(), number=1, student_message="?", retrieval=retrieval, created_at=NOW
    )


def a_rendered_stranger() -> None:
    asked = {"request": {}, "response": {}, "space": "s", "dials_version": 0, "created_at": NOW}
    Retrieval.objects.create(rendered_entries=[uuid4()], **asked)


def a_rendered_edge_that_nobody_walked() -> None:
    asked = {"request": {}, "response": {}, "space": "s", "dials_version": 0, "created_at": NOW}
    Retrieval.objects.create(rendered_edges=[1], **asked)


def sql(statement: str, make: Callable[[], object] = make_entry) -> Callable[[], None]:
    def breaker() -> None:
        make()
        run(statement)

    return breaker


BREAKERS: dict[str, Callable[[], None]] = {
    "every_event_has_an_image": sql("DELETE FROM audit_auditimage"),
    "every_image_shows_a_change": sql("UPDATE audit_auditimage SET before = after"),
    "one_space_serves": two_serving_spaces,
    "concept_vector_agrees_with_its_space": a_long_vector_of_a_name,
    "concept_has_its_canonical_name": sql("UPDATE catalog_conceptname SET name = 'x'", make_concept),
    "entry_ledger_gives_confidence": sql("UPDATE entries_entry SET confidence = 0.5"),
    "entry_ledger_is_a_chain": sql("UPDATE entries_entryledger SET kind = 'set', before = 0.1"),
    "one_current_value_per_key": two_values_of_one_key,
    "anchored_entry_names_a_concept": a_slug_without_a_concept,
    "entry_text_hash_is_of_its_text": sql("UPDATE entries_entry SET text_hash = 'x'"),
    "superseded_chain_ends_in_its_key": sql(
        "UPDATE entries_entry SET superseded_at = now(), superseded_by_id = id, fact_key = 'a';"
        "UPDATE entries_entry SET superseded_by_id = (SELECT id FROM entries_entry ORDER BY id LIMIT 1);"
        "UPDATE entries_entry SET fact_key = 'b' WHERE id <> superseded_by_id",
        lambda: [make_entry(), make_entry()],
    ),
    "vector_agrees_with_its_entry": a_vector_of_another_scope,
    "vector_is_normal": a_long_vector,
    "edge_ledger_gives_confidence": sql("UPDATE edges_edge SET confidence = 0.5", make_edge),
    "edge_ledger_is_a_chain": sql("UPDATE edges_edgeledger SET kind = 'set', before = 0.1", make_edge),
    "hit_count_is_its_sessions": sql("UPDATE edges_edge SET hit_count = 2", make_edge),
    "no_edge_between_two_learners": an_edge_between_learners,
    "turns_count_without_gaps": a_gap_between_turns,
    "turn_used_a_retrieval_of_its_own": a_retrieval_of_another_session,
    "rendered_entries_were_matched": a_rendered_stranger,
    "rendered_edges_were_walked": a_rendered_edge_that_nobody_walked,
}


def test_every_invariant_is_shown_to_fail() -> None:
    assert {invariant.name for invariant in invariants()} == set(BREAKERS)


def test_every_invariant_says_what_it_is_about() -> None:
    assert all(invariant.about for invariant in invariants())


@pytest.mark.parametrize("name", BREAKERS)
def test_a_broken_invariant_shows_its_rows(name: str) -> None:
    BREAKERS[name]()
    found = {finding.invariant.name: finding.rows for finding in findings()}
    assert found.get(name)


def test_an_intact_database_breaks_none() -> None:
    make_edge()
    make_session()
    assert list(findings()) == []
    out = StringIO()
    call_command("verify_invariants", stdout=out)
    assert "invariants hold" in out.getvalue()


def test_the_command_fails_and_shows_the_rows() -> None:
    edge = make_edge()
    run("UPDATE edges_edge SET hit_count = 7")
    out = StringIO()
    with pytest.raises(CommandError, match="1 of"):
        call_command("verify_invariants", stdout=out)
    assert f"'id': {edge.pk}, 'hit_count': 7" in out.getvalue()
