"""Turns of a corpus: a learner's question in an open session, with the statement that a retrieval sends for it."""

import datetime as dt
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
from django.conf import settings
from numpy.typing import NDArray
from pgvector.psycopg import register_vector

from apps.core.database import fetch_prepared
from apps.embeddings.query_vectors import embed_query
from apps.retrieval import actions, queries
from apps.retrieval.questions import Question
from apps.rules.dials import DialValues
from apps.rules.dials.registry import resolve
from benchmarks import corpus
from benchmarks.corpus import Size
from benchmarks.databases import Connection

_ID, _FOUND_IN = 4, 2
_CLOSE = 1e-6
_PASSING = """
SELECT e.id, e.maturity, v.embedding FROM entries_entry e JOIN entries_entryvector v ON v.entry_id = e.id
WHERE e.visibility_scope = 'tutor' AND e.superseded_at IS NULL AND e.archived_at IS NULL
  AND e.confidence >= CASE e.maturity WHEN 'proven' THEN %s WHEN 'pattern' THEN %s ELSE %s END
"""

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Turn:
    """What a client sends (``body``), and the statement that finds the answer, with its parameters."""

    body: dict[str, str]
    topic: int
    vector: Vector
    statement: bytes
    params: Mapping[str, Any]

    def without_tutor(self) -> "Turn":
        """The same turn where no tutor move is wanted."""
        ask = {**json.loads(self.params["ask"]), "tutor_k": 0}
        return Turn(
            self.body, self.topic, self.vector, self.statement, {**self.params, "ask": json.dumps(ask)}
        )


def turns(size: Size, count: int) -> list[Turn]:
    """``count`` turns of as many learners, each asked once through the product on the database in use."""
    messages = corpus.questions(settings.LODE_DATA_DIR)[:count]
    learners = random.Random(1).sample(range(1, size.learners + 1), count)
    return [
        _turn(message, learner, topic=(learner - 1) % size.topics + 1)
        for message, learner in zip(messages, learners, strict=True)
    ]


def _turn(message: str, learner: int, *, topic: int) -> Turn:
    """Ask as a client does, and keep what went to the database."""
    sent: list[tuple[str, Mapping[str, Any]]] = []
    session = corpus.session_id(learner)

    def recorded(statement: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        sent.append((statement, params))
        return fetch_prepared(statement, params)

    question = Question(message=message, session=session)
    with mock.patch.object(queries, "fetch_prepared", recorded):
        answer = actions.retrieve(question=question, access=None, now=dt.datetime.now(dt.UTC))
    statement, params = sent[-1]
    space = queries.setting().space
    assert space is not None
    vector = embed_query(answer["context_text"], space=space, dials=resolve({}, space.name))
    body = {"message": message, "session": str(session)}
    return Turn(body, topic, np.array(vector), statement.encode(), params)


def ask(connection: Connection) -> Callable[[Turn], list[tuple[Any, ...]]]:
    """The statement of a turn, prepared, over an open connection, with its rows fetched."""
    return lambda turn: connection.execute(turn.statement, turn.params, prepare=True).fetchall()


def tutor_recall(connection: Connection, asked: Sequence[Turn]) -> float:
    """The share of the tutor moves of a brute-force scan, boosts included, that the statement finds."""
    dials = resolve({}, "local")
    register_vector(connection)
    ids, boosts, vectors = _tutor_rows(connection, dials)
    find = ask(connection)
    found = [{row[_ID] for row in find(turn) if row[_FOUND_IN] == ["tutor"]} for turn in asked]
    return float(
        np.mean(
            [
                _recall(rows, ids, boosts * (vectors @ turn.vector), dials.tutor_top_k)
                for rows, turn in zip(found, asked, strict=True)
            ]
        )
    )


def _recall(found: set[Any], ids: NDArray[Any], scores: Vector, wanted: int) -> float:
    """Rows as near as the last, to six decimals, are as good as that one."""
    last = np.sort(scores)[-wanted]
    return len(found & set(ids[scores >= last - _CLOSE].tolist())) / wanted


def _tutor_rows(connection: Connection, dials: DialValues) -> tuple[NDArray[Any], Vector, Vector]:
    least = dials.retrieval_min_confidence
    floors = (dials.retrieval_floor_proven, dials.retrieval_floor_pattern, dials.retrieval_floor_candidate)
    rows = connection.execute(_PASSING, [max(least, floor) for floor in floors]).fetchall()
    boost = {
        "proven": dials.maturity_boost_proven,
        "pattern": dials.maturity_boost_pattern,
        "candidate": dials.maturity_boost_candidate,
    }
    vectors = np.array([row[2].to_numpy() for row in rows], dtype=float)
    return np.array([row[0] for row in rows]), np.array([boost[row[1]] for row in rows]), vectors
