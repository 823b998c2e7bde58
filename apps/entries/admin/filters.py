"""Filters of the list of entries."""

from typing import Any

from django.db.models import F, QuerySet

from apps.core.admin.filters import WordFilter
from apps.entries.admin import standing
from apps.entries.models import Maturity, Provenance
from apps.rules.slugs import UNANCHORED


class ScopeFilter(WordFilter):
    title = "scope"
    parameter_name = "scope"
    words = (("public", "public"), ("tutor", "tutor"), ("visual", "visual"), ("student", "of a student"))

    def narrowed(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        of_student = value == "student"
        return rows.filter(learner_key__isnull=False) if of_student else rows.filter(visibility_scope=value)


class MaturityFilter(WordFilter):
    title = "maturity"
    parameter_name = "maturity"
    words = tuple((word.value, word.value) for word in Maturity)


class ProvenanceFilter(WordFilter):
    title = "provenance"
    parameter_name = "source_type"
    words = tuple((word.value, word.value) for word in Provenance)


class FloorFilter(WordFilter):
    """Needs ``floor`` (``standing.with_floor``). Rows below it are listed for authors (rules.md 8)."""

    title = "floor"
    parameter_name = "floor"
    words = (("above", "at or above its floor"), ("below", "below its floor"))

    def narrowed(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        if value == "below":
            return standing.below_floor(rows)
        return standing.rows(rows).filter(confidence__gte=F("floor"))


class SearchFilter(WordFilter):
    """Needs ``has_vector`` (``standing.with_vector``)."""

    title = "search"
    parameter_name = "search"
    words = (
        ("found", "found by meaning"),
        ("waiting", "waiting for a vector"),
        ("archived", "archived"),
        ("superseded", "superseded"),
    )

    def narrowed(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        if value == "archived":
            return rows.filter(archived_at__isnull=False)
        if value == "superseded":
            return rows.filter(superseded_at__isnull=False)
        return standing.waiting(rows) if value == "waiting" else standing.rows(rows).filter(has_vector=True)


class AnchorFilter(WordFilter):
    title = "concept"
    parameter_name = "anchor"
    words = (("anchored", "names a concept"), ("unanchored", "unanchored"))

    def narrowed(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        if value == "unanchored":
            return standing.unanchored(rows)
        return standing.rows(rows).exclude(concept_slug=UNANCHORED)
