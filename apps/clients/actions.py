"""Making and revoking API keys (api.md, Who calls)."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import connection

from apps.audit.context import audited_as
from apps.clients import secrets
from apps.clients.models import ApiKey, IdempotencyRecord, Scope, Source
from apps.clients.queries import SQL
from apps.core.actors import Actor
from apps.core.database import insert
from apps.core.errors import Invalid, Problem
from apps.rules.scopes import is_learner_id

NAME_CHARS = 100
MOST_PER_MINUTE = 1_000_000
"""More than a server answers; the limit's arithmetic is in microseconds, and exact up to there."""


@dataclass(frozen=True, slots=True)
class KeyDraft:
    """What a new key may do and see. No ``topics`` means all, no ``learner_prefix`` every learner."""

    name: str
    scopes: Sequence[str]
    sources: Sequence[str] = ()
    topics: Sequence[str] = ()
    learner_prefix: str = ""
    rate_per_minute: int = 600
    expires_at: dt.datetime | None = None


def create_key(*, draft: KeyDraft, actor: Actor, now: dt.datetime) -> tuple[ApiKey, str]:
    """A new key and its text, which is shown now and never again: only its hash is kept.

    Raises Invalid with everything that is wrong with the draft.
    """
    _refuse_wrong_draft(draft, now)
    text = secrets.new_key()
    key = _build(draft, text, now)
    with audited_as(actor=actor, verb="key.create", now=now):
        key.save(force_insert=True)
    return key, text


def ensure_key(*, text: str, draft: KeyDraft, actor: Actor, now: dt.datetime) -> ApiKey:
    """The key of that text, made of ``draft`` where there is none; one that was revoked stays so."""
    _refuse_wrong_draft(draft, now)
    key = _build(draft, text, now)
    with audited_as(actor=actor, verb="key.create", now=now):
        if insert(key):
            return key
    return ApiKey.objects.get(key_hash=key.key_hash)


def _build(draft: KeyDraft, text: str, now: dt.datetime) -> ApiKey:
    return ApiKey(
        name=draft.name,
        prefix=text[: secrets.SHOWN_CHARS],
        key_hash=secrets.key_hash(text),
        scopes=sorted(set(draft.scopes)),
        sources=sorted(set(draft.sources)),
        topics=sorted(set(draft.topics)),
        learner_prefix=draft.learner_prefix,
        rate_per_minute=draft.rate_per_minute,
        created_at=now,
        expires_at=draft.expires_at,
    )


def revoke_key(*, key: ApiKey, actor: Actor, now: dt.datetime) -> ApiKey:
    """Take a key out of use for good, from its next request on. Twice is once."""
    with audited_as(actor=actor, verb="key.revoke", now=now):
        held = ApiKey.objects.select_for_update().get(pk=key.pk)
        if held.revoked_at is None:
            held.revoked_at = now
            held.save(update_fields=["revoked_at"])
    return held


def _refuse_wrong_draft(draft: KeyDraft, now: dt.datetime) -> None:
    problems = [
        *_unknown(draft.scopes, Scope.values, "/scopes"),
        *_unknown(draft.sources, Source.values, "/sources"),
    ]
    if not draft.name.strip():
        problems.append(Problem("blank", "a key has a name", "/name"))
    if len(draft.name) > NAME_CHARS or not draft.name.isprintable():
        detail = f"a key's name is one line of at most {NAME_CHARS} characters"
        problems.append(Problem("invalid_name", detail, "/name"))
    if not draft.scopes:
        problems.append(Problem("required", f"a key has a scope: {', '.join(Scope.values)}", "/scopes"))
    if draft.learner_prefix and not is_learner_id(draft.learner_prefix):
        problems.append(Problem("invalid_learner", "no learner id begins so", "/learner_prefix"))
    if not 1 <= draft.rate_per_minute <= MOST_PER_MINUTE:
        detail = f"a key may call at least once a minute and at most {MOST_PER_MINUTE} times"
        problems.append(Problem("out_of_range", detail, "/rate_per_minute"))
    if draft.expires_at is not None and draft.expires_at <= now:
        problems.append(Problem("out_of_range", "a key expires in the future", "/expires_at"))
    if problems:
        raise Invalid(problems[0].code, problems[0].message, problems[0].pointer, problems=problems)


def _unknown(given: Sequence[str], known: Sequence[str], pointer: str) -> list[Problem]:
    wrong = [word for word in given if word not in known]
    return [Problem("unknown", f"{word!r} is none of {', '.join(known)}", pointer) for word in wrong]


def note_last_uses(*, uses: Mapping[int, dt.datetime]) -> int:
    """Carry the times at which keys were last used to their rows; older ones change nothing. Gives how many did."""
    with connection.cursor() as cursor:
        cursor.execute(SQL["note_last_uses"].text, {"ids": list(uses), "times": list(uses.values())})
        changed: int = cursor.rowcount
    return changed


def rename_topic_in_bindings(*, old: str, new: str, actor: Actor, now: dt.datetime) -> None:
    """Keep keys bound to a topic whose slug changes; else they would lose it, and gain the slug's next owner."""
    with audited_as(actor=actor, verb="key.follow-topic", now=now):
        for key in ApiKey.objects.select_for_update().filter(topics__contains=[old]).order_by("id"):
            key.topics = sorted({new if slug == old else slug for slug in key.topics})
            key.save(update_fields=["topics"])


def forget_answers(*, before: dt.datetime) -> int:
    """Delete the answers that were kept for retries before that time; gives how many there were."""
    deleted, _ = IdempotencyRecord.objects.filter(created_at__lt=before).delete()
    return deleted
