"""What an export holds, read record by record in the fixed order of the file."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from django.db import connection, transaction

from apps.core.sql import statements
from apps.curriculum.bundle.records import Kind
from apps.curriculum.importing.staging import SQL_FOLDER
from apps.rules.slugs import slugify

_SQL = statements(SQL_FOLDER / "export.sql")
_ROWS_AT_ONCE = 500

Record = tuple[Kind, dict[str, Any]]


def records(topics: Sequence[str] | None) -> Iterator[Record]:
    """Every record of the curriculum, or of ``topics`` (slugs), as JSON values by field.

    They come through a cursor of the server: memory stays flat however many there are.
    """
    params = {"topics": None if topics is None else list(topics)}
    with transaction.atomic(), connection.chunked_cursor() as cursor:
        cursor.execute(_SQL["records"].text, params)
        while rows := cursor.fetchmany(_ROWS_AT_ONCE):
            for kind, body in rows:
                yield Kind(kind), _record(Kind(kind), json.loads(body))


def _record(kind: Kind, values: dict[str, Any]) -> dict[str, Any]:
    if kind is Kind.CONCEPT:
        values["aliases"] = [_alias(slug, name) for slug, name in values["aliases"]]
    return values


def _alias(slug: str, name: str) -> str:
    """The alias as it was written; its slug where that is what the writing no longer leads to."""
    return name if slugify(name) == slug else slug
