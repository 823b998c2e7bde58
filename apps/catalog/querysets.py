"""Chainable reads of topics and concepts."""

from typing import TYPE_CHECKING, Self

from django.db import models

if TYPE_CHECKING:
    from apps.catalog.models import Concept, Topic  # noqa: F401 - named in strings below


class TopicQuerySet(models.QuerySet["Topic"]):
    """Topics, by what the API shows of them."""

    def current(self) -> Self:
        """Those that are not archived."""
        return self.filter(archived_at__isnull=True)

    def visible_to(self, topics: list[str]) -> Self:
        """Those that a key bound to ``topics`` (slugs; none means all) may see."""
        return self.filter(slug__in=topics) if topics else self.all()


class ConceptQuerySet(models.QuerySet["Concept"]):
    """Concepts, by name."""

    def current(self) -> Self:
        """Those that are not archived: expected concepts and targets of the ladder."""
        return self.filter(archived_at__isnull=True)

    def named(self, slug: str) -> Self:
        """The concept that ``slug`` names, as its canonical slug or an alias (rules.md 9, step 1)."""
        return self.filter(names__slug=slug)
