"""What Lode needs of the servers it is given: asked before anything is written to them."""

import kombu
from django.conf import settings
from django.db import NotSupportedError, OperationalError, connection
from kombu.exceptions import OperationalError as BrokerError

from apps.core.supervisor.errors import SupervisorError

POSTGRES = 15
# Before 0.8.4 a vacuum could leave an HNSW index broken.
PGVECTOR = (0, 8, 4)


def require_database() -> None:
    """Raise SupervisorError unless the database is PostgreSQL with pgvector, both recent enough."""
    if connection.vendor != "postgresql":
        raise SupervisorError(f"Lode needs PostgreSQL, and DATABASE_URL names {connection.vendor}.")
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT current_setting('server_version_num')::int, installed_version, default_version"
                " FROM (SELECT 1) AS one LEFT JOIN pg_available_extensions ON name = 'vector'"
            )
            problem = database_problem(*(cursor.fetchone() or (0, None, None)))
    except (OperationalError, NotSupportedError) as error:
        raise SupervisorError(f"The database cannot be used: {_first_line(error)}") from error
    if problem:
        raise SupervisorError(problem)


def database_problem(server: int, installed: str | None, available: str | None) -> str | None:
    """What is wrong with a server (its version as a number) and its pgvector, in one sentence."""
    if server < POSTGRES * 10_000:
        return f"The database is PostgreSQL {server // 10_000}, and Lode needs {POSTGRES} or later."
    needed = ".".join(map(str, PGVECTOR))
    if available is None:
        return f"The database has no pgvector: install version {needed} or later of it on its server."
    if _version(installed or available) >= PGVECTOR:
        return None
    if _version(available) >= PGVECTOR:
        return (
            f"The database uses pgvector {installed}, and Lode needs {needed} or later: "
            "run ALTER EXTENSION vector UPDATE in it."
        )
    return f"The database has pgvector {installed or available}, and Lode needs {needed} or later."


def require_broker() -> None:
    """Raise SupervisorError unless the broker answers."""
    try:
        with kombu.Connection(settings.CELERY_BROKER_URL, connect_timeout=3) as broker:
            broker.ensure_connection(max_retries=1, timeout=3)
    except BrokerError as error:
        raise SupervisorError(f"The broker of REDIS_URL does not answer: {_first_line(error)}") from error


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
