"""Chainable reads of entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.db import models

from apps.rules.scopes import PUBLIC
from apps.rules.slugs import UNANCHORED

if TYPE_CHECKING:
    from apps.entries.models import Entry


class EntryQuerySet(models.QuerySet["Entry"]):
    """Entries, by what rules.md says of them."""

    def rows(self) -> Self:
        """Those that are rows: neither archived nor superseded (rules.md, first lines)."""
        return self.filter(archived_at__isnull=True, superseded_at__isnull=True)

    def same_identity(self, entry: Entry) -> Self:
        """Those, not superseded, that hold the identity of ``entry`` (rules.md 2, indexes 1 to 6)."""
        found = self.filter(superseded_at__isnull=True, visibility_scope=entry.visibility_scope)
        if entry.fact_key is not None:
            return found.filter(fact_key=entry.fact_key, topic=entry.topic)
        found = found.filter(fact_key__isnull=True, concept_slug=entry.concept_slug)
        if entry.concept_slug == UNANCHORED:
            return found.filter(topic=entry.topic, text_hash=entry.text_hash)
        return found.filter(topic=entry.topic) if entry.visibility_scope == PUBLIC else found
