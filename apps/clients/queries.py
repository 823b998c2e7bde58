"""Reading keys: one round trip for each request."""

from pathlib import Path

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
    if not rows:
        return None
    key_id, name, scopes, sources, topics, learner_prefix, rate = rows[0]
    return Access(
        key_id=key_id,
        name=name,
        scopes=frozenset(scopes),
        sources=frozenset(sources),
        topics=tuple(topics),
        learner_prefix=learner_prefix,
        rate_per_minute=rate,
    )
