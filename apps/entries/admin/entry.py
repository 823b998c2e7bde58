"""Entries: what they say, where they stand, and how they came to stand there."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import AutocompleteSelectFilter
from unfold.decorators import display

from apps.audit.admin import recent_events
from apps.catalog.models import Concept
from apps.core.admin import html
from apps.core.admin.base import ReadOnlyAdmin
from apps.entries.admin import filters, ledger, standing
from apps.entries.models import Entry, EntryLedger
from apps.rules.slugs import UNANCHORED
from apps.rules.words import EDGE_VERBS

if TYPE_CHECKING:
    from apps.edges.models import Edge

MATURITIES = {"candidate": "warning", "pattern": "info", "proven": "success"}
SEARCH_STATES = {"found": "success", "waiting": "warning"}
_SHOWN = 20


@admin.register(Entry)
class EntryAdmin(ReadOnlyAdmin):
    """What Lode remembers."""

    audit_kind = "entry"
    list_display = ("heading", "scope", "maturity_label", "confidence_bar", "provenance", "in_search")
    list_filter = (
        filters.ScopeFilter,
        ("topic", AutocompleteSelectFilter),
        filters.MaturityFilter,
        filters.FloorFilter,
        filters.SearchFilter,
        filters.ProvenanceFilter,
        filters.AnchorFilter,
    )
    link_filters = ("concept_slug", "visibility_scope", "session")
    list_select_related = ("topic",)
    search_fields = ("title", "concept_slug")
    search_help_text = "Title, concept or id"
    ordering = ("-id",)
    sortable_by = ("heading", "confidence_bar")
    standing_fields = ("maturity_label", "confidence_bar", "search_words", "evidence")
    origin_fields = ("provenance", "source", "ladder_step", "observed_at", "created_at", "updated_at", "id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Entry]:
        return standing.with_vector(standing.with_floor(super().get_queryset(request)))

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        drawn = ("drawing",) if obj is not None and obj.visual is not None else ()
        said = ("title", "instruction", "detail", *drawn, "scope", "topic", "concept")
        return (
            (None, {"fields": said}),
            ("Where it stands", {"fields": self.standing_fields}),
            ("Where it comes from", {"fields": self.origin_fields}),
        )

    @display(description="entry", header=True, ordering="title")
    def heading(self, entry: Entry) -> list[str]:
        concept = "no concept" if entry.concept_slug == UNANCHORED else entry.concept_slug
        return [entry.title, f"{concept} · {entry.topic.title}" if entry.topic else concept]

    @display(description="scope")
    def scope(self, entry: Entry) -> str:
        return entry.visibility_scope

    @display(description="provenance")
    def provenance(self, entry: Entry) -> str:
        return entry.source_type

    @display(description="maturity", label=MATURITIES)
    def maturity_label(self, entry: Entry) -> str:
        return entry.maturity

    @display(description="confidence", ordering="confidence")
    def confidence_bar(self, entry: Any) -> str:
        return html.confidence(entry.confidence, entry.floor)

    @display(description="search", label=SEARCH_STATES)
    def in_search(self, entry: Entry) -> str:
        return standing.in_search(entry)

    @display(description="search")
    def search_words(self, entry: Entry) -> str:
        return standing.in_search_words(entry)

    @display(description="concept")
    def concept(self, entry: Entry) -> str:
        if entry.concept_slug == UNANCHORED:
            return "None: no concept could be told."
        found = Concept.objects.filter(slug=entry.anchor_slug).first() if entry.anchor_slug else None
        return html.link_to(found, f"{found.title} ({found.slug})") if found else entry.concept_slug

    @display(description="evidence")
    def evidence(self, entry: Entry) -> str:
        last = f", last at {html.moment(entry.last_matched_at)}" if entry.last_matched_at else ""
        graded = f"{entry.success_count} successes, {entry.failure_count} failures"
        return f"{graded}; returned {entry.match_count} times{last}."

    @display(description="drawing")
    def drawing(self, entry: Entry) -> str:
        return html.image(entry.visual or "", entry.title)

    def get_panels(self, request: HttpRequest, obj: Entry) -> Sequence[html.Panel]:
        steps = EntryLedger.objects.filter(entry=obj).order_by("-id")[:_SHOWN]
        outgoing = obj.outgoing.select_related("target").order_by("edge_type", "-confidence", "id")[:_SHOWN]
        incoming = obj.incoming.select_related("source").order_by("edge_type", "-confidence", "id")[:_SHOWN]
        return [
            _edges("Edges from here", "This entry …", outgoing, list_filter={"source__id__exact": obj.pk}),
            _edges("Edges to here", "… this entry", incoming, list_filter={"target__id__exact": obj.pk}),
            ledger.panel(steps, html.list_of("entries_entryledger", entry__id__exact=obj.pk)),
            recent_events("entry", obj.pk),
        ]


def _edges(title: str, words: str, edges: "QuerySet[Edge]", *, list_filter: dict[str, Any]) -> html.Panel:
    outgoing = "source__id__exact" in list_filter
    return html.Panel(
        title=title,
        headers=[words, "Entry", "When", "Confidence", "Provenance"],
        rows=[
            [
                html.link_to(edge, EDGE_VERBS[edge.edge_type]),
                html.link_to(edge.target if outgoing else edge.source),
                html.shortened(edge.condition) or html.NOTHING,
                html.number(edge.confidence),
                edge.source_type,
            ]
            for edge in edges
        ],
        nothing="None.",
        more=html.link(html.list_of("edges_edge", **list_filter), "All of them"),
    )
