"""Learners, their sessions and turns, and the log of retrievals."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from apps.audit.triggers import audited
from apps.catalog.models import Topic
from apps.core.ids import uuid7

LEARNER_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$"


class Learner(models.Model):
    """Someone who is taught. Made by the first session, turn or memory, never by a retrieval (rules.md 1)."""

    id = models.BigAutoField(primary_key=True)
    external_id = models.CharField(max_length=100, unique=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(external_id__regex=LEARNER_PATTERN), name="learner_id_shape")
        ]
        triggers = audited("learner", subject="'student:' || r.external_id")

    def __str__(self) -> str:
        return self.external_id


class SessionState(models.TextChoices):
    OPEN = "open"
    ENDED = "ended"
    CONSOLIDATED = "consolidated"


class TutoringSession(models.Model):
    """One learner taught one topic, from start to end; consolidated once, after its end."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    learner = models.ForeignKey(Learner, on_delete=models.PROTECT, related_name="sessions")
    topic = models.ForeignKey(Topic, on_delete=models.PROTECT, related_name="sessions")
    level = models.CharField(max_length=50, default="unknown")
    state = models.CharField(max_length=12, choices=SessionState, default=SessionState.OPEN)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    consolidated_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=SessionState.values), name="session_state_known"),
            models.CheckConstraint(
                condition=Q(state="open", ended_at__isnull=True)
                | (~Q(state="open") & Q(ended_at__isnull=False)),
                name="session_ended_has_time",
            ),
            models.CheckConstraint(
                condition=Q(state="consolidated", consolidated_at__isnull=False)
                | (~Q(state="consolidated") & Q(consolidated_at__isnull=True)),
                name="session_consolidated_has_time",
            ),
        ]
        indexes = [models.Index(fields=["learner", "-started_at"], name="session_by_learner")]
        triggers = audited(
            "session",
            subject="(SELECT 'student:' || l.external_id FROM tutoring_learner l WHERE l.id = r.learner_id)",
        )

    def __str__(self) -> str:
        return f"session {self.id}"


class Retrieval(models.Model):
    """One retrieval as it was asked and answered: what a turn names, and what counts are derived from.

    ``learner``, ``session`` and ``api_key`` are plain ids: a read makes no row but this one.
    ``rendered_entries`` and ``rendered_edges`` stood in the prompt; ``walked_edges`` were returned.
    ``tallied_at`` says when the counts of its rows were taken (rules.md 5, last line).
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    api_key = models.BigIntegerField(null=True, blank=True)
    learner = models.CharField(max_length=100, blank=True, default="")
    session = models.UUIDField(null=True, blank=True)
    topic_id = models.BigIntegerField(null=True, blank=True)
    request = models.JSONField()
    response = models.JSONField()
    space = models.CharField(max_length=121)
    dials_version = models.BigIntegerField()
    matched_entries = ArrayField(models.UUIDField(), default=list)
    rendered_entries = ArrayField(models.UUIDField(), default=list)
    rendered_edges = ArrayField(models.BigIntegerField(), default=list)
    walked_edges = ArrayField(models.BigIntegerField(), default=list)
    created_at = models.DateTimeField()
    tallied_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["id"], name="retrieval_untallied", condition=Q(tallied_at__isnull=True)),
            models.Index(fields=["session"], name="retrieval_by_session", condition=Q(session__isnull=False)),
            models.Index(fields=["learner"], name="retrieval_by_learner", condition=~Q(learner="")),
        ]

    def __str__(self) -> str:
        return f"retrieval {self.id}"


class Outcome(models.TextChoices):
    SUCCESS = "success"
    FAILURE = "failure"


class Turn(models.Model):
    """Turn memory: messages, concepts, what was recalled and taught, how it ended (rules.md 1).

    ``struggles`` is a list of ``{concept, missing, quote}``, ``observations`` one of
    ``{scope, name, text, ...}`` (api.md). ``taught_entry`` is a plain id: it may be forgotten later.
    """

    id = models.BigAutoField(primary_key=True)
    session = models.ForeignKey(TutoringSession, on_delete=models.CASCADE, related_name="turns")
    number = models.PositiveIntegerField()
    student_message = models.TextField()
    tutor_message = models.TextField(blank=True, default="")
    retrieval = models.OneToOneField(
        Retrieval, on_delete=models.PROTECT, null=True, blank=True, related_name="turn"
    )
    taught_entry = models.UUIDField(null=True, blank=True)
    concepts = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    outcome = models.CharField(max_length=10, choices=Outcome, null=True, blank=True)
    strength = models.DecimalField(max_digits=7, decimal_places=6, default=1)
    struggles = models.JSONField(default=list, blank=True)
    observations = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "number"], name="turn_once_a_number"),
            models.CheckConstraint(condition=Q(number__gte=1), name="turn_numbers_from_one"),
            models.CheckConstraint(
                condition=Q(outcome__isnull=True) | Q(outcome__in=Outcome.values), name="turn_outcome_known"
            ),
            models.CheckConstraint(condition=Q(strength__gt=0, strength__lte=1), name="turn_strength_bounds"),
        ]

    def __str__(self) -> str:
        return f"turn {self.number} of {self.session_id}"
