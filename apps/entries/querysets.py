"""Chainable reads of entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.db import models
from django.db.models import Q

from apps.core.api.access import Access
from apps.rules.confidence import floor
from apps.rules.dials import DialValues
from apps.rules.scopes import PUBLIC, TUTOR, VISUAL
from apps.rules.slugs import UNANCHORED
from apps.rules.words import Maturity

if TYPE_CHECKING:
    from apps.entries.models import Entry


def visible_to(access: Access, path: str = "") -> Q:
    """Entries that a key may see: shared ones, public ones of its topics, and its learners' own.

    ``path`` leads to the entry from another row (``source__``). Learners are bound by the beginning of
    their ids, which is the one place where that is meant; scopes are compared for equality only.
    """
    shared = Q(**{f"{path}visibility_scope__in": [TUTOR, VISUAL]})
    public = Q(**{f"{path}visibility_scope": PUBLIC})
    if access.topics:
        public &= Q(**{f"{path}topic__slug__in": access.topics})
    own = Q(**{f"{path}learner_key__isnull": False})
    if access.learner_prefix:
        own &= Q(**{f"{path}learner_key__startswith": access.learner_prefix})
    return shared | public | own


class EntryQuerySet(models.QuerySet["Entry"]):
    """Entries, by what rules.md says of them."""

    def in_state(self, state: str) -> Self:
        """Those in use (``current``), those retired (``archived``), or all (``any``)."""
        return self if state == "any" else self.filter(archived_at__isnull=state == "current")

    def visible_to(self, access: Access) -> Self:
        """Those that a key may see."""
        return self.filter(visible_to(access))

    def below_floor(self, dials: DialValues) -> Self:
        """Rows that no retrieval finds, because their confidence is below their maturity's floor (rules.md 4)."""
        below = Q(pk__in=[])
        for maturity in (Maturity.CANDIDATE, Maturity.PATTERN, Maturity.PROVEN):
            below |= Q(maturity=maturity, confidence__lt=floor(maturity, dials))
        return self.rows().filter(below)

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
