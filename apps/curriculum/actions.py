"""Importing a curriculum: all of it, or nothing (curriculum.md)."""

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from uuid import UUID

from django.db import OperationalError, connection
from psycopg.errors import DeadlockDetected

from apps.audit.context import audited_as
from apps.core.actors import Actor
from apps.core.database import Lock, hold
from apps.core.errors import Invalid
from apps.core.queue import Task, enqueue_on_commit
from apps.core.sql import statements
from apps.curriculum.bundle.records import BundleProblem, Kind
from apps.curriculum.bundle.sources import Source
from apps.curriculum.importing.checks import problems
from apps.curriculum.importing.matching import match
from apps.curriculum.importing.reporting import Report, counted, row_changes
from apps.curriculum.importing.staging import SQL_FOLDER, Stage
from apps.rules import confidence as confidences
from apps.rules.dials import DialValues
from apps.rules.words import LadderStep

_SQL = statements(SQL_FOLDER / "applying.sql")
_ATTEMPTS = 3

Say = Callable[[str], None]


def import_curriculum(
    *,
    sources: Sequence[Source],
    dials: DialValues,
    actor: Actor,
    now: dt.datetime,
    run: UUID,
    dry_run: bool = False,
    say: Say = lambda step: None,
) -> Report:
    """Import the bundles of ``sources`` as one, or with ``dry_run`` report what that would change.

    Raises Invalid ``invalid_curriculum`` with every problem and its place; nothing is written then. An
    import has the curriculum to itself while it is matched, checked and applied: authors' writes wait.
    ``say`` is told each step. Every change is audited under ``run``.
    """
    attempt = partial(_import, sources, dials, actor, now, run, dry_run=dry_run, say=say)
    for _ in range(_ATTEMPTS - 1):
        try:
            return attempt()
        except OperationalError as error:
            if connection.in_atomic_block or not isinstance(error.__cause__, DeadlockDetected):
                raise
            say("another write was in the way; beginning again")
    return attempt()


def _import(
    sources: Sequence[Source],
    dials: DialValues,
    actor: Actor,
    now: dt.datetime,
    run: UUID,
    *,
    dry_run: bool,
    say: Say,
) -> Report:
    with audited_as(actor=actor, verb="curriculum.import", now=now, run=run):
        stage = Stage()
        say("reading")
        stage.read(sources)
        if not dry_run:
            _have_the_curriculum_alone()
        say("matching")
        match(dials)
        stage.analyze()
        say("checking")
        _refuse([*stage.problems, *problems(stage, dials)])
        changes = tuple(row_changes(stage)) if dry_run else ()
        report = Report(run, dry_run, counted(), changes)
        if not dry_run and (report.created or report.changed):
            _apply(dials, now, say)
        stage.drop()
    return report


def _have_the_curriculum_alone() -> None:
    """Keep every other writer out until the end of the transaction; readers go on.

    Prerequisites first, as whoever makes one does. Rejected: locking the matched rows alone. An author's
    insert of the same identity would then break the import at its end, after all its work.
    """
    hold(Lock.IMPORT)
    hold(Lock.PREREQUISITES)
    with connection.cursor() as cursor:
        cursor.execute(_SQL["lock"].text)


def _refuse(found: list[BundleProblem]) -> None:
    if found:
        many = "1 problem" if len(found) == 1 else f"{len(found):,} problems"
        detail = f"{many}; nothing was imported. The first: {found[0].message}"
        raise Invalid("invalid_curriculum", detail, found[0].pointer, problems=list(found))


def _apply(dials: DialValues, now: dt.datetime, say: Say) -> None:
    params: dict[str, dt.datetime | Decimal] = {
        "now": now,
        "quality_exact": confidences.match_quality(LadderStep.EXACT, dials),
        "quality_unanchored": confidences.match_quality(LadderStep.UNANCHORED, dials),
    }
    for kind in Kind:
        say(f"writing {kind}")
        with connection.cursor() as cursor:
            cursor.execute(_SQL[kind].text, params)
    enqueue_on_commit(Task.EMBED_PENDING)
