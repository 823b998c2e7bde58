"""The audit: who did what to which row, when and why."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import NoReverseMatch
from unfold.decorators import display

from apps.audit.models import AuditEvent, AuditImage
from apps.core.admin import html
from apps.core.admin.base import ReadOnlyAdmin
from apps.core.admin.filters import WordFilter

PAGES = {
    "topic": "catalog_topic",
    "concept": "catalog_concept",
    "concept-name": "catalog_conceptname",
    "entry": "entries_entry",
    "edge": "edges_edge",
    "learner": "tutoring_learner",
    "session": "tutoring_tutoringsession",
    "dial": "dials_dial",
    "space": "embeddings_embeddingspace",
    "key": "clients_apikey",
}
"""Every ``target_kind``, with the page of its rows."""

_RECENT = 10


def target(event: AuditEvent) -> Any:
    """The row that an event is about, as a link where it has a page; the row may be gone."""
    try:
        return html.link(html.page_of(PAGES[event.target_kind], event.target_id), event.target_id)
    except (KeyError, NoReverseMatch):
        return event.target_id


def recent_events(kind: str, pk: object) -> html.Panel:
    """The last audit events about one row."""
    events = AuditEvent.objects.about(kind, pk)[:_RECENT]
    address = html.list_of("audit_auditevent", target_kind=kind, target_id=pk)
    return html.Panel(
        title="Last changes",
        headers=["When", "Who", "What"],
        rows=[[_moment(event), event.actor, event.verb] for event in events],
        nothing="Nothing was changed yet.",
        more=html.link(address, "All changes"),
    )


def changes(image: AuditImage) -> html.Panel:
    """The columns that an event changed, before and after."""
    before, after = image.before or {}, image.after or {}
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return html.Panel(
        title=f"What changed, because: {image.reason}" if image.reason else "What changed",
        headers=["Column", "Before", "After"],
        rows=[
            [name, html.json_value(before.get(name)), html.json_value(after.get(name))] for name in changed
        ],
        nothing="No column changed.",
    )


def latest_events() -> html.Panel:
    """The last audit events of all."""
    events = AuditEvent.objects.order_by("-id")[:_RECENT]
    return html.Panel(
        title="Last changes",
        headers=["When", "Who", "What", "Row"],
        rows=[[_moment(event), event.actor, event.verb, target(event)] for event in events],
        nothing="Nothing was changed yet.",
        more=html.link(html.list_of("audit_auditevent"), "All changes"),
    )


def _moment(event: AuditEvent) -> str:
    return html.link(html.page_of("audit_auditevent", event.pk), html.moment(event.at))


class KindFilter(WordFilter):
    title = "what was changed"
    parameter_name = "target_kind"
    words = tuple((kind, kind.replace("-", " ")) for kind in PAGES)


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    """Headers only; what was in the row stands in the event's image."""

    list_display = ("when", "actor", "verb", "kind", "target", "run")
    list_display_links = ("when",)
    list_filter = (KindFilter,)
    link_filters = ("target_kind", "target_id", "actor", "run")
    ordering = ("-id",)
    sortable_by = ()
    search_fields = ("target_id",)
    search_help_text = "An id, user:anna or entry.change"
    list_select_related = ()

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[AuditEvent], search_term: str
    ) -> tuple[QuerySet[AuditEvent], bool]:
        """Whole words, told apart by their signs; an id together with all kinds, so that its index serves."""
        term = search_term.strip()
        if not term:
            return queryset, False
        if ":" in term:
            return queryset.filter(actor=term), False
        if "." in term:
            return queryset.filter(verb=term), False
        return queryset.filter(target_kind__in=list(PAGES), target_id=term), False

    @display(description="when")
    def when(self, event: AuditEvent) -> str:
        return html.moment(event.at)

    @display(description="kind")
    def kind(self, event: AuditEvent) -> str:
        return event.target_kind

    @display(description="row")
    def target(self, event: AuditEvent) -> Any:
        return target(event)

    def get_panels(self, request: HttpRequest, obj: AuditEvent) -> Sequence[html.Panel]:
        image = AuditImage.objects.filter(event=obj).first()
        if image is None:
            return [html.Panel("What changed", [], [], nothing="The content of this change was forgotten.")]
        return [changes(image)]


@admin.register(AuditImage)
class AuditImageAdmin(ReadOnlyAdmin):
    """What rows held before and after an event."""

    list_display = ("event", "subject", "reason")
    list_select_related = ("event",)
    search_fields = ("subject__exact",)
    search_help_text = "Whom it is about, written out: student:anna"
    ordering = ("-id",)
    sortable_by = ()
