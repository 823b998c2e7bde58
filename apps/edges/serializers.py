"""What the API says of edges, and takes for them."""

from rest_framework import serializers

from apps.core.api import fields
from apps.core.api.serializers import PageQuery, StrictSerializer, page_of
from apps.edges.models import EdgeType
from apps.entries.models import Provenance


class EdgeSerializer(StrictSerializer):
    """A directed, typed relation between two entries. A `prerequisite`'s source needs its target first."""

    id = serializers.IntegerField(read_only=True)
    source = fields.IdField(source="source_id")  # type: ignore[assignment]  # a field, not DRF's attribute
    target = fields.IdField(source="target_id")
    type = fields.ChoiceField(source="edge_type", choices=EdgeType.choices)
    condition = fields.TextField(required=False, allow_blank=True)
    rationale = fields.TextField(required=False, allow_blank=True)
    confidence = fields.ShareField(required=False)
    provenance = serializers.ChoiceField(source="source_type", choices=Provenance.choices, read_only=True)
    hit_count = serializers.IntegerField(read_only=True)
    session = serializers.UUIDField(read_only=True, allow_null=True)
    rendered_count = serializers.IntegerField(read_only=True)
    last_rendered_at = serializers.DateTimeField(read_only=True, allow_null=True)
    walked_count = serializers.IntegerField(read_only=True)
    last_walked_at = serializers.DateTimeField(read_only=True, allow_null=True)
    created_at = serializers.DateTimeField(read_only=True)
    updated_at = serializers.DateTimeField(read_only=True)
    version = serializers.IntegerField(read_only=True)


EdgePage = page_of(EdgeSerializer, "EdgePage")


class EdgeChangeSerializer(EdgeSerializer):
    """A change of an edge. Its ends and type are its identity."""

    fixed = ("source", "target", "type")


class EdgeQuery(PageQuery):
    """Filters of the list of edges."""

    source = serializers.UUIDField(  # type: ignore[assignment]  # a field, not DRF's attribute
        required=False, help_text="Edges that lead from that entry."
    )
    target = serializers.UUIDField(required=False, help_text="Edges that lead to that entry.")
    entry = serializers.UUIDField(required=False, help_text="Edges that lead from or to that entry.")
    type = fields.ChoiceField(required=False, choices=EdgeType.choices)
    provenance = fields.ChoiceField(required=False, choices=Provenance.values)
