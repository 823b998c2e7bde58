"""API keys and the answers kept for retried writes."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from apps.audit.triggers import audited


class Scope(models.TextChoices):
    RETRIEVE = "retrieve"
    WRITE = "write"
    ERASE = "erase"
    AUTHOR = "author"


class Source(models.TextChoices):
    USER = "user"
    SYSTEM = "system"
    ASSISTANT = "assistant"
    TOOL = "tool"
    DOCUMENT = "document"


class ApiKey(models.Model):
    """What a program may do. The key itself is shown once; only its SHA-256 is kept.

    ``topics`` (slugs) limits public rows, sessions and graphs; empty means every topic.
    ``learner_prefix`` limits learners to those whose external id begins with it.
    ``sources`` are the sources the key may declare for what it writes (api.md, Who calls).
    """

    id = models.BigAutoField(primary_key=True)
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=12, help_text="The key's first characters, to know it by.")
    key_hash = models.CharField(max_length=64, unique=True)
    scopes = ArrayField(models.CharField(max_length=20, choices=Scope))
    sources = ArrayField(models.CharField(max_length=20, choices=Source), default=list, blank=True)
    topics = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    learner_prefix = models.CharField(max_length=100, blank=True, default="")
    rate_per_minute = models.PositiveIntegerField(default=600)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(scopes__contained_by=Scope.values), name="apikey_scopes_known"
            ),
            models.CheckConstraint(condition=Q(scopes__len__gte=1), name="apikey_some_scope"),
            models.CheckConstraint(condition=Q(sources__contained_by=Source.values), name="apikey_sources"),
            models.CheckConstraint(
                condition=Q(key_hash__regex=r"^[0-9a-f]{64}$"), name="apikey_hash_is_sha256"
            ),
            models.CheckConstraint(condition=Q(rate_per_minute__gte=1), name="apikey_rate_positive"),
        ]
        triggers = audited("key", ignore=["last_used_at", "key_hash"])

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class IdempotencyRecord(models.Model):
    """The answer that one ``Idempotency-Key`` of one API key got, written with the effect it answers for.

    ``response`` is the body as it was sent, byte for byte. There is no row for a request that is still
    running, failed or was refused: it left nothing behind, and may be sent again.
    """

    id = models.BigAutoField(primary_key=True)
    api_key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    request_hash = models.CharField(max_length=64, help_text="SHA-256 over method, address and body.")
    status = models.PositiveSmallIntegerField()
    response = models.TextField()
    headers = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["api_key", "key"], name="idempotency_key_once")]
        indexes = [models.Index(fields=["created_at"], name="idempotency_by_age")]

    def __str__(self) -> str:
        return self.key
