"""Statements about the whole database that must hold at any time.

Each app keeps its own in ``sql/invariants.sql``: a statement selects the rows that break it, so that
an intact database answers every one with nothing. ``manage.py verify_invariants`` runs them all, and
so does every fault and simulation test at its end.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import connection

from apps.core.sql import Statement, statements

SHOWN = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """One invariant with rows that break it (the first ``SHOWN`` of them, as dictionaries)."""

    invariant: Statement
    rows: list[dict[str, Any]]


def invariants() -> list[Statement]:
    """All invariants, in the order of the installed apps."""
    files = (Path(config.path) / "sql" / "invariants.sql" for config in apps.get_app_configs())
    return [statement for file in files if file.exists() for statement in statements(file).values()]


def findings() -> Iterator[Finding]:
    """Run every invariant, and yield those that are broken."""
    for invariant in invariants():
        if rows := _offending(invariant):
            yield Finding(invariant, rows)


def _offending(invariant: Statement) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM ({invariant.text.rstrip(';')}) AS offending LIMIT {SHOWN}")  # noqa: S608
        names = [column.name for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
