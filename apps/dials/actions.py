"""Turning dials: together or not at all, within their bounds, and audited."""

import datetime as dt
from collections.abc import Sequence
from functools import partial

from django.db import connection, transaction

from apps.audit.context import audited_as
from apps.core.actors import Actor
from apps.core.database import Lock, hold
from apps.core.errors import Invalid, Problem, refuse_stale
from apps.dials.models import Dial
from apps.dials.queries import Snapshot, forget, read_snapshot
from apps.rules.dials import DIALS, Change, validate


def change_dials(
    *,
    changes: Sequence[Change],
    reason: str,
    expected_version: int | None = None,
    actor: Actor,
    now: dt.datetime,
) -> Snapshot:
    """Make ``changes`` together, and give the dials as they stand then.

    Raises Invalid with every problem, each pointing into ``/changes``, where a value is out of its bounds, of
    another type, or would break an order between dials, and where no reason is given (dials.md); Stale where
    the dials are of another version than ``expected_version``.
    """
    if not reason.strip():
        raise Invalid("reason_required", "say why the dial is turned", "/reason")
    with audited_as(actor=actor, verb="dial.change", now=now, reason=reason):
        hold(Lock.DIALS)
        current = read_snapshot()
        refuse_stale(current=current.version, expected=expected_version)
        _refuse_unsound(changes, current)
        for change in changes:
            _store(change, actor=actor, now=now, reason=reason)
        changed = read_snapshot()
        transaction.on_commit(partial(forget, changed.version))
    return changed


def _refuse_unsound(changes: Sequence[Change], current: Snapshot) -> None:
    found = validate(changes, current.stored)
    if found:
        places = [(change.key, change.space) for change in changes]
        problems = [
            Problem(
                "invalid_dial", f"{p.key}: {p.wrong}; {p.right}", _pointer(places.index((p.key, p.space)))
            )
            for p in found
        ]
        raise Invalid("invalid_dial", problems[0].message, problems[0].pointer, problems=problems)


def _pointer(index: int) -> str:
    return f"/changes/{index}/value"


def _store(change: Change, *, actor: Actor, now: dt.datetime, reason: str) -> None:
    dial = DIALS[change.key]
    Dial.objects.update_or_create(
        key=change.key,
        space=change.space or "",
        defaults={
            "value": dial.to_json(dial.parse(change.value)),
            "version": _next_version(),
            "changed_at": now,
            "changed_by": str(actor),
            "reason": reason,
        },
    )


def _next_version() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval('dials_version_seq')")
        (version,) = cursor.fetchone() or (0,)
    return int(version)
