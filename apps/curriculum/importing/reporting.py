"""What an import does, or would do: counted, and row by row where that is asked for."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db import connection

from apps.core.sql import statements
from apps.curriculum.bundle.records import Kind, Place
from apps.curriculum.importing.staging import SQL_FOLDER, Stage

_SQL = statements(SQL_FOLDER / "changes.sql")


@dataclass(frozen=True, slots=True)
class Counts:
    """How many rows of one kind are made, changed, and left as they are."""

    created: int = 0
    changed: int = 0
    unchanged: int = 0


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of a stored row, before and after."""

    field: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class RowChange:
    """One row that is made (no fields) or changed: ``what`` names it, ``place`` says where the file states it."""

    kind: Kind
    what: str
    place: Place
    fields: tuple[FieldChange, ...]

    @property
    def is_new(self) -> bool:
        return not self.fields


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of an import. ``run`` finds its events in the audit; ``changes`` are listed by a dry run alone."""

    run: UUID
    dry_run: bool
    kinds: Mapping[Kind, Counts]
    changes: tuple[RowChange, ...] = ()

    @property
    def created(self) -> int:
        return sum(counts.created for counts in self.kinds.values())

    @property
    def changed(self) -> int:
        return sum(counts.changed for counts in self.kinds.values())

    @property
    def unchanged(self) -> int:
        return sum(counts.unchanged for counts in self.kinds.values())


def counted() -> dict[Kind, Counts]:
    """The counts of what is staged and matched."""
    with connection.cursor() as cursor:
        cursor.execute(_SQL["counts"].text)
        return {
            Kind(kind): Counts(created, changed, total - created - changed)
            for kind, created, changed, total in cursor.fetchall()
        }


def row_changes(stage: Stage) -> Iterator[RowChange]:
    """Every row that is made or changed, in the order of the files, field by field."""
    for kind in Kind:
        with connection.cursor() as cursor:
            cursor.execute(_SQL[kind].text)
            rows = cursor.fetchall()
        for (_, file, row, what), group in groupby(rows, key=lambda found: found[:4]):
            fields = tuple(
                FieldChange(field, _value(before), _value(after))
                for *_, field, before, after in group
                if field is not None
            )
            yield RowChange(kind, what, stage.place(kind, file, row), fields)


def _value(stored: str | None) -> Any:
    return None if stored is None else json.loads(stored)
