"""Dials as operators turned them. A dial without a row has the registry's default."""

from django.db import models

from apps.audit.triggers import audited


class Dial(models.Model):
    """One dial's value, where it differs or once differed from the registry's default.

    ``space`` is the provider whose scale the value is on, for a by-space dial, else empty.
    ``version`` comes from one sequence over all dials, so that the greatest one names the state of
    them all (``dials_version``).
    """

    id = models.BigAutoField(primary_key=True)
    key = models.CharField(max_length=80)
    space = models.CharField(max_length=120, blank=True, default="")
    value = models.JSONField()
    version = models.BigIntegerField()
    changed_at = models.DateTimeField()
    changed_by = models.CharField(max_length=200)
    reason = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["key", "space"], name="dial_once_per_space"),
            models.UniqueConstraint(fields=["version"], name="dial_version_once"),
        ]
        triggers = audited("dial", ignore=["version"])

    def __str__(self) -> str:
        return f"{self.key} = {self.value}"
