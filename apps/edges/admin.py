"""Edges: which entry needs, leads to or falls back to which."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db import transaction
from django.db.models import DecimalField, F, QuerySet, Value
from django.db.models.functions import Cast
from django.http import HttpRequest
from django.utils import timezone
from unfold.contrib.filters.admin import AutocompleteSelectFilter
from unfold.decorators import display

from apps.audit.admin.authoring import MOST_AT_ONCE, AuthoringAdmin, actor_of
from apps.audit.admin.events import recent_events
from apps.core.admin import html
from apps.core.admin.base import ReadOnlyAdmin
from apps.core.admin.filters import WordFilter
from apps.dials.queries import get_dials
from apps.edges import actions
from apps.edges.actions import EdgeDraft
from apps.edges.forms import TYPE_WORDS, EdgeForm
from apps.edges.models import Edge, EdgeLedger, EdgeObservation
from apps.entries.admin import ledger
from apps.entries.admin.filters import ProvenanceFilter
from apps.rules.confidence import rounded
from apps.rules.dials import DialValues
from apps.rules.scopes import SHARED_SCOPES
from apps.rules.words import EDGE_VERBS

ENDS = ("source_title", "verb", "target_title")
WRITTEN = ("source", "edge_type", "target", "condition", "rationale", "confidence")
SAID = (*ENDS, "condition", "rationale")
STANDING = ("confidence_bar", "evidence", "use")
ORIGIN = ("provenance", "made_in", "created_at", "updated_at")
_SHOWN = 20


def dials() -> DialValues:
    """The dials in force; edges read none that differs by space."""
    return get_dials(settings.LODE_EMBEDDING_PROVIDER)


def with_walk_floor(edges: QuerySet[Edge]) -> QuerySet[Edge]:
    """``edges`` with ``floor``: the confidence below which none is walked."""
    floor = Value(rounded(dials().edge_walk_min_confidence))
    return edges.annotate(floor=Cast(floor, DecimalField(max_digits=7, decimal_places=6)))


def below_walk(edges: QuerySet[Edge]) -> QuerySet[Edge]:
    """Those, read by ``with_walk_floor``, that are not walked."""
    return edges.filter(confidence__lt=F("floor"))


class TypeFilter(WordFilter):
    title = "type"
    parameter_name = "edge_type"
    words = tuple(TYPE_WORDS.items())


class WalkFilter(WordFilter):
    title = "walk"
    parameter_name = "walk"
    words = (("walked", "trusted enough to be walked"), ("hidden", "below the walk floor"))

    def narrowed(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        return rows.filter(confidence__gte=F("floor")) if value == "walked" else below_walk(rows)


@admin.register(Edge)
class EdgeAdmin(AuthoringAdmin):
    """Directed relations between entries. Authors write those of the shared scopes, and delete any of these."""

    form = EdgeForm
    actions = ("delete_selected",)
    audit_kind = "edge"
    list_display = ("source_title", "verb", "target_title", "confidence_bar", "provenance", "sessions")
    list_display_links = ("verb",)
    list_filter = (
        TypeFilter,
        ProvenanceFilter,
        WalkFilter,
        ("source", AutocompleteSelectFilter),
        ("target", AutocompleteSelectFilter),
    )
    link_filters = ("session",)
    search_fields = ("source__title", "target__title")
    search_help_text = "Title of either end"
    ordering = ("-id",)
    sortable_by = ("confidence_bar",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Edge]:
        return with_walk_floor(super().get_queryset(request)).select_related("source", "target")

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ((None, {"fields": WRITTEN}),)
        said = (*ENDS, *WRITTEN[3:]) if self.has_change_permission(request, obj) else SAID
        return (
            (None, {"fields": said}),
            ("Where it stands", {"fields": STANDING}),
            ("Where it comes from", {"fields": ORIGIN}),
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return () if obj is None else (*ENDS, *STANDING, *ORIGIN)

    def is_written(self, obj: Edge) -> bool:
        return all(end.visibility_scope in SHARED_SCOPES for end in (obj.source, obj.target))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, "delete") and (obj is None or self.is_written(obj))

    def create(self, request: HttpRequest, form: Any) -> tuple[Edge, bool]:
        draft = EdgeDraft(**form.cleaned_data)
        return actions.create_edge(draft=draft, dials=dials(), actor=actor_of(request), now=timezone.now())

    def change(self, request: HttpRequest, form: Any, changes: dict[str, Any]) -> Edge:
        edge = form.instance
        return actions.change_edge(
            edge=edge,
            changes=changes,
            expected_version=edge.version,
            dials=dials(),
            actor=actor_of(request),
            now=timezone.now(),
        )

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """What goes with them is theirs alone, and goes without a permission of its own."""
        edges = list(objs[: MOST_AT_ONCE + 1])
        ids = [edge.pk for edge in edges]
        counts = {
            "edges": len(ids),
            "observations": EdgeObservation.objects.filter(edge__in=ids).count(),
            "rows of their ledgers": EdgeLedger.objects.filter(edge__in=ids).count(),
        }
        lacking = set() if all(map(self.is_written, edges)) else {"edges of a learner's entries"}
        too_many = [f"more than {MOST_AT_ONCE} at once: choose fewer"] if len(ids) > MOST_AT_ONCE else []
        return [str(edge) for edge in edges], counts, lacking, too_many

    def delete_model(self, request: HttpRequest, obj: Edge) -> None:
        actions.delete_edge(edge=obj, actor=actor_of(request), now=timezone.now())

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Edge]) -> None:
        with transaction.atomic():
            for edge in queryset:
                self.delete_model(request, edge)

    @display(description="from", ordering="source__title")
    def source_title(self, edge: Edge) -> str:
        return html.link_to(edge.source)

    @display(description="says")
    def verb(self, edge: Edge) -> str:
        return EDGE_VERBS[edge.edge_type]

    @display(description="to", ordering="target__title")
    def target_title(self, edge: Edge) -> str:
        return html.link_to(edge.target)

    @display(description="confidence", ordering="confidence")
    def confidence_bar(self, edge: Any) -> str:
        return html.confidence(edge.confidence, edge.floor, what="walk floor")

    @display(description="provenance")
    def provenance(self, edge: Edge) -> str:
        return edge.source_type

    @display(description="sessions")
    def sessions(self, edge: Edge) -> int:
        return edge.hit_count

    @display(description="evidence")
    def evidence(self, edge: Edge) -> str:
        return f"Observed in {edge.hit_count} sessions."

    @display(description="use")
    def use(self, edge: Edge) -> str:
        rendered = f"Its line stood in {edge.rendered_count} prompts"
        last = f", last at {html.moment(edge.last_rendered_at)}" if edge.last_rendered_at else ""
        return f"{rendered}{last}; it was walked {edge.walked_count} times."

    @display(description="made in session")
    def made_in(self, edge: Edge) -> str:
        return html.link_to_id("tutoring_tutoringsession", edge.session)

    def get_panels(self, request: HttpRequest, obj: Edge) -> Sequence[html.Panel]:
        steps = EdgeLedger.objects.filter(edge=obj).order_by("-id")[:_SHOWN]
        return [
            self._sessions(obj),
            ledger.panel(steps, html.list_of("edges_edgeledger", edge__id__exact=obj.pk)),
            recent_events("edge", obj.pk),
        ]

    def _sessions(self, edge: Edge) -> html.Panel:
        seen = edge.observations.order_by("-id")[:_SHOWN]
        return html.Panel(
            title="Sessions that observed it",
            headers=["When", "Session"],
            rows=[
                [html.moment(one.observed_at), html.link_to_id("tutoring_tutoringsession", one.session)]
                for one in seen
            ],
            nothing="No session has observed it yet.",
            more=html.link(html.list_of("edges_edgeobservation", edge__id__exact=edge.pk), "All of them"),
        )


@admin.register(EdgeObservation)
class EdgeObservationAdmin(ReadOnlyAdmin):
    """That a session showed an edge; a session counts once."""

    list_display = ("observed_at", "edge_words", "session_link")
    link_filters = ("edge", "session")
    list_select_related = ("edge__source", "edge__target")
    ordering = ("-id",)
    sortable_by = ()

    @display(description="edge")
    def edge_words(self, observation: EdgeObservation) -> str:
        return html.link_to(observation.edge)

    @display(description="session")
    def session_link(self, observation: EdgeObservation) -> str:
        return html.link_to_id("tutoring_tutoringsession", observation.session)


@admin.register(EdgeLedger)
class EdgeLedgerAdmin(ReadOnlyAdmin):
    """Every step of every edge's confidence."""

    list_display = ("at", "edge_words", "what_happened", "before_number", "after_number")
    link_filters = ("edge", "session", "turn")
    list_select_related = ("edge__source", "edge__target")
    ordering = ("-id",)
    sortable_by = ()

    @display(description="edge")
    def edge_words(self, row: EdgeLedger) -> str:
        return html.link_to(row.edge)

    @display(description="what happened")
    def what_happened(self, row: EdgeLedger) -> str:
        return ledger.words(row)

    @display(description="from")
    def before_number(self, row: EdgeLedger) -> str:
        return html.number(row.before)

    @display(description="to")
    def after_number(self, row: EdgeLedger) -> str:
        return html.number(row.after)
