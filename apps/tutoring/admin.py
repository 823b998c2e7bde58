"""Learners, their sessions turn by turn, and what was retrieved for each turn."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import CharField, OuterRef, QuerySet, Subquery
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.http import HttpRequest
from unfold.contrib.filters.admin import AutocompleteSelectFilter
from unfold.decorators import display

from apps.audit.admin.events import recent_events
from apps.catalog.models import Topic
from apps.clients.models import ApiKey
from apps.core.admin import html
from apps.core.admin.base import ReadOnlyAdmin
from apps.core.admin.counts import related_count
from apps.core.admin.filters import WordFilter
from apps.entries.models import Entry
from apps.tutoring.models import Learner, Outcome, Retrieval, SessionState, Turn, TutoringSession

SESSION_STATES = {"open": "info", "ended": "warning", "consolidated": "success"}
OUTCOMES = {"success": "success", "failure": "danger"}
BLOCKS = ("topic_memory", "tutor_memory", "student_patterns")
_SHOWN_TURNS = 200


class StateFilter(WordFilter):
    title = "state"
    parameter_name = "state"
    words = tuple((word.value, word.value) for word in SessionState)


class OutcomeFilter(WordFilter):
    title = "outcome"
    parameter_name = "outcome"
    words = tuple((word.value, word.value) for word in Outcome)


@admin.register(Learner)
class LearnerAdmin(ReadOnlyAdmin):
    """Who is taught."""

    audit_kind = "learner"
    list_display = ("external_id", "session_count", "memories", "created_at")
    search_fields = ("external_id__startswith",)
    search_help_text = "How the learner's id begins"
    ordering = ("external_id",)
    sortable_by = ("external_id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Learner]:
        learners: QuerySet[Learner] = super().get_queryset(request)
        return learners.annotate(session_total=related_count(Learner, "sessions"))

    @display(description="sessions")
    def session_count(self, learner: Any) -> str:
        address = html.list_of("tutoring_tutoringsession", learner__id__exact=learner.pk)
        return html.link(address, learner.session_total)

    @display(description="patterns and memories")
    def memories(self, learner: Learner) -> str:
        scope = f"student:{learner.external_id}"
        return html.link(html.list_of("entries_entry", visibility_scope=scope), "show")

    def get_panels(self, request: HttpRequest, obj: Learner) -> Sequence[html.Panel]:
        return [recent_events("learner", obj.pk)]


@admin.register(TutoringSession)
class SessionAdmin(ReadOnlyAdmin):
    """One learner taught one topic, from start to end."""

    audit_kind = "session"
    list_display = ("started_at", "learner_link", "topic", "level", "state_label", "turn_count")
    list_display_links = ("started_at",)
    list_filter = (StateFilter, ("topic", AutocompleteSelectFilter))
    link_filters = ("learner",)
    list_select_related = ("learner", "topic")
    search_fields = ("learner__external_id__startswith",)
    search_help_text = "How the learner's id begins, or the session's id"
    ordering = ("-id",)
    sortable_by = ()
    fields = ("learner", "topic", "level", "state", "started_at", "ended_at", "consolidated_at", "id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[TutoringSession]:
        sessions: QuerySet[TutoringSession] = super().get_queryset(request)
        return sessions.annotate(turn_total=related_count(TutoringSession, "turns"))

    @display(description="learner")
    def learner_link(self, session: TutoringSession) -> str:
        return html.link_to(session.learner)

    @display(description="state", label=SESSION_STATES)
    def state_label(self, session: TutoringSession) -> str:
        return session.state

    @display(description="turns")
    def turn_count(self, session: Any) -> str:
        return html.link(html.list_of("tutoring_turn", session__id__exact=session.pk), session.turn_total)

    def get_panels(self, request: HttpRequest, obj: TutoringSession) -> Sequence[html.Panel]:
        turns = list(obj.turns.order_by("number")[:_SHOWN_TURNS])
        taught = Entry.objects.in_bulk([turn.taught_entry for turn in turns if turn.taught_entry])
        return [
            html.Panel(
                title="Turns",
                headers=["#", "Student", "Tutor", "Taught", "Outcome", "Retrieval"],
                rows=[_turn_row(turn, taught) for turn in turns],
                nothing="No turn yet.",
                more=html.link(html.list_of("tutoring_turn", session__id__exact=obj.pk), "All turns"),
            ),
            recent_events("session", obj.pk),
        ]


def _turn_row(turn: Turn, taught: Mapping[UUID, Entry]) -> list[object]:
    retrieval = html.page_of("tutoring_retrieval", turn.retrieval_id) if turn.retrieval_id else ""
    entry = taught.get(turn.taught_entry) if turn.taught_entry else None
    return [
        html.link(html.page_of("tutoring_turn", turn.pk), turn.number),
        html.shortened(turn.student_message),
        html.shortened(turn.tutor_message),
        html.link_to(entry),
        turn.outcome or html.NOTHING,
        html.link(retrieval, "what was recalled") if retrieval else html.NOTHING,
    ]


@admin.register(Turn)
class TurnAdmin(ReadOnlyAdmin):
    """Turn memory."""

    list_display = ("created_at", "session_link", "number", "message", "outcome_label")
    list_filter = (OutcomeFilter,)
    link_filters = ("session", "taught_entry")
    list_select_related = ()
    ordering = ("-id",)
    sortable_by = ()
    fields = (
        "session",
        "number",
        "student_text",
        "tutor_text",
        "taught",
        "concepts",
        "outcome",
        "strength",
        "struggles",
        "observations",
        "retrieval",
        "created_at",
    )

    @display(description="session")
    def session_link(self, turn: Turn) -> str:
        return html.link(html.page_of("tutoring_tutoringsession", turn.session_id), turn.session_id)

    @display(description="student")
    def message(self, turn: Turn) -> str:
        return html.shortened(turn.student_message)

    @display(description="outcome", label=OUTCOMES)
    def outcome_label(self, turn: Turn) -> str | None:
        return turn.outcome

    @display(description="student")
    def student_text(self, turn: Turn) -> str:
        return html.preformatted(turn.student_message)

    @display(description="tutor")
    def tutor_text(self, turn: Turn) -> str:
        return html.preformatted(turn.tutor_message)

    @display(description="taught entry")
    def taught(self, turn: Turn) -> str:
        return html.link_to(Entry.objects.filter(pk=turn.taught_entry).first() if turn.taught_entry else None)


@admin.register(Retrieval)
class RetrievalAdmin(ReadOnlyAdmin):
    """What was asked, what was found, and the prompt as it was handed over."""

    list_display = ("created_at", "message", "topic_title", "learner", "found", "space")
    list_display_links = ("created_at",)
    link_filters = ("session", "learner", "topic_id", "api_key")
    search_fields = ("learner__exact",)
    search_help_text = "A learner's id, or the retrieval's, written out"
    ordering = ("-id",)
    sortable_by = ()
    fieldsets = (
        (None, {"fields": ("message", "prompt")}),
        ("Asked by", {"fields": ("learner_link", "session_link", "topic_link", "key", "created_at", "id")}),
        ("Under", {"fields": ("space", "dials_version", "request")}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Retrieval]:
        """The answers of a whole page would be megabytes: a list reads the message alone."""
        rows: QuerySet[Retrieval] = super().get_queryset(request)
        title = Topic.objects.filter(pk=OuterRef("topic_id")).values("title")[:1]
        said = Cast(KeyTextTransform("message", "request"), CharField())
        rows = rows.annotate(topic_name=Subquery(title), said=said)
        one = request.resolver_match is not None and "object_id" in request.resolver_match.kwargs
        return rows if one else rows.defer("request", "response")

    @display(description="message")
    def message(self, retrieval: Any) -> str:
        return html.shortened(retrieval.said or "")

    @display(description="topic")
    def topic_title(self, retrieval: Any) -> str:
        return retrieval.topic_name or html.NOTHING

    @display(description="topic")
    def topic_link(self, retrieval: Any) -> str:
        named = retrieval.topic_id is not None and retrieval.topic_name
        return html.link(html.page_of("catalog_topic", retrieval.topic_id), named) if named else html.NOTHING

    @display(description="entries")
    def found(self, retrieval: Retrieval) -> int:
        return len(retrieval.matched_entries)

    @display(description="session")
    def session_link(self, retrieval: Retrieval) -> str:
        return html.link_to_id("tutoring_tutoringsession", retrieval.session)

    @display(description="API key")
    def key(self, retrieval: Retrieval) -> str:
        pk = retrieval.api_key
        return html.link_to(ApiKey.objects.filter(pk=pk).first() if pk else None)

    @display(description="learner")
    def learner_link(self, retrieval: Retrieval) -> str:
        learner = Learner.objects.filter(external_id=retrieval.learner).first()
        return html.link_to(learner) if learner else retrieval.learner or html.NOTHING

    @display(description="prompt as handed over")
    def prompt(self, retrieval: Retrieval) -> str:
        prompt = _answer(retrieval).get("prompt")
        return html.preformatted(str(prompt)) if prompt else "An empty prompt: nothing was found."

    def get_panels(self, request: HttpRequest, obj: Retrieval) -> Sequence[html.Panel]:
        return [
            html.Panel(
                title="What was found",
                headers=["Entry", "Block", "Band", "Similarity", "Confidence", "Score", "Found by"],
                rows=[_advisory_row(block, advisory) for block, advisory in _advisories(obj)],
                nothing="Nothing was found.",
            )
        ]


def _answer(retrieval: Retrieval) -> Mapping[str, Any]:
    return retrieval.response if isinstance(retrieval.response, dict) else {}


def _advisories(retrieval: Retrieval) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for block in BLOCKS:
        for advisory in _answer(retrieval).get(block) or ():
            yield block.replace("_", " "), advisory


def _advisory_row(block: str, advisory: Mapping[str, Any]) -> list[object]:
    entry, title = advisory.get("entry"), advisory.get("title") or "(no title)"
    return [
        html.link(html.page_of("entries_entry", entry), title) if entry else title,
        block,
        advisory.get("band", html.NOTHING),
        *(html.decimals(advisory.get(name)) for name in ("similarity", "confidence", "score")),
        ", ".join(advisory.get("found_by") or ()) or html.NOTHING,
    ]
