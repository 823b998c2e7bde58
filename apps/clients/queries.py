"""Reading keys: one round trip for each request."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apps.clients.secrets import key_hash
from apps.core.api.access import Access
from apps.core.database import fetch_prepared
from apps.core.sql import statements

SQL = statements(Path(__file__).parent / "sql" / "keys.sql")


def access_by_key(key: str) -> Access | None:
    """What ``key`` may do and see; None for an unknown, revoked or expired one alike.

    It is found by its hash in an index: how long that takes says nothing about the key.
    """
    rows = fetch_prepared(SQL["usable_key"].text, {"key_hash": key_hash(key)})
    return _access(rows[0]) if rows else None


def access_and(
    key: str, beside: str, params: Mapping[str, Any]
) -> tuple[Access, tuple[Any, ...]] | tuple[None, None]:
    """As ``access_by_key``, with the one row that the SELECT ``beside`` gives, in the same round trip."""
    usable = SQL["usable_key"].text
    text = f"SELECT key.*, beside.* FROM ({usable}) key CROSS JOIN ({beside}) beside"  # noqa: S608 - named SQL
    rows = fetch_prepared(text, {"key_hash": key_hash(key), **params})
    if not rows:
        return None, None
    return _access(rows[0]), rows[0][_KEY_COLUMNS:]


_KEY_COLUMNS = 7


def _access(row: tuple[Any, ...]) -> Access:
    key_id, name, scopes, sources, topics, learner_prefix, rate = row[:_KEY_COLUMNS]
    return Access(
        key_id=key_id,
        name=name,
        scopes=frozenset(scopes),
        sources=frozenset(sources),
        topics=tuple(topics),
        learner_prefix=learner_prefix,
        rate_per_minute=rate,
    )
