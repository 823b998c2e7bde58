"""Authoring topics and concepts. Every verb is atomic, audited, and answers a repeated call alike."""

import datetime as dt
import difflib
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from django.db.models import F

from apps.audit.context import audited_as
from apps.catalog.models import Concept, ConceptName, Topic
from apps.catalog.texts import ConceptNameTexts
from apps.clients.actions import rename_topic_in_bindings
from apps.core.actors import Actor
from apps.core.database import insert
from apps.core.errors import Conflict, Invalid, Problem, refuse_stale
from apps.core.queue import Task, enqueue_on_commit
from apps.rules.slugs import is_slug, slugify

Authored = TypeVar("Authored", Topic, Concept)


def create_topic(
    *, slug: str, title: str, description: str = "", actor: Actor, now: dt.datetime
) -> tuple[Topic, bool]:
    """The topic of that slug, and whether it was made now.

    Raises Invalid for what is no slug, and Conflict ``exists`` where the slug is taken by a topic of
    another text.
    """
    _refuse_non_slug(slug)
    with audited_as(actor=actor, verb="topic.create", now=now):
        fresh = Topic(slug=slug, title=title, description=description, created_at=now, updated_at=now)
        if insert(fresh):
            return fresh, True
        topic = Topic.objects.get(slug=slug)
    if (topic.title, topic.description) != (title, description):
        raise _exists("topic", topic)
    return topic, False


def change_topic(
    *,
    topic: Topic,
    changes: Mapping[str, Any],
    expected_version: int | None = None,
    actor: Actor,
    now: dt.datetime,
) -> Topic:
    """Change a topic's slug, title or description. Keys that are bound to it follow it to its new slug.

    Raises Stale where the topic is of another version than ``expected_version``, Conflict where the new
    slug is taken.
    """
    if "slug" in changes:
        _refuse_non_slug(changes["slug"])
    with audited_as(actor=actor, verb="topic.change", now=now):
        held = _hold(topic, expected_version)
        old, new = held.slug, changes.get("slug", held.slug)
        taken = Topic.objects.filter(slug=new).exclude(id=held.id).first()
        if taken is not None:
            raise _exists("topic", taken)
        if new != old:
            rename_topic_in_bindings(old=old, new=new, actor=actor, now=now)
        return _write(held, changes, now)


def create_concept(
    *,
    slug: str,
    title: str,
    definition: str = "",
    aliases: Sequence[str] = (),
    actor: Actor,
    now: dt.datetime,
) -> tuple[Concept, bool]:
    """The concept of that slug, and whether it was made now.

    Raises Invalid for what is no slug or an alias without a usable name, Conflict ``exists`` where the
    slug is a concept of another content, and Conflict ``name_taken`` where a name is another concept's.
    """
    _refuse_non_slug(slug)
    with audited_as(actor=actor, verb="concept.create", now=now):
        fresh = Concept(slug=slug, title=title, definition=definition, created_at=now, updated_at=now)
        if not insert(fresh):
            return _same_concept(slug, title, definition, aliases), False
        _set_aliases(fresh, aliases)
        _embed_soon(fresh)
    return fresh, True


def change_concept(
    *,
    concept: Concept,
    changes: Mapping[str, Any],
    expected_version: int | None = None,
    actor: Actor,
    now: dt.datetime,
) -> Concept:
    """Change a concept's slug, title, definition or aliases (the whole list).

    A new slug moves every entry that named the old one; both names stay one namespace. Raises Stale
    where the concept is of another version than ``expected_version``.
    """
    if "slug" in changes:
        _refuse_non_slug(changes["slug"])
    with audited_as(actor=actor, verb="concept.change", now=now):
        held = _hold(concept, expected_version)
        slug = changes.get("slug", held.slug)
        _refuse_taken_names(held, [slug], "/slug")
        held.names.filter(is_canonical=False, slug=slug).delete()  # an alias that becomes the slug
        changed = _write(held, {name: value for name, value in changes.items() if name != "aliases"}, now)
        if "aliases" in changes and _set_aliases(changed, changes["aliases"]):
            _count_version(changed)
        _embed_soon(changed)
    return changed


def _embed_soon(concept: Concept) -> None:
    names = list(concept.names.values_list("pk", flat=True))
    enqueue_on_commit(Task.EMBED_PENDING, texts={ConceptNameTexts.kind: names})


def archive(
    *, row: Authored, expected_version: int | None = None, actor: Actor, now: dt.datetime
) -> Authored:
    """Retire a topic or concept; a second call changes nothing (api.md, Curriculum)."""
    with audited_as(actor=actor, verb=f"{_kind(row)}.archive", now=now):
        held = _hold(row, expected_version)
        return held if held.archived_at else _write(held, {"archived_at": now}, now)


def restore(
    *, row: Authored, expected_version: int | None = None, actor: Actor, now: dt.datetime
) -> Authored:
    """Bring an archived topic or concept back; a second call changes nothing."""
    with audited_as(actor=actor, verb=f"{_kind(row)}.restore", now=now):
        held = _hold(row, expected_version)
        return _write(held, {"archived_at": None}, now) if held.archived_at else held


def _kind(row: Topic | Concept) -> str:
    return row._meta.model_name or ""


def _hold(row: Authored, expected_version: int | None) -> Authored:
    held = type(row)._default_manager.select_for_update().get(pk=row.pk)
    refuse_stale(current=held.version, expected=expected_version)
    return held


def _write(row: Authored, changes: Mapping[str, Any], now: dt.datetime) -> Authored:
    for name, value in {**changes, "updated_at": now}.items():
        setattr(row, name, value)
    row.save(update_fields=[*changes, "updated_at"])
    row.refresh_from_db(fields=["version"])
    return row


def _same_concept(slug: str, title: str, definition: str, aliases: Sequence[str]) -> Concept:
    taken = ConceptName.objects.select_related("concept").get(slug=slug)
    concept = taken.concept
    if not taken.is_canonical:
        raise _name_taken(slug, concept, "/slug")
    wanted = set(_alias_names(concept, aliases))
    if (concept.title, concept.definition) != (title, definition) or wanted != _alias_slugs(concept):
        raise _exists("concept", concept)
    return concept


def _alias_slugs(concept: Concept) -> set[str | None]:
    return set(concept.names.filter(is_canonical=False).values_list("slug", flat=True))


def _set_aliases(concept: Concept, aliases: Sequence[str]) -> bool:
    """Make ``aliases`` the concept's, and say whether any came or went."""
    wanted = _alias_names(concept, aliases)
    _refuse_taken_names(concept, list(wanted), "/aliases")
    gone, _ = concept.names.filter(is_canonical=False).exclude(slug__in=wanted).delete()
    kept = _alias_slugs(concept)
    rows = [ConceptName(concept=concept, slug=slug, name=name) for slug, name in wanted.items()]
    come = ConceptName.objects.bulk_create([row for row in rows if row.slug not in kept])
    return bool(gone or come)


def _count_version(concept: Concept) -> None:
    """Count a change of the aliases, which stand in a table of their own, as one of the concept."""
    Concept.objects.filter(pk=concept.pk).update(version=F("version") + 1)
    concept.refresh_from_db(fields=["version"])


def _alias_names(concept: Concept, aliases: Sequence[str]) -> dict[str, str]:
    """Alias slugs with the alias as written; the concept's own slug is no alias of itself."""
    named = {alias: slugify(alias) for alias in aliases}
    unusable = [alias for alias, slug in named.items() if slug is None]
    if unusable:
        problems = [
            Problem("no_usable_name", f"{alias!r} holds no letter or digit", "/aliases") for alias in unusable
        ]
        raise Invalid("no_usable_name", problems[0].message, "/aliases", problems=problems)
    return {slug: alias for alias, slug in named.items() if slug is not None and slug != concept.slug}


def _refuse_taken_names(concept: Concept, slugs: list[str], pointer: str) -> None:
    taken = (
        ConceptName.objects.select_related("concept").filter(slug__in=slugs).exclude(concept=concept).first()
    )
    if taken is not None:
        raise _name_taken(taken.slug, taken.concept, pointer)


def _name_taken(slug: str, concept: Concept, pointer: str) -> Conflict:
    detail = (
        f"the name {slug!r} belongs to the concept {concept.slug!r}; names of all concepts are one namespace"
    )
    return Conflict("name_taken", detail, pointer, extra={"id": concept.pk})


def _exists(kind: str, row: Topic | Concept) -> Conflict:
    detail = f"the {kind} {row.slug!r} exists with another content; change it by its id"
    return Conflict("exists", detail, "/slug", extra={"id": row.pk})


def _refuse_non_slug(slug: str) -> None:
    if not is_slug(slug):
        nearest = slugify(slug)
        hint = f"; {nearest!r} would be one" if nearest else ""
        raise Invalid("invalid_slug", f"{slug!r} is no slug{hint}", "/slug")


def nearest_concept(slug: str) -> str | None:
    """The canonical slug or alias spelled most like ``slug``, for an error that helps."""
    names = ConceptName.objects.values_list("slug", flat=True)
    close = difflib.get_close_matches(slug, list(names), n=1)
    return close[0] if close else None
