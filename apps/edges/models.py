"""Edges: directed, typed relations between entries (rules.md 1, 2, 10)."""

import pgtrigger
from django.db import models
from django.db.models import F, Q

from apps.audit.triggers import audited, versioned
from apps.edges.querysets import EdgeQuerySet
from apps.entries.models import Entry, LedgerRow, Provenance, confidence_field
from apps.rules.words import EDGE_VERBS

_DERIVED = ["updated_at", "rendered_count", "last_rendered_at", "walked_count", "last_walked_at"]


class EdgeType(models.TextChoices):
    PREREQUISITE = "prerequisite"
    FALLBACK = "fallback"
    LEADS_TO = "leads_to"
    RELATED = "related"
    SUPERSEDES = "supersedes"


class Edge(models.Model):
    """``source`` stands in relation ``edge_type`` to ``target``. A prerequisite's source needs its target.

    ``hit_count`` is the number of distinct sessions that observed the edge; ``session`` the one that
    made it. ``rendered_count`` and ``walked_count`` are derived from the retrieval log.
    """

    id = models.BigAutoField(primary_key=True)
    source = models.ForeignKey(Entry, on_delete=models.PROTECT, related_name="outgoing", db_index=False)
    target = models.ForeignKey(Entry, on_delete=models.PROTECT, related_name="incoming")
    edge_type = models.CharField(max_length=12, choices=EdgeType)
    source_type = models.CharField(max_length=10, choices=Provenance)
    confidence = confidence_field()
    condition = models.TextField(blank=True, default="")
    rationale = models.TextField(blank=True, default="")
    hit_count = models.PositiveIntegerField(default=0)
    session = models.UUIDField(null=True, blank=True)
    rendered_count = models.PositiveIntegerField(default=0)
    last_rendered_at = models.DateTimeField(null=True, blank=True)
    walked_count = models.PositiveIntegerField(default=0)
    last_walked_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    version = models.PositiveIntegerField(default=1)

    objects = EdgeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "target", "edge_type"], name="edge_once"),
            models.CheckConstraint(condition=~Q(source=F("target")), name="edge_not_to_itself"),
            models.CheckConstraint(
                condition=Q(confidence__gte=0, confidence__lte=1), name="edge_confidence_bounds"
            ),
            models.CheckConstraint(condition=Q(edge_type__in=EdgeType.values), name="edge_type_known"),
            models.CheckConstraint(
                condition=Q(source_type__in=Provenance.values), name="edge_provenance_known"
            ),
        ]
        indexes = [models.Index(fields=["source", "edge_type", "-confidence"], name="edge_walk")]
        triggers = [
            *audited(
                "edge",
                ignore=[*_DERIVED, "version", "hit_count"],
                subject="""coalesce((
                    SELECT min(e.visibility_scope) FROM entries_entry e
                    WHERE e.id IN (r.source_id, r.target_id) AND e.visibility_scope LIKE 'student:%'), '')""",
            ),
            versioned(ignore=_DERIVED),
            pgtrigger.Trigger(
                name="one_learner",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.UpdateOf("source_id", "target_id"),
                func="""
                    IF (SELECT count(DISTINCT e.learner_key) FROM entries_entry e
                        WHERE e.id IN (NEW.source_id, NEW.target_id)) > 1 THEN
                        RAISE EXCEPTION 'an edge joins entries of one learner at most'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'edge_one_learner';
                    END IF;
                    RETURN NEW;
                """,
            ),
        ]

    def __str__(self) -> str:
        """``Nonce reuse needs Stream ciphers``, where the ends are loaded: naming it asks the database nothing."""
        verb = EDGE_VERBS[self.edge_type]
        if {"source", "target"} <= self._state.fields_cache.keys():
            return f"{self.source.title} {verb} {self.target.title}"
        return f"{self.source_id} {verb} {self.target_id}"


class EdgeObservation(models.Model):
    """That one session showed the edge: a session counts once (rules.md 10)."""

    id = models.BigAutoField(primary_key=True)
    edge = models.ForeignKey(Edge, on_delete=models.CASCADE, related_name="observations")
    session = models.UUIDField()
    observed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["edge", "session"], name="edge_observed_once_a_session")
        ]

    def __str__(self) -> str:
        return f"observation of edge {self.edge_id}"


class EdgeLedger(LedgerRow):
    """The ledger of an edge's confidence."""

    edge = models.ForeignKey(Edge, on_delete=models.CASCADE, related_name="ledger")

    class Meta(LedgerRow.Meta):
        constraints = [
            *LedgerRow.Meta.constraints,
            models.UniqueConstraint(
                fields=["edge"], condition=Q(kind="initial"), name="edge_ledger_begins_once"
            ),
            models.UniqueConstraint(
                fields=["edge", "turn"], condition=Q(kind="grade"), name="edge_graded_once_a_turn"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of edge {self.edge_id}: {self.after}"
