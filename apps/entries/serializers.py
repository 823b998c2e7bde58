"""What the API says of entries, and takes for them."""

from rest_framework import serializers

from apps.core.api import fields
from apps.core.api.serializers import RetirableQuery, StrictSerializer, page_of
from apps.core.svg import UnsafeDrawingError, sanitised
from apps.entries.models import Entry, LadderStep, Maturity, MemorySource, Provenance
from apps.rules.scopes import PUBLIC, SHARED_SCOPES
from apps.rules.slugs import UNANCHORED

_GROWING = [Maturity.CANDIDATE, Maturity.PATTERN, Maturity.PROVEN]


class TopicField(fields.SlugField):
    """The slug of an entry's topic."""

    def get_attribute(self, instance: Entry) -> str | None:
        """The topic comes with ``select_related``."""
        return instance.topic.slug if instance.topic else None


class ConceptField(fields.SlugField):
    """What an entry is about; null for one that is unanchored."""

    def get_attribute(self, instance: Entry) -> str | None:
        """The slug, where it is one."""
        return None if instance.concept_slug == UNANCHORED else instance.concept_slug


class DrawingField(fields.TextField):
    """One SVG, kept as it can be shown anywhere: shapes and text that do nothing."""

    default_error_messages = {"unsafe_drawing": "{why}"}

    def to_internal_value(self, data: object) -> str:
        try:
            return sanitised(super().to_internal_value(data))
        except UnsafeDrawingError as error:
            self.fail("unsafe_drawing", why=str(error))


class SharedScopeField(fields.ScopeField):
    """A scope that authors write in."""

    default_error_messages = {
        "student_scope": "authors write in {shared}; a learner's memories come in by POST memories"
    }

    def to_internal_value(self, data: object) -> str:
        scope = super().to_internal_value(data)
        if scope not in SHARED_SCOPES:
            self.fail("student_scope", shared=", ".join(SHARED_SCOPES))
        return scope


class EntrySerializer(StrictSerializer):
    """One short piece of teaching knowledge."""

    id = serializers.UUIDField(read_only=True)
    scope = SharedScopeField(
        source="visibility_scope", required=False, default=PUBLIC, help_text="`public`, `tutor` or `visual`."
    )
    topic = TopicField(
        required=False, allow_null=True, help_text="A slug: required in `public`, provenance elsewhere."
    )
    concept = ConceptField(
        allow_null=True,
        help_text="The slug or an alias of a concept (in `tutor`: a name of its own); null where there is none.",
    )
    title = fields.TextField(max_length=300)
    instruction = fields.TextField()
    detail = fields.TextField(required=False, allow_blank=True)
    visual = DrawingField(required=False, allow_null=True, help_text="One SVG, in scope `visual` alone.")
    confidence = fields.ShareField(required=False)
    importance = fields.ShareField(required=False, allow_null=True, places=3)
    maturity = serializers.ChoiceField(choices=Maturity.choices, read_only=True)
    fact_key = serializers.CharField(read_only=True, allow_null=True)
    provenance = serializers.ChoiceField(source="source_type", choices=Provenance.choices, read_only=True)
    source = serializers.ChoiceField(choices=MemorySource.choices, read_only=True)  # type: ignore[assignment]  # a field, not DRF's attribute
    ladder_step = serializers.ChoiceField(choices=LadderStep.choices, read_only=True)
    concept_match_quality = fields.ShareField(read_only=True)
    success_count = serializers.IntegerField(read_only=True)
    failure_count = serializers.IntegerField(read_only=True)
    match_count = serializers.IntegerField(read_only=True)
    last_matched_at = serializers.DateTimeField(read_only=True, allow_null=True)
    last_observed_at = serializers.DateTimeField(read_only=True, allow_null=True)
    observed_at = serializers.DateTimeField(read_only=True)
    approved_at = serializers.DateTimeField(read_only=True, allow_null=True)
    stale_at = serializers.DateTimeField(read_only=True, allow_null=True)
    archived_at = serializers.DateTimeField(read_only=True, allow_null=True)
    superseded_at = serializers.DateTimeField(read_only=True, allow_null=True)
    superseded_by = serializers.UUIDField(source="superseded_by_id", read_only=True, allow_null=True)
    session = serializers.UUIDField(read_only=True, allow_null=True)
    created_at = serializers.DateTimeField(read_only=True)
    updated_at = serializers.DateTimeField(read_only=True)
    version = serializers.IntegerField(read_only=True)


EntryPage = page_of(EntrySerializer, "EntryPage")


class EntryChangeSerializer(EntrySerializer):
    """A change of an entry. Its scope and topic are its own for ever; it is archived at its own address."""

    fixed = ("scope", "topic")
    maturity = fields.ChoiceField(choices=_GROWING)


class EntryQuery(RetirableQuery):
    """Filters of the list of entries."""

    scope = fields.ScopeField(
        required=False, help_text="One scope; a learner's rows are listed only where theirs is named."
    )
    topic = fields.SlugField(required=False, help_text="Entries of that topic.")
    concept = fields.TextField(
        required=False, help_text="Entries of that slug; `_unanchored_` for those of none."
    )
    maturity = fields.ChoiceField(required=False, choices=_GROWING)
    provenance = fields.ChoiceField(required=False, choices=Provenance.values)
    below_floor = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Only rows that no retrieval finds: their confidence has sunk too far.",
    )
