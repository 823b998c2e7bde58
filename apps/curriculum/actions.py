"""Importing a curriculum: all of it, or nothing (curriculum.md)."""

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, islice
from uuid import UUID

from django.db import OperationalError, connection
from psycopg.errors import DeadlockDetected, LockNotAvailable

from apps.audit.context import audited_as
from apps.core.actors import Actor
from apps.core.database import Lock, hold
from apps.core.errors import Invalid
from apps.core.queue import Task, enqueue_on_commit
from apps.core.sql import statements
from apps.curriculum.bundle.records import BundleProblem, Kind
from apps.curriculum.bundle.sources import Source
from apps.curriculum.importing.checks import binding_problems, problems
from apps.curriculum.importing.matching import match
from apps.curriculum.importing.reporting import Report, counted, row_changes
from apps.curriculum.importing.staging import MAX_PROBLEMS, SQL_FOLDER, Stage
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
    topics: Sequence[str] = (),
    say: Say = lambda step: None,
) -> Report:
    """Import the bundles of ``sources`` as one, or with ``dry_run`` report what that would change.

    Raises Invalid ``invalid_curriculum`` with every problem and its place; nothing is written then. An
    import has the curriculum to itself while it is matched, checked and applied: authors' writes wait.
    Public rows of other topics than ``topics`` (slugs; none means all) are refused (``topic_not_bound``).
    ``say`` is told each step. Every change is audited under ``run``.
    """
    given = _Given(sources, dials, actor, now, run, dry_run, topics, say)
    for _ in range(_ATTEMPTS - 1):
        try:
            return _import(given)
        except OperationalError as error:
            if not isinstance(error.__cause__, DeadlockDetected | LockNotAvailable):
                raise
            say("another write was in the way; beginning again")
    return _import(given)


@dataclass(frozen=True, slots=True)
class _Given:
    """What one import is given."""

    sources: Sequence[Source]
    dials: DialValues
    actor: Actor
    now: dt.datetime
    run: UUID
    dry_run: bool
    topics: Sequence[str]
    say: Say


def _import(given: _Given) -> Report:
    with audited_as(actor=given.actor, verb="curriculum.import", now=given.now, run=given.run):
        stage = Stage()
        given.say("reading")
        stage.read(given.sources)
        if stage.is_full:
            _refuse(stage.problems)
        if not given.dry_run:
            _have_the_curriculum_alone()
        given.say("matching")
        match(given.dials)
        stage.analyze()
        given.say("checking")
        _refuse(binding_problems(stage, given.topics))
        _refuse(chain(stage.problems, problems(stage, given.dials)))
        changes = tuple(row_changes(stage)) if given.dry_run else ()
        report = Report(given.run, given.dry_run, counted(), changes)
        if not given.dry_run and (report.created or report.changed):
            _apply(given)
        stage.drop()
    return report


def _have_the_curriculum_alone() -> None:
    """Keep every other writer out until the end of the transaction; readers go on.

    Prerequisites first, as whoever makes one does. Rejected: locking the matched rows alone. An author's
    insert of the same identity would then break the import at its end, after all its work. Rejected too:
    a stronger lock, which would keep sessions from starting.
    """
    hold(Lock.IMPORT)
    hold(Lock.PREREQUISITES)
    with connection.cursor() as cursor:
        cursor.execute(_SQL["lock"].text)


def _refuse(problems: Iterable[BundleProblem]) -> None:
    found = list(islice(problems, MAX_PROBLEMS))
    if found:
        many = "1 problem" if len(found) == 1 else f"{len(found):,} problems"
        many += " and perhaps more" if len(found) == MAX_PROBLEMS else ""
        detail = f"{many}; nothing was imported. The first: {found[0].message}"
        raise Invalid("invalid_curriculum", detail, found[0].pointer, problems=list(found))


def _apply(given: _Given) -> None:
    params: dict[str, dt.datetime | Decimal] = {
        "now": given.now,
        "quality_exact": confidences.match_quality(LadderStep.EXACT, given.dials),
        "quality_unanchored": confidences.match_quality(LadderStep.UNANCHORED, given.dials),
    }
    with connection.cursor() as cursor:
        for step in ("hold", "check_at_once"):
            cursor.execute(_SQL[step].text)
        for kind in Kind:
            given.say(f"writing {kind}")
            cursor.execute(_SQL[kind].text, params)
        cursor.execute(_SQL["check_at_commit"].text)
    enqueue_on_commit(Task.EMBED_PENDING)
