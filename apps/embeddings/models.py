"""Embedding spaces, and what every table of vectors has in common.

Vectors of all spaces of a kind stand in one table, in a column without a fixed length: a space is a
row, not a migration. Each space brings its own partial index over the cast to its length.
"""

from django.db import models
from django.db.models import F, Func, Q
from django.db.models.lookups import Exact, GreaterThanOrEqual, LessThanOrEqual
from pgvector.django import VectorField

from apps.audit.triggers import audited


class SpaceState(models.TextChoices):
    BUILDING = "building"
    SERVING = "serving"
    RETIRED = "retired"


class EmbeddingSpace(models.Model):
    """A provider, a model and a length: vectors of two spaces are never compared (rules.md 1).

    At most one space serves; every other is being built beside it, or retired. While
    ``rebuilding_since`` is set, vectors older than it still serve, and are to be made anew.
    """

    id = models.BigAutoField(primary_key=True)
    provider = models.CharField(max_length=20)
    model = models.CharField(max_length=100)
    dimensions = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=SpaceState, default=SpaceState.BUILDING)
    created_at = models.DateTimeField()
    served_at = models.DateTimeField(null=True, blank=True)
    rebuilding_since = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["provider", "model", "dimensions"], name="space_once"),
            models.UniqueConstraint(fields=["id", "dimensions"], name="space_dimensions"),
            models.UniqueConstraint(fields=["state"], condition=Q(state="serving"), name="one_space_serves"),
            models.CheckConstraint(
                condition=Q(dimensions__gte=1, dimensions__lte=16000), name="space_length"
            ),
            models.CheckConstraint(condition=Q(state__in=SpaceState.values), name="space_state_known"),
        ]
        triggers = audited("space")

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The space as the API writes it: ``provider/model``."""
        return f"{self.provider}/{self.model}"


class VectorNorm(Func):
    """pgvector's ``vector_norm``: the Euclidean length."""

    function = "vector_norm"
    output_field = models.FloatField()


class VectorDims(Func):
    """pgvector's ``vector_dims``: how many components."""

    function = "vector_dims"
    output_field = models.IntegerField()


class AbstractVector(models.Model):
    """The vector of one chunk of a text, in one space, normalised to length 1.

    ``text_hash`` is the SHA-256 of the whole text: a vector whose hash differs from its owner's is
    stale and counts as absent (rules.md 3). A subclass names the owner. The length of the vector is
    its space's: a migration of each table ties (space, dimensions) to the space by a foreign key.
    """

    id = models.BigAutoField(primary_key=True)
    # No index begins with the space: the planner would take it for a space that it has not counted yet.
    space = models.ForeignKey(EmbeddingSpace, on_delete=models.PROTECT, related_name="+", db_index=False)
    dimensions = models.PositiveIntegerField()
    chunk = models.PositiveIntegerField(default=0)
    text_hash = models.CharField(max_length=64)
    embedding = VectorField()
    created_at = models.DateTimeField()

    class Meta:
        abstract = True
        constraints = [
            # A zero, huge or non-finite vector has cosine NaN, which PostgreSQL ranks above every number.
            models.CheckConstraint(
                condition=Q(GreaterThanOrEqual(VectorNorm("embedding"), 0.99))
                & Q(LessThanOrEqual(VectorNorm("embedding"), 1.01)),
                name="%(class)s_norm",
            ),
            models.CheckConstraint(
                condition=Q(Exact(VectorDims("embedding"), F("dimensions"))), name="%(class)s_length"
            ),
        ]
