"""The database refuses what the rules of identity forbid, and takes what they allow (rules.md 1, 2)."""

import hashlib
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from apps.entries.models import Entry, EntryLedger, EntryObservation, EntryVector
from tests.factories import NOW, make_concept, make_entry, make_learner, make_space, make_topic

pytestmark = pytest.mark.django_db


def refused(constraint: str, **given: Any) -> None:
    """Assert that the database refuses such an entry, and for that reason."""
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        make_entry(**given)
        connection.check_constraints()


class TestIdentityOf:
    def test_a_topic_fact(self) -> None:
        one = make_entry()
        same = {"topic": one.topic, "concept_slug": one.concept_slug}
        refused("identity_topic_fact", **same)
        make_entry(topic=make_topic(), concept_slug=one.concept_slug)
        make_entry(topic=one.topic)
        make_entry(**same, superseded_at=NOW)

    def test_a_student_pattern_whatever_its_topic(self) -> None:
        make_learner("ada")
        make_entry(visibility_scope="student:ada", concept_slug="draws-first", topic=make_topic())
        refused("identity_student_pattern", visibility_scope="student:ada", concept_slug="draws-first")
        make_learner("bob")
        make_entry(visibility_scope="student:bob", concept_slug="draws-first")

    def test_a_visual(self) -> None:
        one = make_entry(visibility_scope="visual")
        refused(
            "identity_visual", visibility_scope="visual", concept_slug=one.concept_slug, topic=make_topic()
        )
        make_entry(visibility_scope="visual")

    def test_a_tutor_move_whatever_its_topic(self) -> None:
        make_entry(visibility_scope="tutor", concept_slug="ask-why")
        refused("identity_tutor_move", visibility_scope="tutor", concept_slug="ask-why", topic=make_topic())
        make_entry(visibility_scope="tutor", concept_slug="ask-how")

    def test_a_keyed_fact_without_a_topic(self) -> None:
        make_learner("ada")
        fact = {"visibility_scope": "student:ada", "concept_slug": "_unanchored_", "fact_key": "exam-date"}
        make_entry(**fact)
        refused("identity_keyed_fact", **fact)
        make_entry(**fact, superseded_at=NOW)

    def test_an_unnamed_text_without_a_topic(self) -> None:
        text = {"visibility_scope": "tutor", "concept_slug": "_unanchored_", "title": "t", "instruction": "i"}
        make_entry(**text)
        refused("identity_unnamed_text", **text)
        make_entry(**{**text, "instruction": "other"})

    def test_unanchored_rows_are_in_none_of_the_named_indexes(self) -> None:
        topic = make_topic()
        for _ in range(2):
            make_entry(topic=topic, concept_slug="_unanchored_")


class TestShape:
    @pytest.mark.parametrize(
        "scope",
        [
            "Public",
            "student:",
            "student:1:2",
            "student:%",
            "student:_x",
            "student:" + "a" * 101,
            "",
            "tutor ",
        ],
    )
    def test_scope_is_refused(self, scope: str) -> None:
        refused("entry_scope_shape", visibility_scope=scope, topic=None)

    @pytest.mark.parametrize("learner", ["1", "A.b_c@d-e", "a" * 100])
    def test_scope_is_taken(self, learner: str) -> None:
        make_learner(learner)
        assert make_entry(visibility_scope=f"student:{learner}").learner_key == learner
        connection.check_constraints()

    def test_public_needs_a_topic(self) -> None:
        refused("entry_public_has_topic", topic=None)

    def test_a_keyed_fact_has_a_topic_in_public_alone(self) -> None:
        make_learner("ada")
        refused(
            "entry_keyed_topic_only_public", visibility_scope="student:ada", fact_key="k", topic=make_topic()
        )
        make_entry(fact_key="k")

    def test_a_drawing_stands_in_visual_and_only_there(self) -> None:
        refused("entry_drawing_iff_visual", visual="<svg/>")
        refused("entry_drawing_iff_visual", visibility_scope="visual", visual=None)

    @pytest.mark.parametrize("value", ["-0.000001", "1.000001"])
    def test_confidence_out_of_bounds(self, value: str) -> None:
        refused("entry_confidence_bounds", confidence=Decimal(value))

    @pytest.mark.parametrize("value", ["0", "1"])
    def test_confidence_at_its_bounds(self, value: str) -> None:
        make_entry(confidence=Decimal(value))

    @pytest.mark.parametrize("slug", ["two words", "", "under_score", "a/b"])
    def test_slug_is_refused(self, slug: str) -> None:
        refused("entry_slug_shape", visibility_scope="tutor", concept_slug=slug)

    @pytest.mark.parametrize(
        ("constraint", "given"),
        [
            ("entry_maturity_known", {"maturity": "ripe"}),
            ("entry_provenance_known", {"source_type": "rumour"}),
            ("entry_source_known", {"source": "nobody"}),
            ("entry_ladder_step_known", {"ladder_step": "guess"}),
            ("entry_unanchored_step", {"concept_slug": "_unanchored_", "ladder_step": "exact"}),
            ("entry_has_instruction", {"instruction": ""}),
            ("entry_importance_bounds", {"importance": Decimal("1.001")}),
            ("entry_match_quality_bounds", {"concept_match_quality": Decimal("1.001")}),
            ("entry_archived_has_time", {"archived_at": NOW}),
            ("entry_archived_has_time", {"maturity": "archived", "archived_at": None}),
            ("entry_fact_key_not_empty", {"fact_key": ""}),
        ],
    )
    def test_value_is_refused(self, constraint: str, given: dict[str, Any]) -> None:
        refused(constraint, **given)

    def test_a_successor_comes_with_its_time(self) -> None:
        newer = make_entry()
        refused("entry_superseded_has_time", superseded_by=newer)
        make_entry(superseded_by=newer, superseded_at=NOW)

    def test_its_scope_is_for_ever(self) -> None:
        entry = make_entry(visibility_scope="tutor")
        with pytest.raises(IntegrityError, match="keeps its scope"), transaction.atomic():
            Entry.objects.filter(pk=entry.pk).update(visibility_scope="public")


class TestReferences:
    @pytest.mark.parametrize("scope", ["public", "visual"])
    def test_a_shared_slug_names_a_concept(self, scope: str) -> None:
        refused("entry_names_a_concept", visibility_scope=scope, concept_slug="nobody-knows")

    def test_other_slugs_are_names_of_their_own(self) -> None:
        make_learner("ada")
        make_entry(visibility_scope="tutor", concept_slug="own-name")
        make_entry(visibility_scope="student:ada", concept_slug="own-name")
        connection.check_constraints()

    def test_a_student_scope_names_a_learner(self) -> None:
        refused("entry_scope_names_a_learner", visibility_scope="student:nobody")

    def test_entries_follow_a_renamed_concept(self) -> None:
        concept = make_concept()
        entry = make_entry(concept_slug=concept.slug)
        concept.slug = "renamed"
        concept.save()
        connection.check_constraints()
        entry.refresh_from_db()
        assert (entry.concept_slug, entry.anchor_slug) == ("renamed", "renamed")

    def test_a_concept_that_entries_name_stays(self) -> None:
        entry = make_entry()
        with pytest.raises(IntegrityError, match="entry_names_a_concept"), transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("DELETE FROM catalog_conceptname WHERE slug = %s", [entry.concept_slug])
                cursor.execute("DELETE FROM catalog_concept WHERE slug = %s", [entry.concept_slug])
            connection.check_constraints()


class TestText:
    def test_hash_is_of_title_instruction_and_detail(self) -> None:
        entry = make_entry(title="a", instruction="b", detail="c")
        assert entry.text_hash == hashlib.sha256(b"a\nb\nc").hexdigest()
        Entry.objects.filter(pk=entry.pk).update(text_hash="forged", detail="d")
        entry.refresh_from_db()
        assert entry.text_hash == hashlib.sha256(b"a\nb\nd").hexdigest()


class TestVectors:
    def vector(self, components: list[float], **given: Any) -> EntryVector:
        entry = given.pop("entry", None) or make_entry()
        space = given.pop("space", None) or make_space(dimensions=len(components))
        defaults = {"dimensions": len(components), "text_hash": entry.text_hash, "created_at": NOW}
        vector = EntryVector.objects.create(
            **{
                "entry": entry,
                "space": space,
                "visibility_scope": "public",
                "embedding": components,
                **defaults,
                **given,
            }
        )
        connection.check_constraints()
        return vector

    def test_of_length_one_is_taken(self) -> None:
        self.vector([0.6, 0.8])

    @pytest.mark.parametrize("components", [[0.0, 0.0], [0.5, 0.5], [2.0, 0.0], [3e38, 3e38]])
    def test_of_another_norm_is_refused(self, components: list[float]) -> None:
        with pytest.raises(IntegrityError, match="entryvector_norm"), transaction.atomic():
            self.vector(components)

    def test_of_another_length_than_it_says_is_refused(self) -> None:
        with pytest.raises(IntegrityError, match="entryvector_length"), transaction.atomic():
            self.vector([1.0, 0.0], dimensions=3)

    def test_of_another_length_than_its_space_is_refused(self) -> None:
        with pytest.raises(IntegrityError, match="space_length"), transaction.atomic():
            self.vector([1.0, 0.0], space=make_space(dimensions=3))

    def test_of_one_chunk_and_space_is_one(self) -> None:
        first = self.vector([1.0, 0.0])
        with pytest.raises(IntegrityError, match="entry_vector_once"), transaction.atomic():
            self.vector([0.0, 1.0], entry=first.entry, space=first.space)
        self.vector([0.0, 1.0], entry=first.entry, space=first.space, chunk=1)


class TestLedger:
    def row(self, entry: Entry, **given: Any) -> EntryLedger:
        return EntryLedger.objects.create(
            **{"entry": entry, "kind": "set", "before": 1, "after": 1, "at": NOW, **given}
        )

    @pytest.mark.parametrize(
        ("constraint", "given"),
        [
            ("kind_known", {"kind": "whim"}),
            ("after_bounds", {"after": Decimal("1.1")}),
            ("initial_is_first", {"before": None}),
            ("initial_is_first", {"kind": "initial"}),
            ("entry_ledger_begins_once", {"kind": "initial", "before": None}),
        ],
    )
    def test_row_is_refused(self, constraint: str, given: dict[str, Any]) -> None:
        entry = make_entry()
        with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
            self.row(entry, **given)

    def test_grades_once_a_turn(self) -> None:
        entry = make_entry()
        self.row(entry, kind="grade", turn=1)
        self.row(entry, kind="grade", turn=2)
        with pytest.raises(IntegrityError, match="entry_graded_once_a_turn"), transaction.atomic():
            self.row(entry, kind="grade", turn=2)


class TestObservations:
    def observe(self, entry: Entry, **given: Any) -> None:
        day = {"observed_on": NOW.date(), "observed_at": NOW, "actor": "key:a"}
        EntryObservation.objects.create(**{"entry": entry, **day, **given})

    def test_once_a_session(self) -> None:
        entry, session = make_entry(), make_entry().pk
        self.observe(entry, session=session)
        with pytest.raises(IntegrityError, match="entry_observed_once_a_session"), transaction.atomic():
            self.observe(entry, session=session)

    def test_once_a_day_without_a_session(self) -> None:
        entry = make_entry()
        self.observe(entry)
        self.observe(entry, actor="key:b")
        with pytest.raises(IntegrityError, match="entry_observed_once_a_day"), transaction.atomic():
            self.observe(entry)
