"""What PostgreSQL offers beside tables: locks by name, and prepared statements."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.models import Model
from psycopg import Cursor
from psycopg.errors import UniqueViolation


class Lock(IntEnum):
    """Every advisory lock of the product. Numbers are for ever: two versions may run side by side."""

    PREREQUISITES = 1
    DIALS = 2
    SPACES = 3
    IMPORT = 4
    EMBEDDING = 5


def hold(lock: Lock) -> None:
    """Wait for ``lock`` and hold it until the running transaction ends.

    Raises RuntimeError outside a transaction, where the lock would be gone at once.
    """
    if not connection.in_atomic_block:
        raise RuntimeError(f"{lock.name} is held for a transaction, and none is running")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [lock.value])


def try_hold(name: str) -> bool:
    """Hold the lock of that name until the running transaction ends, or say that another holds it.

    A holder that dies gives the lock back with its connection: no lease, and no clock. Names are hashed
    to 64 bits, so two names could share a lock, and nobody will live to see it.
    """
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [number])
        (held,) = cursor.fetchone() or (False,)
    return bool(held)


@contextmanager
def claimed(lock: Lock, key: int) -> Iterator[bool]:
    """Whether this process is now the only one at ``key`` of ``lock``, for as long as the block lasts.

    Nobody waits. The claim belongs to the connection, so a killed process gives it back at once, and it
    needs no transaction: for work that must not hold one open.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [lock.value, key])
        (is_ours,) = cursor.fetchone() or (False,)
    try:
        yield is_ours
    finally:
        if is_ours:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [lock.value, key])


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


def fetch_prepared(statement: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """All rows of a read, run as a prepared statement in one round trip; the first of a request.

    Django's cursors bind on the client and cannot prepare, and its health check costs a round trip of its
    own: here the read itself is the check. A connection that died since the last request is opened anew,
    outside a transaction; so ``statement`` must only read.
    """
    try:
        return _fetch(statement, params)
    except OperationalError:
        if connection.in_atomic_block:
            raise
        connection.close()
        return _fetch(statement, params)


def _fetch(statement: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    connection.ensure_connection()
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        rows = cursor.execute(statement.encode(), params, prepare=True).fetchall()
    connection.health_check_done = True  # type: ignore[attr-defined]  # the stubs lack it
    return rows


def run_prepared(statement: str, params: Mapping[str, Any]) -> None:
    """A write as a prepared statement in one round trip; it is tried once."""
    connection.ensure_connection()
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        cursor.execute(statement.encode(), params, prepare=True)
