"""What requests of retrieval may say, and for the schema what answers hold (the answers are plain dictionaries)."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.api import fields
from apps.core.api.serializers import StrictSerializer
from apps.edges.models import EdgeType
from apps.entries.models import Maturity, Provenance
from apps.rules.ranking import Pass
from apps.rules.words import Band

_MESSAGE_CHARS = 100_000
_NAMES = 50
_SCOPES = 20
_NUMBERS = 16_000


class NameField(fields.TextField):
    """The name of a concept as a client knows it; one that is no concept's is told, and no error."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"max_length": 100, **kwargs})


@extend_schema_field(OpenApiTypes.STR)
class WordsField(serializers.Field[list[str], str, str, Any]):
    """Words of a closed set, joined by commas: a query parameter stands once."""

    default_error_messages = {"invalid_choice": "{word!r} is none of {choices}"}

    def __init__(self, *, choices: list[str], **kwargs: Any) -> None:
        self.choices = choices
        super().__init__(**kwargs)

    def to_internal_value(self, data: str) -> list[str]:
        words = list(dict.fromkeys(data.split(",")))
        for word in words:
            if word not in self.choices:
                self.fail("invalid_choice", word=word, choices=", ".join(self.choices))
        return words

    def to_representation(self, value: Any) -> str:
        return ",".join(value)


class QuestionSerializer(StrictSerializer):
    """One turn of a tutor client. What is left out is the session's, or the dial's."""

    message = fields.TextField(max_length=_MESSAGE_CHARS, help_text="What the learner said.")
    topic = fields.SlugField(required=False, help_text="May be left out with `session`.")
    learner = fields.LearnerField(required=False)
    session = fields.IdField(required=False)
    level = fields.TextField(required=False, max_length=50)
    focus = fields.TextField(required=False, max_length=500)
    expected_concepts = serializers.ListField(
        child=NameField(),
        required=False,
        max_length=_NAMES,
        help_text="Slugs or aliases. `[]` says none; left out, they are those of the session's last turns.",
    )
    top_k = fields.WholeField(required=False, min_value=1, max_value=50)
    min_confidence = fields.ShareField(required=False)
    explain = fields.FlagField(required=False, default=False, help_text="Adds `factors` to every advisory.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A topic is named, or a session that has one."""
        if "topic" not in attrs and "session" not in attrs:
            raise serializers.ValidationError({"topic": serializers.ErrorDetail(_NO_TOPIC, "required")})
        return attrs


_NO_TOPIC = "name a topic, or a session that has one"


class FilterSerializer(StrictSerializer):
    """Which rows a search may find."""

    topic = fields.SlugField(required=False, help_text="Left out, the search crosses topics.")
    scopes = serializers.ListField(
        child=fields.ScopeField(),
        required=False,
        min_length=1,
        max_length=_SCOPES,
        help_text="`public` where left out.",
    )
    min_confidence = fields.ShareField(required=False)
    limit = fields.WholeField(required=False, min_value=1, max_value=50)


class MatchSerializer(FilterSerializer):
    """A search by meaning: by a text, or by a vector of the serving space."""

    text = fields.TextField(required=False, max_length=_MESSAGE_CHARS)
    vector = serializers.ListField(
        child=fields.NumberField(), required=False, min_length=1, max_length=_NUMBERS
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Exactly one of the two."""
        if ("text" in attrs) == ("vector" in attrs):
            raise serializers.ValidationError("send either text or vector", "one_of_two")
        return attrs


class MatchConceptsSerializer(FilterSerializer):
    """A search by name."""

    concepts = serializers.ListField(child=NameField(), min_length=1, max_length=_NAMES)


class WalkQuery(StrictSerializer):
    """How far a walk goes, and along what."""

    depth = serializers.IntegerField(required=False, default=1, min_value=1, help_text="Hops.")
    min_confidence = serializers.DecimalField(
        required=False, max_digits=7, decimal_places=6, min_value=0, max_value=1
    )
    include_candidates = serializers.BooleanField(required=False, allow_null=True, default=None)
    types = WordsField(required=False, choices=EdgeType.values, help_text="Types of edges, joined by commas.")


class GraphQuery(StrictSerializer):
    """Which edges are drawn."""

    types = WordsField(required=False, choices=EdgeType.values, help_text="Types, joined by commas.")
    provenance = WordsField(required=False, choices=Provenance.values, help_text="Joined by commas.")


class WalkedSerializer(serializers.Serializer[Any]):
    """An edge that a walk took."""

    edge = serializers.IntegerField()
    type = serializers.ChoiceField(choices=EdgeType.choices)
    source = serializers.UUIDField()  # type: ignore[assignment]  # a field, not DRF's attribute
    target = serializers.UUIDField()
    target_title = serializers.CharField()
    target_instruction = serializers.CharField()
    condition = serializers.CharField()
    confidence = serializers.FloatField()
    provenance = serializers.ChoiceField(choices=Provenance.choices)


class FactorsSerializer(serializers.Serializer[Any]):
    """What a score is the product of."""

    similarity = serializers.FloatField(help_text="The one that ranks: 1 for a row found by its concept.")
    confidence = serializers.FloatField()
    maturity_boost = serializers.FloatField()
    concept_bonus = serializers.FloatField()


class FoundEntrySerializer(serializers.Serializer[Any]):
    """An entry as a search found it, scored and clipped."""

    entry = serializers.UUIDField()
    title = serializers.CharField()
    concept = serializers.CharField()
    topic = serializers.CharField(allow_null=True)
    scope = serializers.CharField()
    instruction = serializers.CharField()
    clipped = serializers.BooleanField()
    maturity = serializers.ChoiceField(choices=Maturity.choices)
    confidence = serializers.FloatField()
    similarity = serializers.FloatField(allow_null=True, help_text="Cosine; null where it was not measured.")
    score = serializers.FloatField(help_text="What ranks.")
    decision_score = serializers.FloatField(
        allow_null=True, help_text="Confidence x similarity: for routing."
    )
    band = serializers.ChoiceField(choices=list(Band))
    found_by = serializers.ListField(child=serializers.ChoiceField(choices=[Pass.SEMANTIC, Pass.CONCEPT]))
    expected = serializers.BooleanField()
    stale = serializers.BooleanField()


class AdvisorySerializer(FoundEntrySerializer):
    """An entry as it is handed to a tutor client."""

    edges = WalkedSerializer(many=True)
    factors = FactorsSerializer(required=False, help_text="With `explain` only.")


class TimingsSerializer(serializers.Serializer[Any]):
    """Milliseconds."""

    embed = serializers.FloatField()
    database = serializers.FloatField()
    total = serializers.FloatField()


class RetrievalSerializer(serializers.Serializer[Any]):
    """What a tutor should know for one turn."""

    retrieval = serializers.UUIDField()
    space = serializers.CharField(allow_null=True)
    context_text = serializers.CharField()
    expected_concepts = serializers.ListField(child=serializers.CharField())
    topic_memory = AdvisorySerializer(many=True)
    tutor_memory = AdvisorySerializer(many=True)
    student_patterns = AdvisorySerializer(many=True)
    prompt = serializers.CharField()
    decision_tree = serializers.CharField()
    rendered_edges = serializers.ListField(child=serializers.IntegerField())
    dials_version = serializers.IntegerField()
    degraded = serializers.ListField(child=serializers.ChoiceField(choices=[Pass.SEMANTIC]))
    ignored = serializers.ListField(child=serializers.CharField())
    timings_ms = TimingsSerializer()


class MatchesSerializer(serializers.Serializer[Any]):
    """What a search by meaning found, best first."""

    results = FoundEntrySerializer(many=True)


class ConceptMatchesSerializer(MatchesSerializer):
    """What a search by name found, best first."""

    ignored = serializers.ListField(child=serializers.CharField(), help_text="Names that found nothing.")


class NodeSerializer(serializers.Serializer[Any]):
    """An entry that a walk came to."""

    entry = serializers.UUIDField()
    title = serializers.CharField()
    concept = serializers.CharField()
    topic = serializers.CharField(allow_null=True)
    scope = serializers.CharField()
    instruction = serializers.CharField()
    maturity = serializers.ChoiceField(choices=Maturity.choices)
    confidence = serializers.FloatField()
    stale = serializers.BooleanField()
    depth = serializers.IntegerField(help_text="Hops from the start.")


class StepSerializer(WalkedSerializer):
    """An edge of a longer walk."""

    depth = serializers.IntegerField(help_text="The hop that it is.")


class WalkSerializer(serializers.Serializer[Any]):
    """Where the edges lead, nearest first."""

    start = serializers.UUIDField()
    nodes = NodeSerializer(many=True)
    edges = StepSerializer(many=True)
    truncated = serializers.BooleanField(
        help_text="Whether the walk stopped at its greatest number of entries."
    )


class VisualSerializer(serializers.Serializer[Any]):
    """The visual record of a concept."""

    entry = serializers.UUIDField()
    concept = serializers.CharField()
    title = serializers.CharField()
    instruction = serializers.CharField()
    detail = serializers.CharField()
    visual = serializers.CharField(help_text="A sanitised SVG.")
    maturity = serializers.ChoiceField(choices=Maturity.choices)
    confidence = serializers.FloatField()


class GraphNodeSerializer(serializers.Serializer[Any]):
    """A row of a topic."""

    entry = serializers.UUIDField()
    title = serializers.CharField()
    concept = serializers.CharField()
    maturity = serializers.ChoiceField(choices=Maturity.choices)
    confidence = serializers.FloatField()
    provenance = serializers.ChoiceField(choices=Provenance.choices)
    stale = serializers.BooleanField()


class GraphEdgeSerializer(serializers.Serializer[Any]):
    """An edge between two rows of a topic."""

    edge = serializers.IntegerField()
    type = serializers.ChoiceField(choices=EdgeType.choices)
    source = serializers.UUIDField()  # type: ignore[assignment]  # a field, not DRF's attribute
    target = serializers.UUIDField()
    condition = serializers.CharField()
    rationale = serializers.CharField()
    confidence = serializers.FloatField()
    provenance = serializers.ChoiceField(choices=Provenance.choices)
    hit_count = serializers.IntegerField(help_text="Sessions that showed it.")


class GraphSerializer(serializers.Serializer[Any]):
    """A topic's rows and the edges between them."""

    topic = serializers.CharField()
    title = serializers.CharField()
    nodes = GraphNodeSerializer(many=True)
    edges = GraphEdgeSerializer(many=True)
