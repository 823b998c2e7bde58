"""What the API takes and says of an import or export."""

from typing import Any

from rest_framework import serializers

from apps.core.api import fields
from apps.core.api.serializers import StrictSerializer
from apps.curriculum.bundle.records import Kind
from apps.curriculum.bundle.writing import Format


class ImportQuery(StrictSerializer):
    """How to import."""

    dry_run = serializers.BooleanField(
        required=False, default=False, help_text="Say what would change, field by field, and write nothing."
    )


class ExportQuery(StrictSerializer):
    """What to export, and how."""

    topic = fields.SlugField(
        required=False, help_text="Only what belongs to that topic; without it, all that the key may see."
    )
    format = fields.ChoiceField(
        required=False, default=Format.JSON.value, choices=[form.value for form in Format]
    )


class CountsSerializer(serializers.Serializer[Any]):
    """How many rows are made, changed, and left as they are."""

    created = serializers.IntegerField()
    changed = serializers.IntegerField()
    unchanged = serializers.IntegerField()


class KindsSerializer(serializers.Serializer[Any]):
    """The counts of each kind of row."""

    topics = CountsSerializer()
    concepts = CountsSerializer()
    entries = CountsSerializer()
    edges = CountsSerializer()


class FieldChangeSerializer(serializers.Serializer[Any]):
    """One field of a stored row, before and after."""

    field = serializers.CharField()
    before = serializers.JSONField(allow_null=True)
    after = serializers.JSONField(allow_null=True)


class RowChangeSerializer(serializers.Serializer[Any]):
    """One row that would be made (no fields) or changed."""

    kind = serializers.ChoiceField(choices=[kind.value for kind in Kind])
    what = serializers.CharField(help_text="The row in words.")
    pointer = serializers.CharField(source="place.pointer", help_text="Where the bundle states it.")
    is_new = serializers.BooleanField()
    fields = FieldChangeSerializer(many=True)  # type: ignore[assignment]  # a field, not DRF's property


class ReportSerializer(CountsSerializer):
    """What an import did, or would do."""

    run = serializers.UUIDField(help_text="Finds the import's events in the audit.")
    dry_run = serializers.BooleanField()
    kinds = KindsSerializer()
    changes = RowChangeSerializer(
        many=True, help_text="Row by row, in the order of the bundle; of a dry run alone."
    )


class BundleSerializer(serializers.Serializer[Any]):
    """A curriculum as one JSON document, `lode-curriculum/1`. Its fields are those of the sheets of the zip."""

    format = serializers.CharField()
    topics = serializers.ListField(child=serializers.DictField(), required=False)
    concepts = serializers.ListField(child=serializers.DictField(), required=False)
    entries = serializers.ListField(child=serializers.DictField(), required=False)
    edges = serializers.ListField(child=serializers.DictField(), required=False)
