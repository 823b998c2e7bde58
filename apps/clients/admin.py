"""API keys, and the answers kept for retried writes."""

import datetime as dt
from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from unfold.decorators import display

from apps.audit.admin.authoring import AuthoringAdmin, Verb, actor_of
from apps.audit.admin.events import recent_events
from apps.clients import actions
from apps.clients.actions import KeyDraft
from apps.clients.forms import KeyForm
from apps.clients.models import ApiKey, IdempotencyRecord
from apps.core.admin import html
from apps.core.admin.base import ReadOnlyAdmin, button
from apps.core.admin.filters import WordFilter

MADE = ("name", "scopes", "sources", "topics", "learner_prefix", "rate_per_minute", "expires_at")
REVOKE = Verb("Revoke", "revoked", "No program gets in with it again, from now on and for good.", "key_off")
_TEXT = "lode_key_text"
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
class ApiKeyAdmin(AuthoringAdmin):
    """What programs may do. A key is shown once, when it is made; its hash never."""

    form = KeyForm
    actions_detail: Sequence[str] = ("revoke",)  # type: ignore[assignment]  # as in the base
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

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fieldsets if obj is not None else ((None, {"fields": MADE}),)

    def is_written(self, obj: ApiKey) -> bool:
        """Never changed: what a program was allowed yesterday stays readable in the audit."""
        return False

    def create(self, request: HttpRequest, form: Any) -> tuple[ApiKey, bool]:
        key, text = actions.create_key(
            draft=KeyDraft(**form.cleaned_data), actor=actor_of(request), now=timezone.now()
        )
        setattr(request, _TEXT, text)
        return key, True

    def response_add(self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None) -> Any:
        """The one page that ever shows the key; neither a message nor a session keeps it."""
        context = {
            **self.admin_site.each_context(request),
            "title": f"The key “{obj.name}”",
            "opts": self.opts,
            "original": obj,
            "text": getattr(request, _TEXT),
        }
        request.current_app = self.admin_site.name
        return TemplateResponse(request, "admin/clients/apikey/made.html", context)

    def has_revoke_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether somebody may take keys out of use."""
        return self._may(request, "change")

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> Any:
        key = self.get_object(request, unquote(str(object_id)))
        offered = super().get_actions_detail(request, object_id)
        return offered if key is not None and key.revoked_at is None else []

    @button("Revoke", permission="revoke", icon=REVOKE.icon)
    def revoke(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.ask(request, object_id, REVOKE, self._revoke)

    def _revoke(self, request: HttpRequest, row: ApiKey, _expected_version: int | None) -> ApiKey:
        return actions.revoke_key(key=row, actor=actor_of(request), now=timezone.now())

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
