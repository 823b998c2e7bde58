"""Edges: list, read, create, change, delete (api.md, Curriculum).

A key sees an edge where it may see both of its ends.
"""

from typing import Any
from uuid import UUID

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.clients.idempotency import idempotent
from apps.core.api.etags import expected_version
from apps.core.api.views import ApiView, shown
from apps.core.errors import Invalid
from apps.dials.queries import get_dials
from apps.edges import actions
from apps.edges.models import Edge
from apps.edges.querysets import EdgeQuerySet
from apps.edges.serializers import EdgeChangeSerializer, EdgePage, EdgeQuery, EdgeSerializer
from apps.entries.models import Entry
from apps.rules.dials import DialValues

_COLUMNS = {"source": "source", "target": "target", "type": "edge_type", "provenance": "source_type"}


class EdgeView(ApiView):
    """What the addresses of edges share."""

    scope = "author"

    def visible(self) -> EdgeQuerySet:
        """The edges that the key may see."""
        return Edge.objects.visible_to(self.access)

    def edge(self, edge_id: int) -> Edge:
        """One of them."""
        return self.one(self.visible().filter(pk=edge_id))

    def shown(self, edge: Edge, *, made: bool = False) -> Response:
        """An edge as an answer."""
        return shown(EdgeSerializer(edge).data, edge, made=made)

    def dials(self) -> DialValues:
        """The dials in force; edges read none that differs by space."""
        return get_dials(settings.LODE_EMBEDDING_PROVIDER)


class EdgeList(EdgeView):
    """Edges."""

    query = {"GET": EdgeQuery}

    @extend_schema(responses=EdgePage)
    def get(self, _request: Request) -> Response:
        """The edges that the key may see, oldest first; those of a learner's entries only where one is named."""
        given = self.parameters
        rows = self.visible().filter(
            **{column: given[name] for name, column in _COLUMNS.items() if name in given}
        )
        if "entry" in given:
            rows = rows.touching(given["entry"])
        if not {"source", "target", "entry"} & set(given):
            rows = rows.shared()
        return self.page(rows, order=["id"], show=lambda page: EdgeSerializer(page, many=True).data)

    @extend_schema(request=EdgeSerializer, responses={201: EdgeSerializer, 200: EdgeSerializer})
    @idempotent
    def post(self, _request: Request) -> Response:
        """Create an edge. 200 where it is there already, just so; 409 `exists`, with its `id`, where it differs.

        422 `cycle`, with its `path`, where a prerequisite would close one.
        """
        given = self.body(EdgeSerializer)
        draft = actions.EdgeDraft(
            source=self._end(given.pop("source_id"), "/source"),
            target=self._end(given.pop("target_id"), "/target"),
            **given,
        )
        edge, made = actions.create_edge(draft=draft, dials=self.dials(), actor=self.actor, now=self.now)
        return self.shown(edge, made=made)

    def _end(self, entry_id: UUID, pointer: str) -> Entry:
        """An entry that the key may see; one that it may not, one that is gone and one that never was are alike."""
        entry = Entry.objects.rows().visible_to(self.access).filter(pk=entry_id).first()
        if entry is None:
            raise Invalid("target_not_current", f"there is no entry {entry_id} that is in use", pointer)
        return entry


class EdgeDetail(EdgeView):
    """One edge."""

    has_etag = True

    @extend_schema(responses=EdgeSerializer)
    def get(self, _request: Request, *, edge_id: int) -> Response:
        """Read an edge."""
        return self.shown(self.edge(edge_id))

    @extend_schema(request=EdgeChangeSerializer, responses=EdgeSerializer)
    def patch(self, request: Request, *, edge_id: int) -> Response:
        """Change an edge's condition, rationale or confidence."""
        edge = self.edge(edge_id)
        changes: dict[str, Any] = self.changes(EdgeChangeSerializer)
        return self.shown(
            actions.change_edge(
                edge=edge,
                changes=changes,
                expected_version=expected_version(request, edge),
                dials=self.dials(),
                actor=self.actor,
                now=self.now,
            )
        )

    @extend_schema(responses={204: None})
    def delete(self, request: Request, *, edge_id: int) -> Response:
        """Delete an edge for good; the audit keeps what it was."""
        edge = self.edge(edge_id)
        version = expected_version(request, edge)
        actions.delete_edge(edge=edge, expected_version=version, actor=self.actor, now=self.now)
        return Response(status=204)
