"""Chainable reads of topics and concepts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self, TypeVar

from django.db import models

if TYPE_CHECKING:
    from apps.catalog.models import Concept, Topic  # noqa: F401 - named in strings below

Row = TypeVar("Row", bound=models.Model)


class Retirable(models.QuerySet[Row]):
    """Rows that are archived, never deleted."""

    def in_state(self, state: str) -> Self:
        """Those in use (``current``), those retired (``archived``), or all (``any``)."""
        return self if state == "any" else self.filter(archived_at__isnull=state == "current")


class TopicQuerySet(Retirable["Topic"]):
    """Topics, by what the API shows of them."""

    def current(self) -> Self:
        """Those that are not archived."""
        return self.filter(archived_at__isnull=True)

    def visible_to(self, topics: Sequence[str]) -> Self:
        """Those that a key bound to ``topics`` (slugs; none means all) may see."""
        return self.filter(slug__in=topics) if topics else self.all()


class ConceptQuerySet(Retirable["Concept"]):
    """Concepts, by name."""

    def current(self) -> Self:
        """Those that are not archived: expected concepts and targets of the ladder."""
        return self.filter(archived_at__isnull=True)

    def named(self, slug: str) -> Self:
        """The concept that ``slug`` names, as its canonical slug or an alias (rules.md 9, step 1)."""
        return self.filter(names__slug=slug)

    def with_aliases(self) -> Self:
        """With their aliases, in the order in which they were given, in one query more."""
        names = self.model._meta.get_field("names").related_model._default_manager.order_by("id")
        return self.prefetch_related(models.Prefetch("names", queryset=names))
