"""What stands behind entries: their vectors, observations and ledger."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from apps.core.admin import html
from apps.core.admin.base import ReadOnlyAdmin
from apps.entries.admin import ledger
from apps.entries.models import EntryLedger, EntryObservation, EntryVector


@admin.register(EntryVector)
class EntryVectorAdmin(ReadOnlyAdmin):
    """That a chunk of an entry has a vector; the numbers themselves are never loaded."""

    list_display = ("entry", "visibility_scope", "space", "chunk", "created_at")
    link_filters = ("entry", "space")
    list_select_related = ("entry", "space")
    fields = ("entry", "visibility_scope", "space", "dimensions", "chunk", "text_hash", "created_at")
    ordering = ("-id",)
    sortable_by = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[EntryVector]:
        return super().get_queryset(request).defer("embedding")


@admin.register(EntryObservation)
class EntryObservationAdmin(ReadOnlyAdmin):
    """That an entry was seen again, and in which words."""

    list_display = ("observed_at", "entry", "learner", "actor", "wording_start")
    link_filters = ("entry", "session")
    list_select_related = ("entry",)
    search_fields = ("learner__exact", "actor__exact")
    search_help_text = "A learner or an actor (user:anna), written out"
    ordering = ("-id",)
    sortable_by = ()

    @display(description="wording")
    def wording_start(self, observation: EntryObservation) -> str:
        return html.shortened(observation.wording)


@admin.register(EntryLedger)
class EntryLedgerAdmin(ReadOnlyAdmin):
    """Every step of every entry's confidence."""

    list_display = ("at", "entry", "what_happened", "before_number", "after_number")
    link_filters = ("entry", "session", "turn")
    list_select_related = ("entry",)
    ordering = ("-id",)
    sortable_by = ()

    @display(description="what happened")
    def what_happened(self, row: EntryLedger) -> str:
        return ledger.words(row)

    @display(description="from")
    def before_number(self, row: EntryLedger) -> str:
        return html.number(row.before)

    @display(description="to")
    def after_number(self, row: EntryLedger) -> str:
        return html.number(row.after)
