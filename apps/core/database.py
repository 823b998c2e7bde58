"""What PostgreSQL offers beside tables: locks by name."""

from enum import IntEnum

from django.db import IntegrityError, connection, transaction
from django.db.models import Model
from psycopg.errors import UniqueViolation


class Lock(IntEnum):
    """Every advisory lock of the product. Numbers are for ever: two versions may run side by side."""

    PREREQUISITES = 1
    DIALS = 2
    SPACES = 3
    IMPORT = 4


def hold(lock: Lock) -> None:
    """Wait for ``lock`` and hold it until the running transaction ends.

    Raises RuntimeError outside a transaction, where the lock would be gone at once.
    """
    if not connection.in_atomic_block:
        raise RuntimeError(f"{lock.name} is held for a transaction, and none is running")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [lock.value])


def insert(row: Model) -> bool:
    """Insert ``row``, or say that a unique constraint is in its way (False; the transaction lives on).

    A concurrent insert of the same identity is waited for. Any other error is raised.
    """
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError as error:
        if not isinstance(error.__cause__, UniqueViolation):
            raise
        return False
    return True
