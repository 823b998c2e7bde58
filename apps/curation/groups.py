"""Who may do what in the admin: three groups, made by a migration and kept by running it again.

Every group reads what Lode holds. An author writes the curriculum, an operator minds the keys; nobody
writes what sessions teach.
"""

from collections.abc import Iterable
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
    group_model = apps.get_model("auth", "Group")
    for name, grants in GRANTS.items():
        group, _ = group_model.objects.get_or_create(name=name)
        group.permissions.add(*_permissions(apps, grants))


def _permissions(apps: Any, grants: Iterable[tuple[str, str]]) -> list[Any]:
    return [_permission(apps, verb, *model.split(".")) for verb, model in sorted(grants)]


def _permission(apps: Any, verb: str, app_label: str, model: str) -> Any:
    content_types, permissions = (
        apps.get_model("contenttypes", "ContentType"),
        apps.get_model("auth", "Permission"),
    )
    kind, _ = content_types.objects.get_or_create(app_label=app_label, model=model)
    codename = f"{verb}_{model}"
    permission, _ = permissions.objects.get_or_create(
        content_type=kind, codename=codename, defaults={"name": f"Can {verb} {model}"}
    )
    return permission
