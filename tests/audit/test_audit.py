"""Every change is audited, whatever its road, and the audit cannot be changed (rules.md 11)."""

import datetime as dt
from uuid import uuid4

import pytest
from django.db import ProgrammingError, connection, transaction

from apps.audit.context import audited_as
from apps.audit.models import AuditEvent, AuditImage
from apps.core.actors import Actor
from apps.entries.models import Entry
from tests.factories import ACTOR, NOW, make_entry, make_learner, make_topic

pytestmark = pytest.mark.django_db

ALICE = Actor("user", "alice")


def of(kind: str) -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(target_kind=kind).order_by("id").select_related("image"))


def test_event_says_who_what_when_why_and_in_which_run() -> None:
    run = uuid4()
    with audited_as(actor=ALICE, verb="topic.create", now=NOW, reason="needed", run=run):
        topic = make_topic()
    (event,) = of("topic")
    assert (event.actor, event.verb, event.target_id) == ("user:alice", "topic.create", str(topic.pk))
    assert (event.at, event.run, event.image.reason) == (NOW, run, "needed")
    assert event.image.before is None
    assert (event.image.after or {})["slug"] == topic.slug


def test_bulk_and_raw_writes_are_seen() -> None:
    entries = [make_entry() for _ in range(3)]
    with audited_as(actor=ALICE, verb="entry.retitle", now=NOW):
        Entry.objects.filter(pk__in=[entry.pk for entry in entries]).update(title="New")
        with connection.cursor() as cursor:
            cursor.execute("UPDATE entries_entry SET title = 'Newer' WHERE id = %s", [entries[0].pk])
    changes = [event for event in of("entry") if event.verb == "entry.retitle"]
    assert len(changes) == 4
    image = changes[-1].image
    assert [(side or {})["title"] for side in (image.before, image.after)] == ["New", "Newer"]


def test_a_write_without_a_context_is_seen_too() -> None:
    make_topic()
    assert [(event.actor, event.verb) for event in of("topic")] == [("database", "created")]


def test_counters_and_equal_values_are_not_audited() -> None:
    entry = make_entry()
    before = AuditEvent.objects.count()
    Entry.objects.filter(pk=entry.pk).update(
        match_count=5, title=entry.title, updated_at=NOW + dt.timedelta(days=1)
    )
    assert AuditEvent.objects.count() == before


def test_contexts_nest_and_end() -> None:
    with audited_as(actor=ALICE, verb="outer", now=NOW):
        with audited_as(actor=ACTOR, verb="inner", now=NOW, reason="inside"):
            make_topic()
        make_topic()
    make_topic()
    assert [event.verb for event in of("topic")] == ["inner", "outer", "created"]
    assert [event.image.reason for event in of("topic")] == ["inside", "", ""]


def test_a_student_row_carries_its_subject() -> None:
    make_learner("ada")
    make_entry(visibility_scope="student:ada")
    make_entry()
    subjects = [event.image.subject for event in of("entry")]
    assert subjects == ["student:ada", ""]


@pytest.mark.parametrize("table", ["audit_auditevent", "audit_auditimage"])
@pytest.mark.parametrize("statement", ["UPDATE {} SET id = id", "DELETE FROM {}", "TRUNCATE {} CASCADE"])
def test_the_audit_is_append_only(table: str, statement: str) -> None:
    make_topic()
    with pytest.raises(ProgrammingError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL lode.flush = ''; SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(statement.format(table))


def test_erasing_one_subject_takes_its_images_alone() -> None:
    for learner in ("1", "10"):
        make_learner(learner)
        make_entry(visibility_scope=f"student:{learner}")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL lode.erase_subject = 'student:1'")
        cursor.execute("DELETE FROM audit_auditimage WHERE subject = 'student:1'")
    assert not AuditImage.objects.filter(subject="student:1").exists()
    assert AuditImage.objects.filter(subject="student:10").exists()
    with pytest.raises(ProgrammingError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL lode.erase_subject = 'student:1'")
        cursor.execute("DELETE FROM audit_auditimage WHERE subject = 'student:10'")
