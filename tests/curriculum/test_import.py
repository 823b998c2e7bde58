"""Importing: all or nothing, by identity, and the same twice (curriculum.md)."""

from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from apps.audit.models import AuditEvent
from apps.core.errors import Invalid
from apps.core.invariants import findings
from apps.curriculum.bundle.sources import of_bytes
from apps.curriculum.demo.loading import load_demo
from apps.dials.queries import get_dials
from apps.edges.models import Edge
from apps.entries.models import Entry
from apps.tutoring.models import TutoringSession
from tests.curriculum.bundles import TOPIC, WHOLE, bundle, concept, demo, entry, imported, needs
from tests.factories import ACTOR, NOW

pytestmark = pytest.mark.django_db


def refused(**sections: Any) -> list[tuple[str, str]]:
    with pytest.raises(Invalid) as refusal:
        imported(bundle(**sections))
    assert not Entry.objects.exists()
    return [(problem.pointer, problem.code) for problem in refusal.value.errors]


class TestTheDemo:
    def test_imports_whole_and_twice_changes_nothing(self) -> None:
        first, again = imported(*demo()), imported(*demo())
        assert first.created > 1000
        assert (again.created, again.changed, again.unchanged) == (0, 0, first.created)
        assert list(findings()) == []

    def test_loads_once_with_what_its_sessions_taught(self) -> None:
        dials = get_dials("hash/hash-128")
        loaded = load_demo(dials=dials, actor=ACTOR, now=NOW, run=uuid4())
        assert loaded is not None
        assert load_demo(dials=dials, actor=ACTOR, now=NOW, run=uuid4()) is None
        assert TutoringSession.objects.count() == loaded.sessions == 6
        learned = Edge.objects.filter(source_type="learned")
        corroborated = learned.filter(confidence=Decimal("0.6"))
        assert corroborated.count() == 3
        assert all(edge.hit_count >= 3 for edge in corroborated)
        assert list(findings()) == []


class TestAnImport:
    def test_makes_what_is_new_and_leaves_what_is_the_same(self) -> None:
        report = imported(bundle(**WHOLE))
        assert (report.created, report.changed) == (8, 0)
        again = imported(bundle(**WHOLE))
        assert (again.created, again.changed, again.unchanged) == (0, 0, 8)
        assert {edge.confidence for edge in Edge.objects.all()} == {Decimal("0.8")}
        assert list(findings()) == []

    def test_is_audited_under_its_run(self) -> None:
        report = imported(bundle(**WHOLE))
        events = AuditEvent.objects.filter(run=report.run)
        assert set(events.values_list("verb", flat=True)) == {"curriculum.import"}
        assert {"entry", "edge", "topic", "concept"} <= set(events.values_list("target_kind", flat=True))

    def test_changes_what_is_stated_and_leaves_what_is_null(self) -> None:
        imported(bundle(**WHOLE))
        change = {
            "topics": [TOPIC],
            "entries": [entry("a", title=None, instruction="Better.", confidence=0.6)],
        }
        report = imported(bundle(**change))
        assert report.changed == 1
        changed = Entry.objects.get(concept_slug="a")
        assert (changed.title, changed.instruction, changed.confidence) == (
            "About a",
            "Better.",
            Decimal("0.6"),
        )
        assert list(changed.ledger.values_list("kind", flat=True).order_by("id")) == ["initial", "set"]

    def test_a_dry_run_says_field_by_field_and_writes_nothing(self) -> None:
        imported(bundle(**WHOLE))
        events = AuditEvent.objects.count()
        report = imported(bundle(entries=[entry("a", instruction="Better.")]), dry_run=True)
        ((change,),) = ([row.fields for row in report.changes],)
        assert [(field.field, field.before, field.after) for field in change] == [
            ("instruction", "Say so.", "Better.")
        ]
        assert AuditEvent.objects.count() == events

    def test_an_alias_stands_for_its_concept(self) -> None:
        imported(bundle(**{**WHOLE, "entries": [entry("First Letter"), entry("b")]}))
        assert Entry.objects.filter(concept_slug="a").exists()


class TestProblems:
    def test_are_all_told_at_once_with_their_places(self) -> None:
        found = refused(
            topics=[TOPIC, TOPIC],
            concepts=[concept("a"), concept("b", aliases=["A"])],
            entries=[entry("a"), entry("nowhere"), entry("b", topic="u"), entry("b", scope="student:ada")],
            edges=[needs("a", "a"), needs("a", "zzz"), needs("a", "b", type="likes")],
        )
        places = {pointer for pointer, _ in found}
        assert {
            "/topics/1/slug",
            "/concepts/1/aliases",
            "/entries/1/concept",
            "/entries/2/topic",
            "/entries/3/scope",
            "/edges/0/target",
            "/edges/1/target/concept",
            "/edges/2/type",
        } <= places

    def test_a_cycle_is_told_with_its_path(self) -> None:
        edges = [needs("a", "b"), needs("b", "c"), needs("c", "a")]
        sections = {**WHOLE, "entries": [entry("a"), entry("b"), entry("c")], "edges": edges}
        with pytest.raises(Invalid) as refusal:
            imported(bundle(**sections))
        (problem,) = refusal.value.errors
        assert (problem.code, problem.message.count(" needs ")) == ("cycle", 3)

    def test_a_cycle_that_stood_before_is_not_told_again(self) -> None:
        imported(bundle(**{**WHOLE, "entries": [entry("a"), entry("b"), entry("c")]}))
        Edge.objects.filter(source__concept_slug="a").update(confidence=Decimal("0.8"))
        assert imported(bundle(edges=[needs("b", "c")])).created == 1

    @pytest.mark.parametrize(
        "text",
        ["", "[]", "{", '{"format": "other"}', '{"topics": []}', '{"format": "lode-curriculum/1", "x": 1}'],
    )
    def test_a_document_of_another_shape_is_refused(self, text: str) -> None:
        with pytest.raises(Invalid):
            imported(of_bytes(text.encode(), "bundle.json"))
