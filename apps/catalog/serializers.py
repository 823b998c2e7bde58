"""What the API says of topics and concepts, and takes for them."""

from rest_framework import serializers

from apps.catalog.models import Concept, ConceptStatus
from apps.core.api import fields
from apps.core.api.serializers import RetirableQuery, StrictSerializer, page_of
from apps.rules.slugs import slugify


class TopicSerializer(StrictSerializer):
    """A subject that entries are taught under."""

    id = serializers.IntegerField(read_only=True)
    slug = fields.SlugField()
    title = fields.TextField(max_length=300)
    description = fields.TextField(required=False, allow_blank=True)
    archived_at = serializers.DateTimeField(read_only=True, allow_null=True)
    created_at = serializers.DateTimeField(read_only=True)
    updated_at = serializers.DateTimeField(read_only=True)
    version = serializers.IntegerField(read_only=True)


TopicPage = page_of(TopicSerializer, "TopicPage")


class AliasesField(serializers.ListField):
    """A concept's aliases, as they were written."""

    child = fields.TextField(max_length=300)

    def get_attribute(self, instance: Concept) -> list[str]:
        """The names that are not canonical; they come with ``Concept.objects.with_aliases()``."""
        return [name.name for name in instance.names.all() if not name.is_canonical]


class ConceptSerializer(StrictSerializer):
    """A canonical idea. Its slug and aliases are unique among those of all concepts."""

    id = serializers.IntegerField(read_only=True)
    slug = fields.SlugField()
    title = fields.TextField(max_length=300)
    definition = fields.TextField(required=False, allow_blank=True)
    aliases = AliasesField(required=False, max_length=200)
    status = serializers.ChoiceField(choices=ConceptStatus.choices, read_only=True)
    archived_at = serializers.DateTimeField(read_only=True, allow_null=True)
    created_at = serializers.DateTimeField(read_only=True)
    updated_at = serializers.DateTimeField(read_only=True)
    version = serializers.IntegerField(read_only=True)


ConceptPage = page_of(ConceptSerializer, "ConceptPage")


class ConceptQuery(RetirableQuery):
    """Filters of the list of concepts."""

    name = fields.TextField(
        required=False, help_text="The concept of that slug or alias, as it would be written."
    )
    status = fields.ChoiceField(required=False, choices=ConceptStatus.values)

    def validate_name(self, name: str) -> str:
        """A name is looked up by its slug."""
        return slugify(name) or name
