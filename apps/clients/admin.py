"""API keys, and the answers kept for retried writes."""

import datetime as dt
from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.decorators import display

from apps.audit.admin.events import recent_events
from apps.clients.models import ApiKey, IdempotencyRecord
from apps.core.admin import html
from apps.core.admin.base import ReadOnlyAdmin
from apps.core.admin.filters import WordFilter

KEY_STATES = {"active": "success", "expired": "warning", "revoked": "danger"}


def state_of(key: ApiKey, now: dt.datetime) -> str:
    """Whether a key works at ``now``, in one word."""
    if key.revoked_at is not None:
        return "revoked"
    return "expired" if key.expires_at is not None and key.expires_at <= now else "active"


class KeyStateFilter(WordFilter):
    title = "state"
    parameter_name = "state"
    words = tuple((word, word) for word in KEY_STATES)

    def narrowed(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        if value == "revoked":
            return rows.filter(revoked_at__isnull=False)
        expired = Q(expires_at__lte=timezone.now())
        return rows.filter(revoked_at__isnull=True).filter(expired if value == "expired" else ~expired)


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnlyAdmin):
    """What programs may do. A key is known by its first characters; its hash is never shown."""

    audit_kind = "key"
    list_display = ("name", "prefix", "scope_words", "topic_words", "state", "last_used_at")
    list_filter = (KeyStateFilter,)
    search_fields = ("name", "prefix")
    search_help_text = "Name, or how the key begins"
    ordering = ("-id",)
    sortable_by = ("name",)
    fieldsets = (
        (None, {"fields": ("name", "prefix", "state")}),
        (
            "What it may do",
            {"fields": ("scope_words", "source_words", "topic_words", "learner_prefix", "rate_per_minute")},
        ),
        ("When", {"fields": ("created_at", "expires_at", "revoked_at", "last_used_at")}),
    )

    @display(description="state", label=KEY_STATES)
    def state(self, key: ApiKey) -> str:
        return state_of(key, timezone.now())

    @display(description="scopes")
    def scope_words(self, key: ApiKey) -> str:
        return ", ".join(key.scopes)

    @display(description="sources it may declare")
    def source_words(self, key: ApiKey) -> str:
        return ", ".join(key.sources) or "assistant, where nothing is said"

    @display(description="topics")
    def topic_words(self, key: ApiKey) -> str:
        return ", ".join(key.topics) or "all"

    def get_panels(self, request: HttpRequest, obj: ApiKey) -> Sequence[html.Panel]:
        return [recent_events("key", obj.pk)]


@admin.register(IdempotencyRecord)
class IdempotencyRecordAdmin(ReadOnlyAdmin):
    """Writes that were sent with an ``Idempotency-Key``."""

    list_display = ("created_at", "key", "api_key", "status")
    list_select_related = ("api_key",)
    search_fields = ("key__exact",)
    search_help_text = "The idempotency key, written out"
    ordering = ("-id",)
    sortable_by = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[IdempotencyRecord]:
        records: QuerySet[IdempotencyRecord] = super().get_queryset(request)
        return records.defer("response", "headers")
