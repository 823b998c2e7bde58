"""Entries: list, read, create, change, archive, restore (api.md, Curriculum).

A key sees shared entries, public ones of its topics, and those of the learners it may see. Authors write
in the shared scopes; what is kept of a learner comes in by ``memories``.
"""

from typing import Any
from uuid import UUID

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.catalog.models import Topic
from apps.clients.idempotency import idempotent
from apps.core.api.etags import expected_version
from apps.core.api.views import ApiView, shown
from apps.core.errors import Invalid
from apps.dials.queries import get_dials
from apps.entries import actions
from apps.entries.models import Entry
from apps.entries.querysets import EntryQuerySet
from apps.entries.serializers import EntryChangeSerializer, EntryPage, EntryQuery, EntrySerializer
from apps.rules.dials import DialValues
from apps.rules.scopes import SHARED_SCOPES

_COLUMNS = {
    "topic": "topic__slug",
    "concept": "concept_slug",
    "maturity": "maturity",
    "provenance": "source_type",
}


class EntryView(ApiView):
    """What the addresses of entries share."""

    scope = "author"

    def visible(self) -> EntryQuerySet:
        """The entries that the key may see, with their topics."""
        return Entry.objects.visible_to(self.access).select_related("topic")

    def entry(self, entry_id: UUID) -> Entry:
        """One of them."""
        return self.one(self.visible().filter(pk=entry_id))

    def shown(self, entry: Entry, *, made: bool = False) -> Response:
        """An entry as an answer."""
        return shown(EntrySerializer(entry).data, entry, made=made)

    def dials(self) -> DialValues:
        """The dials in force; authoring reads none that differs by space."""
        return get_dials(settings.LODE_EMBEDDING_PROVIDER)


class EntryList(EntryView):
    """Entries."""

    query = {"GET": EntryQuery}

    @extend_schema(responses=EntryPage)
    def get(self, _request: Request) -> Response:
        """The entries that the key may see, oldest first; a learner's only where their scope is named."""
        return self.page(
            self._filtered(), order=["id"], show=lambda page: EntrySerializer(page, many=True).data
        )

    def _filtered(self) -> EntryQuerySet:
        given = self.parameters
        scopes = [given["scope"]] if "scope" in given else SHARED_SCOPES
        rows = self.visible().filter(visibility_scope__in=scopes, superseded_at__isnull=True)
        rows = rows.in_state(given["state"])
        rows = rows.filter(**{column: given[name] for name, column in _COLUMNS.items() if name in given})
        return rows.below_floor(self.dials()) if given["below_floor"] else rows

    @extend_schema(request=EntrySerializer, responses={201: EntrySerializer, 200: EntrySerializer})
    @idempotent
    def post(self, _request: Request) -> Response:
        """Create an entry, as a candidate. 200 where it is there already, just so.

        409 `exists` where its identity is taken by another content, and `archived` by a retired entry;
        each says the `id`.
        """
        given = self.body(EntrySerializer)
        given["scope"] = given.pop("visibility_scope")
        given["topic"] = self._topic(given.get("topic"))
        draft = actions.EntryDraft(**given)
        entry, made = actions.create_entry(draft=draft, dials=self.dials(), actor=self.actor, now=self.now)
        return self.shown(entry, made=made)

    def _topic(self, slug: str | None) -> Topic | None:
        topic = Topic.objects.visible_to(self.access.topics).filter(slug=slug).first()
        if slug is not None and topic is None:
            raise Invalid("unknown_topic", f"there is no topic {slug!r}", "/topic")
        return topic


class EntryDetail(EntryView):
    """One entry."""

    has_etag = True

    @extend_schema(responses=EntrySerializer)
    def get(self, _request: Request, *, entry_id: UUID) -> Response:
        """Read an entry, also a superseded one."""
        return self.shown(self.entry(entry_id))

    @extend_schema(request=EntryChangeSerializer, responses=EntrySerializer)
    def patch(self, request: Request, *, entry_id: UUID) -> Response:
        """Change an entry. An edit lifts one that has fallen below its floor back to it."""
        entry = self.entry(entry_id)
        changes: dict[str, Any] = self.changes(EntryChangeSerializer)
        return self.shown(
            actions.change_entry(
                entry=entry,
                changes=changes,
                expected_version=expected_version(request, entry),
                dials=self.dials(),
                actor=self.actor,
                now=self.now,
            )
        )


class EntryArchive(EntryView):
    """An entry's retirement."""

    has_etag = True

    @extend_schema(request=None, responses=EntrySerializer)
    @idempotent
    def post(self, request: Request, *, entry_id: UUID) -> Response:
        """Archive an entry: it is kept, keeps its identity, and is never retrieved. Twice is once."""
        self.nothing()
        entry = self.entry(entry_id)
        version = expected_version(request, entry)
        return self.shown(
            actions.archive_entry(entry=entry, expected_version=version, actor=self.actor, now=self.now)
        )


class EntryRestore(EntryView):
    """An entry's return."""

    has_etag = True

    @extend_schema(request=None, responses=EntrySerializer)
    @idempotent
    def post(self, request: Request, *, entry_id: UUID) -> Response:
        """Bring an archived entry back, as a candidate at the candidate floor at least. Twice is once."""
        self.nothing()
        entry = self.entry(entry_id)
        return self.shown(
            actions.restore_entry(
                entry=entry,
                expected_version=expected_version(request, entry),
                dials=self.dials(),
                actor=self.actor,
                now=self.now,
            )
        )
