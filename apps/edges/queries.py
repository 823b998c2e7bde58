"""Reads of the edge graph that the ORM cannot say."""

from decimal import Decimal
from pathlib import Path
from uuid import UUID

from django.db import connection

from apps.core.sql import statements

_SQL = statements(Path(__file__).parent / "sql" / "edges.sql")


def prerequisites_ahead(start: UUID, floor: Decimal) -> list[tuple[UUID, UUID]]:
    """The (source, target) pairs of prerequisites that lead on from ``start``, however far."""
    with connection.cursor() as cursor:
        cursor.execute(_SQL["prerequisites_ahead"].text, {"start": start, "floor": floor})
        return [(source, target) for source, target in cursor.fetchall()]
