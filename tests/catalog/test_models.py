"""One namespace of names, held by the database (rules.md 1)."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from apps.catalog.models import Concept, ConceptName, ConceptVector, Topic
from tests.factories import NOW, make_concept, make_space, make_topic

pytestmark = pytest.mark.django_db


def test_a_concept_has_its_canonical_name_from_the_first() -> None:
    concept = make_concept(slug="nonce", title="Nonce")
    (name,) = concept.names.all()
    assert (name.slug, name.name, name.is_canonical) == ("nonce", "Nonce", True)


def test_the_canonical_name_follows_slug_and_title() -> None:
    concept = make_concept()
    Concept.objects.filter(pk=concept.pk).update(slug="renamed", title="Renamed")
    (name,) = concept.names.all()
    assert (name.slug, name.name) == ("renamed", "Renamed")


def test_slugs_and_aliases_of_all_concepts_are_one_namespace() -> None:
    one, two = make_concept(slug="one"), make_concept(slug="two")
    ConceptName.objects.create(concept=one, slug="first", name="First")
    for make in (
        lambda: ConceptName.objects.create(concept=two, slug="first", name="First"),
        lambda: ConceptName.objects.create(concept=two, slug="one", name="One"),
        lambda: make_concept(slug="first"),
        lambda: Concept.objects.filter(pk=two.pk).update(slug="first"),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            make()


def test_one_canonical_name_a_concept() -> None:
    concept = make_concept()
    with pytest.raises(IntegrityError, match="one_canonical_name"), transaction.atomic():
        ConceptName.objects.create(concept=concept, slug="other", name="Other", is_canonical=True)


@pytest.mark.parametrize("make", [make_topic, make_concept])
@pytest.mark.parametrize("slug", ["", "two words", "under_score", "a/b", "tab\t"])
def test_slug_is_refused(make: Any, slug: str) -> None:
    with pytest.raises(IntegrityError, match="slug_shape"), transaction.atomic():
        make(slug=slug)


@pytest.mark.parametrize("make", [make_topic, make_concept])
def test_title_is_required(make: Any) -> None:
    with pytest.raises(IntegrityError, match="has_title"), transaction.atomic():
        make(title="")


def test_status_is_known() -> None:
    with pytest.raises(IntegrityError, match="concept_status_known"), transaction.atomic():
        make_concept(status="rumoured")
    make_concept(status="proposed")


def test_version_counts_changes_of_content_alone() -> None:
    topic = make_topic()
    Topic.objects.filter(pk=topic.pk).update(updated_at=NOW)
    topic.refresh_from_db()
    assert topic.version == 1
    Topic.objects.filter(pk=topic.pk).update(title="Another")
    topic.refresh_from_db()
    assert topic.version == 2


def test_a_name_has_one_vector_a_space_of_the_spaces_length() -> None:
    name, space = make_concept().names.get(), make_space(dimensions=2)
    given: dict[str, Any] = {"concept_name": name, "space": space, "dimensions": 2, "created_at": NOW}
    ConceptVector.objects.create(embedding=[0.6, 0.8], **given)
    with pytest.raises(IntegrityError, match="concept_vector_once"), transaction.atomic():
        ConceptVector.objects.create(embedding=[0.6, 0.8], **given)
    with pytest.raises(IntegrityError, match="conceptvector_norm"), transaction.atomic():
        ConceptVector.objects.create(embedding=[0.0, 0.0], chunk=1, **given)
