"""Entries: what Lode remembers, with every rule of identity held by the database (rules.md 1, 2, 8)."""

from decimal import Decimal

import pgtrigger
from django.db import models
from django.db.models import Case, Q, When
from django.db.models.functions import Substr

from apps.audit.triggers import audited, versioned
from apps.catalog.models import Topic
from apps.core.ids import uuid7
from apps.embeddings.models import AbstractVector
from apps.entries.querysets import EntryQuerySet
from apps.rules.scopes import SCOPE_PATTERN
from apps.rules.slugs import UNANCHORED

_STUDENT = Q(visibility_scope__startswith="student:")
_CURRENT = Q(superseded_at__isnull=True)
_NAMED = ~Q(concept_slug=UNANCHORED) & Q(fact_key__isnull=True)
# Counters and what is derived from other columns: kept out of the audit, and no reason for a new ETag.
_DERIVED = [
    "updated_at",
    "match_count",
    "last_matched_at",
    "last_observed_at",
    "text_hash",
    "anchor_slug",
    "learner_key",
]


class Maturity(models.TextChoices):
    CANDIDATE = "candidate"
    PATTERN = "pattern"
    PROVEN = "proven"
    ARCHIVED = "archived"


class Provenance(models.TextChoices):
    """What kind of evidence made a row; observation never changes it (rules.md 1)."""

    SEED = "seed"
    ENRICHED = "enriched"
    LEARNED = "learned"


class MemorySource(models.TextChoices):
    USER = "user"
    SYSTEM = "system"
    ASSISTANT = "assistant"
    TOOL = "tool"
    DOCUMENT = "document"


class LadderStep(models.TextChoices):
    EXACT = "exact"
    SIMILAR = "similar"
    MINTED = "minted"
    UNANCHORED = "unanchored"


def confidence_field(*, null: bool = False) -> "models.DecimalField[str | float | int | Decimal, Decimal]":
    """A confidence: NUMERIC(7,6), because 0.75 - 8 x 0.05 in binary is below 0.35."""
    return models.DecimalField(max_digits=7, decimal_places=6, null=null, blank=null)


class Entry(models.Model):
    """One short piece of teaching knowledge.

    ``anchor_slug`` is the concept slug where it must name a Concept (``public`` and ``visual``), and
    ``learner_key`` the learner of a student scope; both are generated, and foreign keys of the
    database stand on them.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    topic = models.ForeignKey(
        Topic, on_delete=models.PROTECT, null=True, blank=True, related_name="entries", db_index=False
    )
    concept_slug = models.CharField(max_length=100)
    visibility_scope = models.CharField(max_length=120)
    title = models.CharField(max_length=300)
    instruction = models.TextField()
    detail = models.TextField(blank=True, default="")
    visual = models.TextField(null=True, blank=True)
    text_hash = models.CharField(max_length=64, editable=False, default="")
    fact_key = models.CharField(max_length=200, null=True, blank=True)
    maturity = models.CharField(max_length=10, choices=Maturity, default=Maturity.CANDIDATE)
    confidence = confidence_field()
    importance = models.DecimalField(max_digits=4, decimal_places=3, null=True, blank=True)
    source_type = models.CharField(max_length=10, choices=Provenance)
    source = models.CharField(max_length=10, choices=MemorySource, default=MemorySource.SYSTEM)
    ladder_step = models.CharField(max_length=10, choices=LadderStep)
    concept_match_quality = models.DecimalField(max_digits=4, decimal_places=3)
    success_count = models.PositiveIntegerField(default=0)
    failure_count = models.PositiveIntegerField(default=0)
    match_count = models.PositiveIntegerField(default=0)
    last_matched_at = models.DateTimeField(null=True, blank=True)
    last_observed_at = models.DateTimeField(null=True, blank=True)
    observed_at = models.DateTimeField()
    approved_at = models.DateTimeField(null=True, blank=True)
    stale_at = models.DateTimeField(null=True, blank=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    superseded_at = models.DateTimeField(null=True, blank=True)
    superseded_by = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="superseded"
    )
    session = models.UUIDField(null=True, blank=True, help_text="The session that first observed it.")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    version = models.PositiveIntegerField(default=1)
    anchor_slug = models.GeneratedField(
        expression=Case(
            When(
                Q(visibility_scope__in=["public", "visual"]) & ~Q(concept_slug=UNANCHORED),
                then="concept_slug",
            )
        ),
        output_field=models.CharField(max_length=100, null=True),
        db_persist=True,
    )
    learner_key = models.GeneratedField(
        expression=Case(When(_STUDENT, then=Substr("visibility_scope", 9))),
        output_field=models.CharField(max_length=120, null=True),
        db_persist=True,
    )

    objects = EntryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "entries"
        constraints = [
            models.UniqueConstraint(
                fields=["topic", "concept_slug", "visibility_scope"],
                condition=_CURRENT & _NAMED & Q(visibility_scope="public"),
                name="identity_topic_fact",
            ),
            models.UniqueConstraint(
                fields=["visibility_scope", "concept_slug"],
                condition=_CURRENT & _NAMED & _STUDENT,
                name="identity_student_pattern",
            ),
            models.UniqueConstraint(
                fields=["concept_slug"],
                condition=_CURRENT & _NAMED & Q(visibility_scope="visual"),
                name="identity_visual",
            ),
            models.UniqueConstraint(
                fields=["visibility_scope", "concept_slug"],
                condition=_CURRENT & _NAMED & Q(visibility_scope="tutor"),
                name="identity_tutor_move",
            ),
            models.UniqueConstraint(
                fields=["visibility_scope", "topic", "fact_key"],
                condition=_CURRENT & Q(fact_key__isnull=False),
                nulls_distinct=False,
                name="identity_keyed_fact",
            ),
            models.UniqueConstraint(
                fields=["visibility_scope", "topic", "text_hash"],
                condition=_CURRENT & Q(concept_slug=UNANCHORED, fact_key__isnull=True),
                nulls_distinct=False,
                name="identity_unnamed_text",
            ),
            models.CheckConstraint(
                condition=Q(visibility_scope__regex=SCOPE_PATTERN), name="entry_scope_shape"
            ),
            models.CheckConstraint(
                condition=~Q(visibility_scope="public") | Q(topic__isnull=False),
                name="entry_public_has_topic",
            ),
            models.CheckConstraint(
                condition=Q(fact_key__isnull=True) | Q(visibility_scope="public") | Q(topic__isnull=True),
                name="entry_keyed_topic_only_public",
            ),
            models.CheckConstraint(
                condition=Q(visibility_scope="visual", visual__isnull=False)
                | (~Q(visibility_scope="visual") & Q(visual__isnull=True)),
                name="entry_drawing_iff_visual",
            ),
            models.CheckConstraint(
                condition=Q(concept_slug=UNANCHORED) | Q(concept_slug__regex=r"^[^[:space:]_/]+$"),
                name="entry_slug_shape",
            ),
            models.CheckConstraint(
                condition=Q(fact_key__isnull=True) | ~Q(fact_key=""), name="entry_fact_key_not_empty"
            ),
            models.CheckConstraint(condition=~Q(instruction=""), name="entry_has_instruction"),
            models.CheckConstraint(
                condition=Q(confidence__gte=0, confidence__lte=1), name="entry_confidence_bounds"
            ),
            models.CheckConstraint(
                condition=Q(importance__isnull=True) | Q(importance__gte=0, importance__lte=1),
                name="entry_importance_bounds",
            ),
            models.CheckConstraint(
                condition=Q(concept_match_quality__gte=0, concept_match_quality__lte=1),
                name="entry_match_quality_bounds",
            ),
            models.CheckConstraint(
                condition=Q(maturity="archived", archived_at__isnull=False)
                | (~Q(maturity="archived") & Q(archived_at__isnull=True)),
                name="entry_archived_has_time",
            ),
            models.CheckConstraint(
                condition=Q(superseded_by__isnull=True) | Q(superseded_at__isnull=False),
                name="entry_superseded_has_time",
            ),
            models.CheckConstraint(condition=Q(maturity__in=Maturity.values), name="entry_maturity_known"),
            models.CheckConstraint(
                condition=Q(source_type__in=Provenance.values), name="entry_provenance_known"
            ),
            models.CheckConstraint(condition=Q(source__in=MemorySource.values), name="entry_source_known"),
            models.CheckConstraint(
                condition=Q(ladder_step__in=LadderStep.values), name="entry_ladder_step_known"
            ),
            models.CheckConstraint(
                condition=~Q(concept_slug=UNANCHORED) | Q(ladder_step="unanchored"),
                name="entry_unanchored_step",
            ),
        ]
        indexes = [
            # The topic and concept passes: the identity indexes' predicates are not implied by theirs.
            models.Index(fields=["topic", "concept_slug"], name="entry_by_topic_concept"),
            # Holds what a filter on a scope's rows asks: how many pass is counted in the index alone.
            models.Index(
                fields=["visibility_scope", "maturity", "confidence"],
                name="entry_by_scope",
                condition=_CURRENT,
            ),
            models.Index(fields=["concept_slug"], name="entry_by_concept"),
            models.Index(fields=["superseded_by"], name="entry_by_successor", condition=~_CURRENT),
        ]
        triggers = [
            *audited(
                "entry",
                ignore=[*_DERIVED, "version", "success_count", "failure_count"],
                subject="CASE WHEN r.visibility_scope LIKE 'student:%' THEN r.visibility_scope ELSE '' END",
            ),
            versioned(ignore=_DERIVED),
            pgtrigger.Trigger(
                name="hash_text",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert
                | pgtrigger.UpdateOf("title", "instruction", "detail", "text_hash"),
                func="""
                    NEW.text_hash := encode(sha256(convert_to(
                        NEW.title || E'\\n' || NEW.instruction || E'\\n' || NEW.detail, 'UTF8')), 'hex');
                    RETURN NEW;
                """,
            ),
            pgtrigger.Trigger(
                name="keep_scope",
                when=pgtrigger.Before,
                operation=pgtrigger.UpdateOf("visibility_scope"),
                condition=pgtrigger.Condition("OLD.visibility_scope IS DISTINCT FROM NEW.visibility_scope"),
                func="RAISE EXCEPTION 'an entry keeps its scope' USING ERRCODE = 'check_violation';",
            ),
        ]

    def __str__(self) -> str:
        return self.title


class EntryVector(AbstractVector):
    """The vector of one chunk of an entry's document text, in one space.

    ``visibility_scope`` repeats the entry's (which never changes), so that a partial vector index
    can hold one shared scope alone.
    """

    entry = models.ForeignKey(Entry, on_delete=models.CASCADE, related_name="vectors", db_index=False)
    visibility_scope = models.CharField(max_length=120)

    class Meta(AbstractVector.Meta):
        constraints = [
            *AbstractVector.Meta.constraints,
            models.UniqueConstraint(fields=["entry", "space", "chunk"], name="entry_vector_once"),
        ]
        indexes = [models.Index(fields=["text_hash", "space"], name="entryvector_by_text")]

    def __str__(self) -> str:
        return f"vector of {self.entry_id} in space {self.space_id}"


class EntryObservation(models.Model):
    """That an entry was seen again: where, when, and in which words (the entry keeps its own).

    At most one per entry and session; without a session, one per key, learner, entry and day (rules.md 8).
    """

    id = models.BigAutoField(primary_key=True)
    entry = models.ForeignKey(Entry, on_delete=models.CASCADE, related_name="observations")
    session = models.UUIDField(null=True, blank=True)
    learner = models.CharField(max_length=100, blank=True, default="")
    actor = models.CharField(max_length=200)
    observed_on = models.DateField()
    observed_at = models.DateTimeField()
    wording = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["entry", "session"],
                condition=Q(session__isnull=False),
                name="entry_observed_once_a_session",
            ),
            models.UniqueConstraint(
                fields=["entry", "actor", "learner", "observed_on"],
                condition=Q(session__isnull=True),
                name="entry_observed_once_a_day",
            ),
        ]

    def __str__(self) -> str:
        return f"observation of {self.entry_id}"


class LedgerKind(models.TextChoices):
    INITIAL = "initial"
    OBSERVATION = "observation"
    SET = "set"
    GRADE = "grade"
    CORRECTION = "correction"
    MERGE = "merge"


class LedgerRow(models.Model):
    """One step in the life of a confidence: replaying the rows gives the stored value (rules.md 10)."""

    id = models.BigAutoField(primary_key=True)
    kind = models.CharField(max_length=12, choices=LedgerKind)
    session = models.UUIDField(null=True, blank=True)
    turn = models.BigIntegerField(null=True, blank=True)
    outcome = models.CharField(max_length=10, blank=True, default="")
    rate = confidence_field(null=True)
    strength = confidence_field(null=True)
    step = confidence_field(null=True)
    before = confidence_field(null=True)
    after = confidence_field()
    at = models.DateTimeField()

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=LedgerKind.values), name="%(class)s_kind_known"),
            models.CheckConstraint(condition=Q(after__gte=0, after__lte=1), name="%(class)s_after_bounds"),
            models.CheckConstraint(
                condition=Q(kind="initial", before__isnull=True)
                | (~Q(kind="initial") & Q(before__isnull=False)),
                name="%(class)s_initial_is_first",
            ),
        ]


class EntryLedger(LedgerRow):
    """The ledger of an entry's confidence."""

    entry = models.ForeignKey(Entry, on_delete=models.CASCADE, related_name="ledger")

    class Meta(LedgerRow.Meta):
        constraints = [
            *LedgerRow.Meta.constraints,
            models.UniqueConstraint(
                fields=["entry"], condition=Q(kind="initial"), name="entry_ledger_begins_once"
            ),
            models.UniqueConstraint(
                fields=["entry", "turn"], condition=Q(kind="grade"), name="entry_graded_once_a_turn"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.entry_id}: {self.after}"
