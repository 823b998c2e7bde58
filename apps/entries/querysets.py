"""Chainable reads of entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from apps.entries.models import Entry  # noqa: F401 - named in a string below


class EntryQuerySet(models.QuerySet["Entry"]):
    """Entries, by what rules.md says of them."""

    def rows(self) -> EntryQuerySet:
        """Those that are rows: neither archived nor superseded (rules.md, first lines)."""
        return self.filter(archived_at__isnull=True, superseded_at__isnull=True)
