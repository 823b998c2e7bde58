"""Embedding spaces."""

from collections.abc import Sequence

from django.contrib import admin
from django.http import HttpRequest
from unfold.decorators import display

from apps.audit.admin.events import recent_events
from apps.core.admin import html
from apps.core.admin.base import ReadOnlyAdmin
from apps.embeddings.models import EmbeddingSpace


@admin.register(EmbeddingSpace)
class EmbeddingSpaceAdmin(ReadOnlyAdmin):
    """At most one space serves; it is switched by ``manage.py embeddings``."""

    audit_kind = "space"
    list_display = ("name", "dimensions", "state_label", "vectors", "created_at", "served_at")
    ordering = ("-id",)
    sortable_by = ()

    @display(description="space")
    def name(self, space: EmbeddingSpace) -> str:
        return space.name

    @display(description="state", label={"serving": "success", "building": "warning"})
    def state_label(self, space: EmbeddingSpace) -> str:
        return space.state

    @display(description="vectors")
    def vectors(self, space: EmbeddingSpace) -> str:
        return html.link(html.list_of("entries_entryvector", space__id__exact=space.pk), "of entries")

    def get_panels(self, request: HttpRequest, obj: EmbeddingSpace) -> Sequence[html.Panel]:
        return [recent_events("space", obj.pk)]
