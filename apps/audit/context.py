"""Who does what, told to the audit triggers for the length of a transaction."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import connection, transaction

from apps.core.actors import Actor

_NAMES = ("actor", "verb", "at", "reason", "run")
_READ = "SELECT " + ", ".join(f"coalesce(current_setting('lode.{name}', true), '')" for name in _NAMES)
_WRITE = "SELECT " + ", ".join(f"set_config('lode.{name}', %s, true)" for name in _NAMES)


@contextmanager
def audited_as(
    *, actor: Actor, verb: str, now: dt.datetime, reason: str = "", run: UUID | None = None
) -> Iterator[None]:
    """One transaction whose every audited change carries this actor, verb, time, reason and run.

    Contexts nest: the inner one speaks while it lasts, and the outer one speaks again after it.
    Verbs are dotted, ``entry.create`` or ``curriculum.import``.
    """
    with transaction.atomic():
        before = _current()
        _speak((str(actor), verb, now.isoformat(), reason, str(run) if run else ""))
        yield
        _speak(before)


def _current() -> tuple[str, ...]:
    with connection.cursor() as cursor:
        cursor.execute(_READ)
        return tuple(cursor.fetchone() or ())


def _speak(values: tuple[str, ...]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_WRITE, values)
