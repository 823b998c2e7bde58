"""The audit: append-only headers, and the images that only forgetting may take."""

import pgtrigger
from django.db import models

from apps.audit.querysets import AuditEventQuerySet

_NO_TRUNCATE = pgtrigger.Trigger(
    name="refuse_truncate",
    level=pgtrigger.Statement,
    when=pgtrigger.Before,
    operation=pgtrigger.Truncate,
    func="""
        IF current_setting('lode.flush', true) IS DISTINCT FROM 'allowed' THEN
            RAISE EXCEPTION 'the audit is append-only' USING ERRCODE = 'insufficient_privilege';
        END IF;
        RETURN NULL;
    """,
)

_ERASE_BY_SUBJECT = """
    IF TG_OP = 'DELETE' AND OLD.subject <> ''
       AND OLD.subject = current_setting('lode.erase_subject', true) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the audit is append-only' USING ERRCODE = 'insufficient_privilege';
"""


class AuditEvent(models.Model):
    """That something happened: who did what to which row, when, in which run. No content, ever."""

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField()
    actor = models.CharField(max_length=200)
    verb = models.CharField(max_length=60)
    target_kind = models.CharField(max_length=40)
    target_id = models.CharField(max_length=100)
    run = models.UUIDField(null=True, blank=True)

    objects = AuditEventQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["target_kind", "target_id", "id"], name="auditevent_by_target"),
            models.Index(fields=["at"], name="auditevent_by_time"),
        ]
        triggers = [
            pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete),
            _NO_TRUNCATE,
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.target_kind} {self.target_id}"


class AuditImage(models.Model):
    """What a row held before and after one event, and why it was changed.

    ``subject`` is whom the content is about (a student scope, or empty). Nothing but the erasure
    of that one subject may delete an image, and nothing may change one (rules.md 11).
    """

    id = models.BigAutoField(primary_key=True)
    event = models.OneToOneField(AuditEvent, on_delete=models.PROTECT, related_name="image")
    subject = models.CharField(max_length=120, blank=True)
    before = models.JSONField(null=True, blank=True)
    after = models.JSONField(null=True, blank=True)
    reason = models.TextField(blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["subject"], name="auditimage_by_subject", condition=~models.Q(subject="")),
        ]
        triggers = [
            pgtrigger.Trigger(
                name="append_only",
                when=pgtrigger.Before,
                operation=pgtrigger.Update | pgtrigger.Delete,
                func=_ERASE_BY_SUBJECT,
            ),
            _NO_TRUNCATE,
        ]

    def __str__(self) -> str:
        return f"image of event {self.event_id}"
