"""Topics, concepts, and the one namespace of concept names."""

import pgtrigger
from django.db import models
from django.db.models import Q

from apps.audit.triggers import audited, versioned
from apps.catalog.querysets import ConceptQuerySet, TopicQuerySet
from apps.embeddings.models import AbstractVector

SLUG_PATTERN = r"^[^[:space:]_/]+$"


class Topic(models.Model):
    """A subject that entries are taught under. An archived topic answers 404 to retrieval."""

    id = models.BigAutoField(primary_key=True)
    slug = models.CharField(max_length=100, unique=True)
    title = models.CharField(max_length=300)
    description = models.TextField(blank=True, default="")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    archived_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(default=1)

    objects = TopicQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(slug__regex=SLUG_PATTERN), name="topic_slug_shape"),
            models.CheckConstraint(condition=~Q(title=""), name="topic_has_title"),
        ]
        triggers = [*audited("topic", ignore=["updated_at", "version"]), versioned(ignore=["updated_at"])]

    def __str__(self) -> str:
        return self.title


class ConceptStatus(models.TextChoices):
    APPROVED = "approved"
    PROPOSED = "proposed"


class Concept(models.Model):
    """A canonical idea with a slug, a title, a definition and aliases (rules.md 1)."""

    id = models.BigAutoField(primary_key=True)
    slug = models.CharField(max_length=100, unique=True)
    title = models.CharField(max_length=300)
    definition = models.TextField(blank=True, default="")
    status = models.CharField(max_length=10, choices=ConceptStatus, default=ConceptStatus.APPROVED)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    archived_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(default=1)

    objects = ConceptQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(slug__regex=SLUG_PATTERN), name="concept_slug_shape"),
            models.CheckConstraint(condition=~Q(title=""), name="concept_has_title"),
            models.CheckConstraint(condition=Q(status__in=ConceptStatus.values), name="concept_status_known"),
        ]
        triggers = [
            *audited("concept", ignore=["updated_at", "version"]),
            versioned(ignore=["updated_at"]),
            # Once a statement and not once a row: 20,000 concepts written together took 110 s so, and
            # quadratically more for more of them, since every name was a statement with its own audit.
            pgtrigger.Trigger(
                name="make_canonical_name",
                level=pgtrigger.Statement,
                when=pgtrigger.After,
                operation=pgtrigger.Insert,
                referencing=pgtrigger.Referencing(new="new_rows"),
                func="""
                    INSERT INTO catalog_conceptname (concept_id, slug, name, is_canonical)
                    SELECT id, slug, title, true FROM new_rows ORDER BY id;
                    RETURN NULL;
                """,
            ),
            pgtrigger.Trigger(
                name="keep_canonical_name",
                level=pgtrigger.Statement,
                when=pgtrigger.After,
                operation=pgtrigger.Update,
                referencing=pgtrigger.Referencing(new="new_rows"),
                func="""
                    UPDATE catalog_conceptname known SET slug = r.slug, name = r.title
                    FROM new_rows r
                    WHERE known.concept_id = r.id AND known.is_canonical
                      AND (known.slug, known.name) IS DISTINCT FROM (r.slug, r.title);
                    RETURN NULL;
                """,
            ),
        ]

    def __str__(self) -> str:
        return self.title


class ConceptName(models.Model):
    """A name of a concept: its canonical slug, or an alias. All names are one namespace (rules.md 1).

    One table for both, because two tables cannot share a unique index. The canonical row is kept by
    a trigger on the concept; ``name`` is the title there, and the alias as written elsewhere. Each
    name has its own vector.
    """

    id = models.BigAutoField(primary_key=True)
    concept = models.ForeignKey(Concept, on_delete=models.CASCADE, related_name="names")
    slug = models.CharField(max_length=100, unique=True)
    name = models.CharField(max_length=300)
    is_canonical = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["concept"], condition=Q(is_canonical=True), name="one_canonical_name"
            ),
            models.CheckConstraint(condition=Q(slug__regex=SLUG_PATTERN), name="conceptname_slug_shape"),
        ]
        triggers = audited("concept-name")

    def __str__(self) -> str:
        return self.name


class ConceptVector(AbstractVector):
    """The vector of one concept name in one space."""

    concept_name = models.ForeignKey(ConceptName, on_delete=models.CASCADE, related_name="vectors")

    class Meta(AbstractVector.Meta):
        constraints = [
            *AbstractVector.Meta.constraints,
            models.UniqueConstraint(fields=["concept_name", "space", "chunk"], name="concept_vector_once"),
        ]
        indexes = [models.Index(fields=["text_hash", "space"], name="conceptvector_by_text")]

    def __str__(self) -> str:
        return f"vector of {self.concept_name_id} in space {self.space_id}"
