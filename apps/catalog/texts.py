"""Concepts have a vector for each of their names: the title and every alias (rules.md 3)."""

from typing import Any

from django.db.models import F, QuerySet

from apps.catalog.models import ConceptName, ConceptVector
from apps.embeddings import sources


class ConceptNameTexts(sources.TextSource):
    """Every name of every concept, archived ones too: they are few, and may come back."""

    kind = "concept-names"
    vectors = ConceptVector
    owner_field = "concept_name"

    def texts(self) -> "QuerySet[Any]":
        return ConceptName.objects.annotate(content=F("name"), content_hash=sources.TextHash("name"))


sources.register(ConceptNameTexts())
