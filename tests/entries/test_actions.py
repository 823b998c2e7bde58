"""Authoring entries: identity, anchoring, an author's lift, archive and restore (rules.md 2, 8, 9)."""

from decimal import Decimal
from typing import Any

import pytest

from apps.catalog.actions import create_concept
from apps.catalog.models import Concept
from apps.core.errors import Conflict, Invalid, Refusal, Stale
from apps.core.invariants import findings
from apps.dials.queries import get_dials
from apps.entries.actions import EntryDraft, archive_entry, change_entry, create_entry, restore_entry
from apps.entries.models import Entry
from apps.rules.dials import DialValues
from tests.factories import ACTOR, NOW, make_concept, make_entry, make_topic
from tests.threads import in_threads


@pytest.fixture
def dials(db: None) -> DialValues:
    return get_dials("hash/hash-128")


def made(dials: DialValues, **given: Any) -> tuple[Entry, bool]:
    draft = EntryDraft(**{"scope": "public", "title": "T", "instruction": "I.", **given})
    return create_entry(draft=draft, dials=dials, actor=ACTOR, now=NOW)


class TestCreate:
    def test_an_alias_becomes_its_slug(self, dials: DialValues) -> None:
        concept, _ = create_concept(
            slug="nonce-reuse", title="Nonce reuse", aliases=["IV reuse"], actor=ACTOR, now=NOW
        )
        entry, created = made(dials, topic=make_topic(), concept="IV Reuse")
        assert (entry.concept_slug, entry.ladder_step, created) == (concept.slug, "exact", True)
        assert (entry.confidence, entry.maturity) == (Decimal("0.8"), "candidate")
        assert list(findings()) == []

    def test_no_concept_is_unanchored_and_loses_nothing_of_an_authors_confidence(
        self, dials: DialValues
    ) -> None:
        entry, _ = made(dials, topic=make_topic(), concept=None)
        assert (entry.concept_slug, entry.ladder_step) == ("_unanchored_", "unanchored")
        assert (entry.concept_match_quality, entry.confidence) == (Decimal("0.5"), Decimal("0.8"))

    def test_an_unknown_concept_names_the_nearest(self, dials: DialValues) -> None:
        make_concept(slug="nonce-reuse")
        with pytest.raises(Invalid, match="did you mean 'nonce-reuse'") as refusal:
            made(dials, topic=make_topic(), concept="nonce-resue")
        assert refusal.value.pointer == "/concept"

    def test_an_archived_concept_is_no_target(self, dials: DialValues) -> None:
        concept = make_concept()
        Concept.objects.filter(pk=concept.pk).update(archived_at=NOW)
        with pytest.raises(Invalid, match="names no concept"):
            made(dials, topic=make_topic(), concept=concept.slug)

    @pytest.mark.parametrize(
        ("code", "given"),
        [
            ("topic_required", {"concept": None}),
            ("scope_combination", {"scope": "visual", "concept": None}),
            ("scope_combination", {"scope": "tutor", "concept": "x", "visual": "<svg/>"}),
            ("invalid_slug", {"scope": "tutor", "concept": "Not a slug"}),
            ("blank", {"scope": "tutor", "concept": "x", "instruction": " \n"}),
        ],
    )
    def test_draft_is_refused(self, dials: DialValues, code: str, given: dict[str, Any]) -> None:
        with pytest.raises(Refusal) as refusal:
            made(dials, **given)
        assert refusal.value.code == code
        assert not Entry.objects.exists()

    def test_again_is_the_same_row(self, dials: DialValues) -> None:
        first, _ = made(dials, scope="tutor", concept="ask-why")
        again, created = made(dials, scope="tutor", concept="ask-why", topic=make_topic())
        assert (again.pk, created) == (first.pk, False)

    def test_a_taken_identity_says_whose(self, dials: DialValues) -> None:
        first, _ = made(dials, scope="tutor", concept="ask-why")
        with pytest.raises(Conflict) as refusal:
            made(dials, scope="tutor", concept="ask-why", instruction="Another.")
        assert (refusal.value.code, refusal.value.extra) == ("exists", {"id": str(first.pk)})

    def test_an_archived_identity_is_kept(self, dials: DialValues) -> None:
        first, _ = made(dials, scope="tutor", concept="ask-why")
        archive_entry(entry=first, actor=ACTOR, now=NOW)
        with pytest.raises(Conflict) as refusal:
            made(dials, scope="tutor", concept="ask-why")
        assert refusal.value.code == "archived"


class TestChange:
    def test_an_edit_lifts_what_fell_below_its_floor(self, dials: DialValues) -> None:
        entry = make_entry(confidence=Decimal("0.75"))
        fallen = change_entry(
            entry=entry, changes={"confidence": Decimal("0.2")}, dials=dials, actor=ACTOR, now=NOW
        )
        assert fallen.confidence == Decimal("0.2")
        lifted = change_entry(entry=entry, changes={"title": "Better"}, dials=dials, actor=ACTOR, now=NOW)
        assert (lifted.confidence, lifted.title) == (Decimal("0.7"), "Better")
        assert list(findings()) == []

    def test_an_edit_does_not_lift_what_never_stood_there(self, dials: DialValues) -> None:
        entry = make_entry(confidence=Decimal("0.5"))
        changed = change_entry(entry=entry, changes={"title": "Better"}, dials=dials, actor=ACTOR, now=NOW)
        assert changed.confidence == Decimal("0.5")

    def test_a_taken_identity_is_refused_and_nothing_changes(self, dials: DialValues) -> None:
        topic = make_topic()
        one, two = make_entry(topic=topic), make_entry(topic=topic)
        with pytest.raises(Conflict) as refusal:
            change_entry(
                entry=one,
                changes={"concept": two.concept_slug, "title": "New"},
                dials=dials,
                actor=ACTOR,
                now=NOW,
            )
        assert refusal.value.extra == {"id": str(two.pk)}
        one.refresh_from_db()
        assert one.title != "New"

    def test_what_is_retired_is_not_changed(self, dials: DialValues) -> None:
        for entry in (make_entry(maturity="archived"), make_entry(superseded_at=NOW)):
            with pytest.raises(Conflict, match="only a row"):
                change_entry(entry=entry, changes={"title": "x"}, dials=dials, actor=ACTOR, now=NOW)

    def test_a_change_decided_on_an_older_version_is_refused(self, dials: DialValues) -> None:
        entry = make_entry()
        given: dict[str, Any] = {"entry": entry, "expected_version": 1, "actor": ACTOR, "now": NOW}
        change_entry(changes={"title": "First"}, dials=dials, **given)
        with pytest.raises(Stale) as refusal:
            change_entry(changes={"title": "Second"}, dials=dials, **given)
        assert refusal.value.extra == {"version": 2}
        with pytest.raises(Stale):
            archive_entry(**given)
        entry.refresh_from_db()
        assert (entry.title, entry.maturity) == ("First", "candidate")


class TestArchive:
    def test_and_restore_at_the_candidate_floor_at_least(self, dials: DialValues) -> None:
        weak, strong = make_entry(confidence=Decimal("0.1")), make_entry(confidence=Decimal("0.9"))
        for entry, confidence in ((weak, "0.7"), (strong, "0.9")):
            for _ in range(2):
                archived = archive_entry(entry=entry, actor=ACTOR, now=NOW)
            assert (archived.maturity, archived.archived_at) == ("archived", NOW)
            for _ in range(2):
                restored = restore_entry(entry=entry, dials=dials, actor=ACTOR, now=NOW)
            assert (restored.maturity, restored.confidence) == ("candidate", Decimal(confidence))
        assert list(findings()) == []


@pytest.mark.django_db(transaction=True)
def test_fifty_identical_writes_leave_one_row() -> None:
    dials = get_dials("hash/hash-128")
    topic, concept = make_topic(), make_concept().slug
    results = in_threads(50, lambda: made(dials, topic=topic, concept=concept))
    answers = [result for result in results if not isinstance(result, BaseException)]
    assert [r for r in results if isinstance(r, BaseException)] == []
    assert sum(created for _, created in answers) == 1
    assert len({entry.pk for entry, _ in answers}) == Entry.objects.count() == 1
    assert list(findings()) == []
