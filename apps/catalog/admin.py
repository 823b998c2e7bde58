"""Topics, concepts and their names."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.decorators import display

from apps.audit.admin.authoring import RetirableAdmin, actor_of
from apps.audit.admin.events import recent_events
from apps.catalog import actions
from apps.catalog.forms import ConceptForm, TopicForm, concept_words
from apps.catalog.models import Concept, ConceptName, ConceptStatus, ConceptVector, Topic
from apps.core.admin import html
from apps.core.admin.base import ReadOnlyAdmin
from apps.core.admin.counts import related_count
from apps.core.admin.filters import WordFilter

STATES = {"current": "success", "archived": "info"}


class ArchivedFilter(WordFilter):
    title = "state"
    parameter_name = "state"
    words = (("current", "Current"), ("archived", "Archived"))

    def narrowed(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        return rows.filter(archived_at__isnull=value == "current")


class StatusFilter(WordFilter):
    title = "status"
    parameter_name = "status"
    words = tuple(ConceptStatus.choices)


class NamedAdmin(RetirableAdmin):
    """What topics and concepts have in common."""

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        said = tuple(self.form.base_fields)
        if obj is None:
            return ((None, {"fields": said}),)
        if not self.has_change_permission(request, obj):
            said = tuple(self.form._meta.fields or ())  # the columns: what is no column is shown below
        return (
            (None, {"fields": said}),
            ("Where it comes from", {"fields": ("created_at", "updated_at", "archived_at")}),
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("created_at", "updated_at", "archived_at")

    @display(description="state", label=STATES)
    def state(self, row: Topic | Concept) -> str:
        return "archived" if row.archived_at else "current"

    def options(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.filter(archived_at__isnull=True)

    def archive_row(self, request: HttpRequest, row: Any, expected_version: int | None) -> Any:
        return actions.archive(
            row=row, expected_version=expected_version, actor=actor_of(request), now=timezone.now()
        )

    def restore_row(self, request: HttpRequest, row: Any, expected_version: int | None) -> Any:
        return actions.restore(
            row=row, expected_version=expected_version, actor=actor_of(request), now=timezone.now()
        )


@admin.register(Topic)
class TopicAdmin(NamedAdmin):
    """What entries are taught under."""

    form = TopicForm
    audit_kind = "topic"
    list_display = ("heading", "entry_count", "state", "updated_at")
    list_filter = (ArchivedFilter,)
    search_fields = ("title", "slug")
    search_help_text = "Title or slug"
    ordering = ("title",)
    sortable_by = ("heading", "updated_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Topic]:
        topics: QuerySet[Topic] = super().get_queryset(request)
        return topics.annotate(entry_total=related_count(Topic, "entries"))

    @display(description="topic", header=True, ordering="title")
    def heading(self, topic: Topic) -> list[str]:
        return [topic.title, topic.slug]

    @display(description="entries")
    def entry_count(self, topic: Any) -> str:
        return html.link(html.list_of("entries_entry", topic__id__exact=topic.pk), topic.entry_total)

    def create(self, request: HttpRequest, form: Any) -> tuple[Topic, bool]:
        return actions.create_topic(**form.cleaned_data, actor=actor_of(request), now=timezone.now())

    def change(self, request: HttpRequest, form: Any, changes: dict[str, Any]) -> Topic:
        return actions.change_topic(
            topic=form.instance,
            changes=changes,
            expected_version=form.instance.version,
            actor=actor_of(request),
            now=timezone.now(),
        )

    def get_panels(self, request: HttpRequest, obj: Topic) -> Sequence[html.Panel]:
        return [recent_events("topic", obj.pk)]


@admin.register(Concept)
class ConceptAdmin(NamedAdmin):
    """Canonical ideas; entries name them by slug."""

    form = ConceptForm
    audit_kind = "concept"
    list_display = ("heading", "name_count", "entries", "status", "state", "updated_at")
    list_filter = (StatusFilter, ArchivedFilter)
    search_fields = ("title", "slug")
    search_help_text = "Title or slug"
    ordering = ("title",)
    sortable_by = ("heading", "updated_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Concept]:
        concepts: QuerySet[Concept] = super().get_queryset(request)
        return concepts.annotate(name_total=related_count(Concept, "names"))

    @display(description="concept", header=True, ordering="title")
    def heading(self, concept: Concept) -> list[str]:
        return [concept.title, concept.slug]

    @display(description="names")
    def name_count(self, concept: Any) -> str:
        return html.link(
            html.list_of("catalog_conceptname", concept__id__exact=concept.pk), concept.name_total
        )

    @display(description="entries")
    def entries(self, concept: Concept) -> str:
        return html.link(html.list_of("entries_entry", concept_slug=concept.slug), "show")

    def create(self, request: HttpRequest, form: Any) -> tuple[Concept, bool]:
        return actions.create_concept(**form.cleaned_data, actor=actor_of(request), now=timezone.now())

    def change(self, request: HttpRequest, form: Any, changes: dict[str, Any]) -> Concept:
        return actions.change_concept(
            concept=form.instance,
            changes=changes,
            expected_version=form.instance.version,
            actor=actor_of(request),
            now=timezone.now(),
        )

    def option_text(self, row: Concept) -> str:
        return concept_words(row)

    def get_panels(self, request: HttpRequest, obj: Concept) -> Sequence[html.Panel]:
        return [self._names(obj), recent_events("concept", obj.pk)]

    def _names(self, concept: Concept) -> html.Panel:
        names = concept.names.order_by("-is_canonical", "slug")[:50]
        return html.Panel(
            title="Names",
            headers=["Name", "Slug", "Kind"],
            rows=[[name.name, name.slug, "canonical" if name.is_canonical else "alias"] for name in names],
            nothing="No name is known.",
            more=html.link(
                html.list_of("entries_entry", concept_slug=concept.slug), "Entries of this concept"
            ),
        )


@admin.register(ConceptName)
class ConceptNameAdmin(ReadOnlyAdmin):
    """The one namespace of slugs and aliases."""

    audit_kind = "concept-name"
    list_display = ("name", "slug", "concept_link", "is_canonical")
    list_filter = ("is_canonical",)
    link_filters = ("concept",)
    list_select_related = ("concept",)
    search_fields = ("name", "slug")
    search_help_text = "Name or slug"
    ordering = ("slug",)
    sortable_by = ("slug",)

    @display(description="concept")
    def concept_link(self, name: ConceptName) -> str:
        return html.link_to(name.concept)


@admin.register(ConceptVector)
class ConceptVectorAdmin(ReadOnlyAdmin):
    """That a concept name has a vector; the numbers themselves are never loaded."""

    list_display = ("concept_name", "space", "chunk", "created_at")
    list_select_related = ("concept_name", "space")
    fields = ("concept_name", "space", "dimensions", "chunk", "text_hash", "created_at")
    ordering = ("-id",)
    sortable_by = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[ConceptVector]:
        return super().get_queryset(request).defer("embedding")
