"""Entries: what they say, where they stand, and how they came to stand there."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Case, QuerySet, When
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from unfold.contrib.filters.admin import AutocompleteSelectFilter
from unfold.decorators import display

from apps.audit.admin.authoring import RetirableAdmin, actor_of
from apps.audit.admin.events import recent_events
from apps.catalog.models import Concept
from apps.core.admin import html
from apps.entries import actions
from apps.entries.actions import EntryDraft
from apps.entries.admin import filters, ledger, standing
from apps.entries.forms import EntryForm, entry_words
from apps.entries.models import Entry, EntryLedger
from apps.rules.edges import WALK_ORDER
from apps.rules.scopes import SHARED_SCOPES, TUTOR, VISUAL
from apps.rules.slugs import UNANCHORED
from apps.rules.words import EDGE_VERBS

if TYPE_CHECKING:
    from apps.edges.models import Edge

MATURITIES = {"candidate": "warning", "pattern": "info", "proven": "success"}
SEARCH_STATES = {"found": "success", "waiting": "warning"}
PLACE = ("scope", "topic")
SAID = ("title", "instruction", "detail", *PLACE, "concept_link")
STANDING = ("maturity_label", "confidence_bar", "search_words", "evidence")
ORIGIN = ("provenance", "source", "ladder_step", "observed_at", "created_at", "updated_at", "id")
ADDED = (
    "scope",
    "topic",
    "concept",
    "name",
    "title",
    "instruction",
    "detail",
    "visual",
    "confidence",
    "importance",
)
_SHOWN = 20
_WALK = Case(*(When(edge_type=kind, then=place) for place, kind in enumerate(WALK_ORDER)))


@admin.register(Entry)
class EntryAdmin(RetirableAdmin):
    """What Lode remembers. Authors write in the shared scopes; a learner's entries are read here."""

    form = EntryForm
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
    conditional_fields = {
        # On the page of a stored entry there is no choice of scope, and none of these is in the way.
        "concept": "$data.scope != 'tutor'",
        "name": "[undefined, 'tutor'].includes($data.scope)",
        "visual": "[undefined, 'visual'].includes($data.scope)",
    }
    link_filters = ("concept_slug", "visibility_scope", "session")
    list_select_related = ("topic",)
    search_fields = ("title", "concept_slug")
    search_help_text = "Title, concept or id"
    ordering = ("-id",)
    sortable_by = ("heading", "confidence_bar")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Entry]:
        return standing.with_vector(standing.with_floor(super().get_queryset(request)))

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ((None, {"fields": ADDED}),)
        drawn = ("drawing",) if obj.visual is not None else ()
        written = self.has_change_permission(request, obj)
        return (
            (None, {"fields": self._written(obj) if written else (*SAID, *drawn)}),
            ("Where it stands", {"fields": (*drawn, *PLACE, *STANDING[1:]) if written else STANDING}),
            ("Where it comes from", {"fields": ORIGIN}),
        )

    def _written(self, entry: Entry) -> Sequence[str]:
        anchor = "name" if entry.visibility_scope == TUTOR else "concept"
        drawing = ("visual",) if entry.visibility_scope == VISUAL else ()
        return ("title", "instruction", "detail", anchor, *drawing, "maturity", "confidence", "importance")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """What is shown and never typed. Of an entry that may not be written, Django shows everything so."""
        return () if obj is None else ("drawing", *PLACE, "concept_link", *STANDING, *ORIGIN)

    def create(self, request: HttpRequest, form: Any) -> tuple[Entry, bool]:
        given = form.cleaned_data
        draft = EntryDraft(
            concept=form.anchor(),
            visual=given["visual"] or None,
            **{name: given[name] for name in ADDED if name not in {"concept", "name", "visual"}},
        )
        return actions.create_entry(
            draft=draft, dials=standing.dials(), actor=actor_of(request), now=timezone.now()
        )

    def change(self, request: HttpRequest, form: Any, changes: dict[str, Any]) -> Entry:
        if changes.keys() & {"concept", "name"}:
            changes = {**changes, "concept": form.anchor()}
        entry = form.instance
        return actions.change_entry(
            entry=entry,
            changes=changes,
            expected_version=entry.version,
            dials=standing.dials(),
            actor=actor_of(request),
            now=timezone.now(),
        )

    def archive_row(self, request: HttpRequest, row: Any, expected_version: int | None) -> Any:
        return actions.archive_entry(
            entry=row, expected_version=expected_version, actor=actor_of(request), now=timezone.now()
        )

    def restore_row(self, request: HttpRequest, row: Any, expected_version: int | None) -> Any:
        return actions.restore_entry(
            entry=row,
            expected_version=expected_version,
            dials=standing.dials(),
            actor=actor_of(request),
            now=timezone.now(),
        )

    def is_authored(self, obj: Entry) -> bool:
        return obj.visibility_scope in SHARED_SCOPES and obj.superseded_at is None

    def options(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return standing.rows(rows).filter(visibility_scope__in=SHARED_SCOPES).select_related("topic")

    def option_text(self, row: Entry) -> str:
        return entry_words(row)

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
    def concept_link(self, entry: Entry) -> str:
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
        outgoing = obj.outgoing.select_related("target").order_by(_WALK, "-confidence", "id")[:_SHOWN]
        incoming = obj.incoming.select_related("source").order_by(_WALK, "-confidence", "id")[:_SHOWN]
        return [
            self._edges(request, obj, outgoing, "source"),
            self._edges(request, obj, incoming, "target"),
            ledger.panel(steps, html.list_of("entries_entryledger", entry__id__exact=obj.pk)),
            recent_events("entry", obj.pk),
        ]

    def _edges(self, request: HttpRequest, entry: Entry, edges: "QuerySet[Edge]", here: str) -> html.Panel:
        """The edges whose ``here`` (source or target) is this entry, as sentences."""
        leaving = here == "source"
        links = [html.link(html.list_of("edges_edge", **{f"{here}__id__exact": entry.pk}), "All of them")]
        if request.user.has_perm("edges.add_edge") and self.is_written(entry):
            links.append(html.link(f"{reverse('admin:edges_edge_add')}?{here}={entry.pk}", "Add one"))
        return html.Panel(
            title="Edges from here" if leaving else "Edges to here",
            headers=[
                "This entry …" if leaving else "… this entry",
                "Entry",
                "When",
                "Confidence",
                "Provenance",
            ],
            rows=[_edge_row(edge, edge.target if leaving else edge.source) for edge in edges],
            nothing="None.",
            more=html.aside(links),
        )


def _edge_row(edge: "Edge", other: Entry) -> list[object]:
    return [
        html.link_to(edge, EDGE_VERBS[edge.edge_type]),
        html.link_to(other),
        html.shortened(edge.condition) or html.NOTHING,
        html.number(edge.confidence),
        edge.source_type,
    ]
