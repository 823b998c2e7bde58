"""Authoring topics and concepts (api.md, Curriculum)."""

from typing import Any

import pytest
from django.db import connection

from apps.catalog.actions import archive, change_concept, change_topic, create_concept, create_topic, restore
from apps.catalog.models import Concept, Topic
from apps.core.errors import Conflict, Invalid, Stale
from apps.core.invariants import findings
from tests.factories import ACTOR, NOW, make_concept, make_entry, make_topic
from tests.threads import in_threads

pytestmark = pytest.mark.django_db


def concept(slug: str, **given: Any) -> tuple[Concept, bool]:
    return create_concept(**{"slug": slug, "title": slug.title(), "actor": ACTOR, "now": NOW, **given})


def test_a_topic_is_made_once() -> None:
    made = [create_topic(slug="crypto", title="Crypto", actor=ACTOR, now=NOW) for _ in range(2)]
    assert [created for _, created in made] == [True, False]
    with pytest.raises(Conflict) as refusal:
        create_topic(slug="crypto", title="Other", actor=ACTOR, now=NOW)
    assert refusal.value.extra == {"id": made[0][0].pk}


def test_what_is_no_slug_names_one_that_is() -> None:
    with pytest.raises(Invalid, match="'web-security' would be one"):
        create_topic(slug="Web Security", title="Web", actor=ACTOR, now=NOW)


def test_a_taken_topic_slug_is_refused() -> None:
    one, two = make_topic(slug="one"), make_topic(slug="two")
    with pytest.raises(Conflict):
        change_topic(topic=one, changes={"slug": two.slug}, actor=ACTOR, now=NOW)
    assert change_topic(topic=one, changes={"title": "New"}, actor=ACTOR, now=NOW).version == 2


def test_aliases_are_names() -> None:
    made, _ = concept("nonce-reuse", aliases=["IV reuse", "Nonce reuse"])
    assert set(made.names.values_list("slug", "is_canonical")) == {("nonce-reuse", True), ("iv-reuse", False)}
    assert concept("nonce-reuse", aliases=["IV reuse"])[1] is False
    with pytest.raises(Conflict, match="another content"):
        concept("nonce-reuse", aliases=[])


def test_a_name_belongs_to_one_concept() -> None:
    concept("nonce-reuse", aliases=["IV reuse"])
    for slug, aliases in (("iv-reuse", []), ("other", ["IV reuse"]), ("other", ["Nonce reuse"])):
        with pytest.raises(Conflict) as refusal:
            concept(slug, aliases=aliases)
        assert refusal.value.code == "name_taken"
    assert Concept.objects.count() == 1


def test_an_alias_without_a_usable_name_is_refused() -> None:
    with pytest.raises(Invalid, match="no letter or digit"):
        concept("nonce", aliases=["..."])


def test_a_renamed_concept_takes_its_entries_along() -> None:
    made = make_concept()
    entry = make_entry(concept_slug=made.slug)
    change_concept(concept=made, changes={"slug": "renamed", "aliases": ["Old name"]}, actor=ACTOR, now=NOW)
    connection.check_constraints()
    entry.refresh_from_db()
    assert entry.concept_slug == "renamed"
    assert set(made.names.values_list("slug", flat=True)) == {"renamed", "old-name"}
    assert list(findings()) == []


def test_archive_and_restore_are_repeatable() -> None:
    topic, made = make_topic(), make_concept()
    for _ in range(2):
        assert archive(row=topic, actor=ACTOR, now=NOW).archived_at == NOW
        assert archive(row=made, actor=ACTOR, now=NOW).archived_at == NOW
    for _ in range(2):
        assert restore(row=topic, actor=ACTOR, now=NOW).archived_at is None
        assert restore(row=made, actor=ACTOR, now=NOW).archived_at is None


@pytest.mark.django_db(transaction=True)
def test_twenty_identical_writes_leave_one_topic_and_one_concept() -> None:
    topics = in_threads(20, lambda: create_topic(slug="t", title="T", actor=ACTOR, now=NOW))
    concepts = in_threads(20, lambda: concept("c", aliases=["d"]))
    for results in (topics, concepts):
        assert [result for result in results if isinstance(result, BaseException)] == []
    assert (Topic.objects.count(), Concept.objects.count()) == (1, 1)


class TestStale:
    def test_a_topic(self) -> None:
        topic = make_topic()
        change_topic(topic=topic, changes={"title": "First"}, expected_version=1, actor=ACTOR, now=NOW)
        with pytest.raises(Stale) as refusal:
            change_topic(topic=topic, changes={"title": "Second"}, expected_version=1, actor=ACTOR, now=NOW)
        assert refusal.value.extra == {"version": 2}
        with pytest.raises(Stale):
            archive(row=topic, expected_version=1, actor=ACTOR, now=NOW)
        topic.refresh_from_db()
        assert (topic.title, topic.archived_at) == ("First", None)

    def test_a_concept(self) -> None:
        made, _ = concept("nonce-reuse")
        change_concept(concept=made, changes={"title": "First"}, expected_version=1, actor=ACTOR, now=NOW)
        with pytest.raises(Stale):
            change_concept(
                concept=made, changes={"title": "Second"}, expected_version=1, actor=ACTOR, now=NOW
            )
        with pytest.raises(Stale):
            restore(row=made, expected_version=1, actor=ACTOR, now=NOW)

    def test_a_change_of_aliases_counts_as_one_of_the_concept(self) -> None:
        made, _ = concept("nonce-reuse", aliases=["IV reuse"])
        again = change_concept(concept=made, changes={"aliases": ["IV reuse"]}, actor=ACTOR, now=NOW)
        assert again.version == 1
        more = change_concept(
            concept=made, changes={"aliases": ["IV reuse", "Same nonce"]}, actor=ACTOR, now=NOW
        )
        assert more.version == 2
