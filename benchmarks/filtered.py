"""Search in a small scope among 100,000 entries: is what comes back what is nearest?

Ours is the product's own search (``retrieval.searches.match``) over a learner's scope. Beside it, in the same
run, stands the shape in which a common memory library asks PostgreSQL: one table of vectors with a JSON
payload, an HNSW index over all of it, and ``WHERE payload->>'user_id' = …`` with the server's own settings.
The index gives its nearest rows of all users first, and the filter drops what is not this user's.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from pgvector.psycopg import register_vector

from apps.core.api.access import Access
from apps.retrieval import queries, searches
from benchmarks import databases
from benchmarks.corpus import Size
from benchmarks.databases import Connection
from benchmarks.rows import Row
from benchmarks.timing import interleaved, quantiles

# Rows of a scope, and how many scopes of that size there are.
_SCOPES = {1: 40, 10: 40, 100: 20, 1_000: 10}
_QUESTIONS = 120
_ROUNDS = 3
_LIMIT = 5
_CLOSE = 1e-6
_ACCESS = Access(
    key_id=0,
    name="benchmark",
    scopes=frozenset({"retrieve"}),
    sources=frozenset(),
    topics=(),
    learner_prefix="",
    rate_per_minute=0,
)

# Public rows, taken at random, become the memories of made-up learners: the table stays as large as it was.
_CARVE = """
WITH place AS (
    SELECT unnest(%(scopes)s::text[]) AS scope, generate_series(1, %(count)s) AS place
), taken AS (
    SELECT id, row_number() OVER (ORDER BY md5(id::text)) AS place
    FROM entries_entry WHERE visibility_scope = 'public'
), moved AS (
    UPDATE entries_entry e
    SET visibility_scope = place.scope, concept_slug = 'memory-' || place.place, topic_id = NULL,
        maturity = 'proven', confidence = 0.8
    FROM taken JOIN place USING (place) WHERE e.id = taken.id
    RETURNING e.id, e.visibility_scope
)
UPDATE entries_entryvector v SET visibility_scope = moved.visibility_scope
FROM moved WHERE v.entry_id = moved.id
"""
_MEMORIES = """
CREATE TABLE memories (id uuid PRIMARY KEY, vector vector(384), payload jsonb);
INSERT INTO memories
SELECT e.id, v.embedding, jsonb_build_object('user_id', e.visibility_scope, 'data', e.instruction)
FROM entries_entry e JOIN entries_entryvector v ON v.entry_id = e.id;
CREATE INDEX memories_hnsw ON memories USING hnsw (vector vector_cosine_ops);
"""
_PEER = """
SELECT id, vector <=> %(query)s AS distance, payload FROM memories
WHERE payload->>'user_id' = %(user)s ORDER BY vector <=> %(query)s LIMIT 5
"""
_HELD = """
SELECT entry_id::text, embedding FROM entries_entryvector WHERE visibility_scope = %s ORDER BY entry_id
"""


@dataclass(frozen=True)
class Case:
    """A question asked in one scope; ``nearest`` are the ids that a brute-force scan has among its first.

    There are ``wanted`` of them, or more where some are as near as the last, to six decimals.
    """

    scope: str
    query: NDArray[np.float32]
    nearest: frozenset[str]
    wanted: int


def run() -> list[Row]:
    """Recall and time by size of scope: ours, then the other shape."""
    name = databases.derived_database(
        "filtered", databases.corpus_database(Size()), _change, _CARVE, _MEMORIES, repr(_SCOPES)
    )
    databases.use(name)
    return [row for rows in _SCOPES for row in _rows(name, rows)]


def _rows(name: str, rows: int) -> Iterator[Row]:
    cases = _cases(name, rows)
    with databases.superuser(name) as peer:
        register_vector(peer)
        arms: dict[str, Callable[[Case], list[str]]] = {"ours": _ours, "peer": partial(_peer, peer)}
        times = interleaved(arms, cases, rounds=_ROUNDS)
        recall = {
            arm: float(np.mean([_recall(find(case), case) for case in cases])) for arm, find in arms.items()
        }
    yield Row(f"recall@5 scope {rows}", recall["ours"], "share", "== 1")
    yield from quantiles(f"scope {rows}", times["ours"])
    yield Row(f"recall@5 scope {rows}, filter over HNSW", recall["peer"], "share")
    yield from quantiles(f"scope {rows}, filter over HNSW", times["peer"])


def _ours(case: Case) -> list[str]:
    where = searches.Filter(scopes=[case.scope], limit=_LIMIT)
    found = searches.match(
        text=None, vector=case.query.tolist(), where=where, access=_ACCESS, setting=queries.setting()
    )
    return [str(row["entry"]) for row in found["results"]]


def _peer(connection: Connection, case: Case) -> list[str]:
    rows = connection.execute(_PEER, {"query": case.query, "user": case.scope}).fetchall()
    return [str(row[0]) for row in rows]


def _recall(found: Sequence[str], case: Case) -> float:
    return len(case.nearest.intersection(found)) / case.wanted


def _cases(name: str, rows: int) -> list[Case]:
    """Questions spread over every scope of that size."""
    asked = databases.questions(_QUESTIONS).vectors
    scopes = _scopes_of(rows)
    with databases.superuser(name) as connection:
        register_vector(connection)
        return [
            case
            for number, scope in enumerate(scopes)
            for case in _cases_of(connection, scope, asked[number :: len(scopes)])
        ]


def _cases_of(connection: Connection, scope: str, asked: NDArray[np.float32]) -> Iterator[Case]:
    held = connection.execute(_HELD, [scope]).fetchall()
    ids = np.array([row[0] for row in held])
    vectors = np.array([row[1].to_list() for row in held])
    wanted = min(_LIMIT, len(ids))
    for query in asked:
        similarity = vectors @ query
        last = np.sort(similarity)[-wanted]
        yield Case(scope, query, frozenset(ids[similarity >= last - _CLOSE].tolist()), wanted)


def _scopes_of(rows: int) -> list[str]:
    return [f"student:of-{rows}-{number}" for number in range(_SCOPES[rows])]


def _change(connection: Connection) -> None:
    scopes = [scope for rows in _SCOPES for scope in _scopes_of(rows) for _ in range(rows)]
    connection.execute("SET session_replication_role = replica")
    connection.execute(_CARVE, {"scopes": scopes, "count": len(scopes)})
    connection.execute("SET maintenance_work_mem = '1GB'")
    for statement in _MEMORIES.split(";\n")[:-1]:
        connection.execute(statement)
