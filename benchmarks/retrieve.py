"""One turn's retrieval at 100,000 entries: what the server takes, and what of it is the database.

Four arms, interleaved: ``POST retrieve`` to the server as ``manage.py up`` starts it, over a kept-alive
connection on the loopback, its query embedded before; the statement that it sends for that, run by psycopg on
an open connection with its rows fetched; the same without the tutor pass; and the first pass alone, as one
would write it by hand.
"""

import datetime as dt
import http.client
import json
from collections.abc import Callable
from typing import Any

import numpy as np
from django.conf import settings

from apps.clients.actions import KeyDraft, create_key
from apps.core.actors import Actor
from benchmarks import databases
from benchmarks.corpus import Size
from benchmarks.databases import Connection
from benchmarks.rows import Row
from benchmarks.serving import serving
from benchmarks.timing import interleaved, quantiles, ratio
from benchmarks.turns import Turn, ask, turns, tutor_recall

_TURNS = 200
_ROUNDS = 5
# The first pass written by hand: the rows of the topic above their floors, the nearest first, boosts included.
_PLAIN = """
SELECT * FROM (
    SELECT e.id, e.title, e.concept_slug, e.instruction, e.maturity, e.confidence,
           1 - (v.embedding <=> %(query)s::vector) AS similarity,
           CASE e.maturity WHEN 'proven' THEN 1.1 WHEN 'pattern' THEN 1.05 ELSE 1 END AS boost
    FROM entries_entry e JOIN entries_entryvector v ON v.entry_id = e.id
    WHERE e.topic_id = %(topic)s AND e.visibility_scope = 'public'
      AND e.superseded_at IS NULL AND e.archived_at IS NULL
      AND e.confidence >= CASE e.maturity WHEN 'candidate' THEN 0.7 ELSE 0.4 END
) near
ORDER BY similarity * boost DESC LIMIT 20
"""


def run() -> list[Row]:
    """Times of each arm, their ratios, and the recall of the tutor pass in the same run."""
    size = Size()
    name = databases.corpus_database(size)
    databases.use(name)
    asked, key = turns(size, _TURNS), _key()
    where = databases.environment(name)
    with serving(settings.LODE_VAR, "--no-demo", environment=where) as lode, databases.connect(name) as open_:
        client = _Client(lode.port, key)
        statement = ask(open_)
        arms: dict[str, Callable[[Turn], object]] = {
            "retrieve": client.retrieve,
            "statement": statement,
            "statement without the tutor pass": lambda turn: statement(turn.without_tutor()),
            "plain": _plain(open_),
        }
        times = interleaved(arms, asked, rounds=_ROUNDS)
        recall = tutor_recall(open_, asked)
    return [
        *quantiles("retrieve", times["retrieve"]),
        *quantiles("statement", times["statement"], "<= 5"),
        *quantiles("statement without the tutor pass", times["statement without the tutor pass"], "<= 2.5"),
        *quantiles("plain topic query", times["plain"]),
        Row("retrieve ratio", ratio(times, "retrieve", "statement"), "times the statement", "<= 2.5"),
        Row("plain ratio", ratio(times, "retrieve", "plain"), "times the plain query", "<= 8"),
        Row("recall of the tutor pass", recall, "share", ">= 0.99"),
        *client.rows(),
    ]


class _Client:
    """A tutor client that keeps its connection, and what the server said about its own times."""

    def __init__(self, port: int, key: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self._told: list[dict[str, float]] = []

    def retrieve(self, turn: Turn) -> None:
        """Ask, and read the whole answer."""
        self._connection.request("POST", "/api/v1/retrieve", json.dumps(turn.body), self._headers)
        answer = self._connection.getresponse()
        body: dict[str, Any] = json.loads(answer.read())
        if answer.status != http.client.OK or body["degraded"]:
            raise RuntimeError(f"retrieve answered {answer.status}: {body}")
        self._told.append(body["timings_ms"])

    def rows(self) -> list[Row]:
        """The medians of the parts that the answers name."""
        return [
            Row(f"retrieve, of which {part}", float(np.median([told[part] for told in self._told])), "ms")
            for part in ("embed", "database", "total")
        ]


def _plain(connection: Connection) -> Callable[[Turn], object]:
    def find(turn: Turn) -> object:
        params = {"query": turn.params["query"], "topic": turn.topic}
        return connection.execute(_PLAIN, params, prepare=True).fetchall()

    return find


def _key() -> str:
    """A key that is never throttled: that is not what is measured."""
    draft = KeyDraft(name="benchmark", scopes=["retrieve"], rate_per_minute=1_000_000)
    return create_key(draft=draft, actor=Actor("system", "benchmark"), now=dt.datetime.now(dt.UTC))[1]
