"""Who may do what in the admin: three groups, made by a migration and kept by running it again.

Every group reads what Lode holds. An author writes the curriculum, an operator minds the keys; nobody
writes what sessions teach.
"""

from collections.abc import Collection
from typing import Any

VIEWER, AUTHOR, OPERATOR = "viewer", "curriculum author", "operator"

_CURRICULUM = (
    "catalog.topic",
    "catalog.concept",
    "catalog.conceptname",
    "catalog.conceptvector",
    "entries.entry",
    "entries.entryvector",
    "entries.entryobservation",
    "entries.entryledger",
    "edges.edge",
    "edges.edgeobservation",
    "edges.edgeledger",
)
_LEARNERS = ("tutoring.learner", "tutoring.tutoringsession", "tutoring.turn", "tutoring.retrieval")
_SYSTEM = ("embeddings.embeddingspace", "dials.dial", "audit.auditevent", "audit.auditimage")
_KEYS = ("clients.apikey", "clients.idempotencyrecord", "django_celery_beat.periodictask")
_AUTHORED = ("catalog.topic", "catalog.concept", "entries.entry", "edges.edge")

_VIEWED = {("view", model) for model in (*_CURRICULUM, *_LEARNERS, *_SYSTEM)}
GRANTS: dict[str, set[tuple[str, str]]] = {
    VIEWER: _VIEWED,
    AUTHOR: _VIEWED
    | {(verb, model) for verb in ("add", "change") for model in _AUTHORED}
    | {("delete", "edges.edge")},
    OPERATOR: _VIEWED
    | {("view", model) for model in _KEYS}
    | {("add", "clients.apikey"), ("change", "clients.apikey")},
}
"""The verbs and models (``app.model``) of each group."""


def ensure_groups(apps: Any) -> None:
    """Make the groups with at least their permissions; ``apps`` is a registry, of a migration or the real one.

    What somebody added to a group stays. Permissions are made where they are not yet: Django makes
    them after all migrations, which is too late for a migration that hands them out.
    """
    permissions = _permissions(apps, {grant for grants in GRANTS.values() for grant in grants})
    for name, grants in GRANTS.items():
        group, _ = apps.get_model("auth", "Group").objects.get_or_create(name=name)
        group.permissions.add(*(permissions[grant] for grant in grants))


def _permissions(apps: Any, grants: Collection[tuple[str, str]]) -> dict[tuple[str, str], Any]:
    kinds = _content_types(apps, {model for _, model in grants})
    rows = apps.get_model("auth", "Permission")
    wanted = [
        rows(content_type=kinds[model], codename=f"{verb}_{model.split('.')[1]}", name=f"Can {verb} {model}")
        for verb, model in sorted(grants)
    ]
    rows.objects.bulk_create(wanted, ignore_conflicts=True)
    found = rows.objects.filter(content_type__in=kinds.values()).select_related("content_type")
    named = {(row.codename, row.content_type_id): row for row in found}
    return {
        grant: named[row.codename, row.content_type_id]
        for grant, row in zip(sorted(grants), wanted, strict=True)
    }


def _content_types(apps: Any, models: Collection[str]) -> dict[str, Any]:
    rows = apps.get_model("contenttypes", "ContentType")
    pairs = [model.split(".") for model in sorted(models)]
    rows.objects.bulk_create([rows(app_label=app, model=name) for app, name in pairs], ignore_conflicts=True)
    found = rows.objects.filter(app_label__in={app for app, _ in pairs})
    return {f"{row.app_label}.{row.model}": row for row in found}
