"""Chainable reads of edges."""

from typing import TYPE_CHECKING, Self
from uuid import UUID

from django.db import models
from django.db.models import Q

from apps.core.api.access import Access
from apps.entries.querysets import visible_to
from apps.rules.scopes import SHARED_SCOPES

if TYPE_CHECKING:
    from apps.edges.models import Edge  # noqa: F401 - named in strings below


class EdgeQuerySet(models.QuerySet["Edge"]):
    """Edges, by their ends."""

    def visible_to(self, access: Access) -> Self:
        """Those whose ends a key may both see."""
        return self.filter(visible_to(access, "source__"), visible_to(access, "target__"))

    def shared(self) -> Self:
        """Those between shared entries: none of a learner's."""
        return self.filter(
            source__visibility_scope__in=SHARED_SCOPES, target__visibility_scope__in=SHARED_SCOPES
        )

    def touching(self, entry: UUID) -> Self:
        """Those that lead from or to that entry."""
        return self.filter(Q(source=entry) | Q(target=entry))
