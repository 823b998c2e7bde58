"""Chainable reads of the audit."""

from typing import TYPE_CHECKING, Self

from django.db import models

if TYPE_CHECKING:
    from apps.audit.models import AuditEvent  # noqa: F401 - named in a string below


class AuditEventQuerySet(models.QuerySet["AuditEvent"]):
    """Audit events, by what they are about."""

    def about(self, kind: str, target: object) -> Self:
        """Those about one row, the newest first; leans on auditevent_by_target."""
        return self.filter(target_kind=kind, target_id=str(target)).order_by("-id")
