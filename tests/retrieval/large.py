"""Twenty thousand rows to retrieve from, and what a plain scan of them finds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from django.db import connection
from numpy.typing import NDArray

from apps.embeddings import indexes
from apps.embeddings.models import EmbeddingSpace
from apps.retrieval import queries
from apps.retrieval.queries import Setting
from apps.rules.dials import DialValues, resolve
from benchmarks import corpus
from tests.retrieval.plans import Plan

SIZE = corpus.Size(
    topics=50, public_per_topic=160, tutor=8_000, learners=400, patterns_per_learner=10, edges=20_000
)
DIMENSIONS = 128
DIALS: DialValues = resolve({}, "hash")
_SENTENCES = 10_000
_THEMES = 24


def sentences() -> corpus.Texts:
    """Vectors as those of real sentences are: of fewer themes than dimensions, with a little of their own."""
    random = np.random.default_rng(7)
    themes = random.normal(size=(_SENTENCES, _THEMES)) @ random.normal(size=(_THEMES, DIMENSIONS))
    rough = themes + random.normal(size=themes.shape)
    vectors = (rough / np.linalg.norm(rough, axis=1, keepdims=True)).astype(np.float32)
    return corpus.Texts("hash/hash-128", [f"Sentence {number}." for number in range(_SENTENCES)], vectors)


@dataclass(frozen=True)
class Rows:
    """All entries side by side, as a plain scan reads them."""

    ids: list[UUID]
    scopes: NDArray[np.str_]
    topics: NDArray[np.int64]
    maturities: NDArray[np.str_]
    confidences: NDArray[np.float64]
    vectors: NDArray[np.float64]

    def nearest(self, query: Any, *, k: int, chosen: Any, rules: dict[str, Any]) -> list[tuple[float, UUID]]:
        """The first ``k`` of the ``chosen`` rows by similarity x boost, with that product."""
        places = np.flatnonzero(chosen & self.passing(rules))
        boosts = self._each("boost", rules)[places]
        scores = (self.vectors[places] @ np.asarray(query, dtype=np.float64)) * boosts
        best = np.argsort(-scores)[: k + 10]
        return sorted((-scores[place], self.ids[places[place]]) for place in best)[:k]

    def passing(self, rules: dict[str, Any]) -> Any:
        """Which rows have the confidence that their maturity asks for."""
        return self.confidences >= self._each("floor", rules)

    def _each(self, name: str, rules: dict[str, Any]) -> NDArray[np.float64]:
        """The floor or the boost of every row."""
        values = np.zeros(len(self.ids))
        for maturity in ("proven", "pattern", "candidate"):
            values[self.maturities == maturity] = float(rules[f"{name}_{maturity}"])
        return values


@dataclass(frozen=True)
class Large:
    """The database, its rows as a scan reads them, and questions to ask."""

    setting: Setting
    rows: Rows
    questions: list[list[float]]
    plan_before_statistics: Plan


@contextmanager
def large_database(before_statistics: Callable[[Setting], Plan]) -> Iterator[Large]:
    """Fill the tests' database, with all that commits, and empty it afterwards."""
    parameters = connection.get_connection_params()
    with psycopg.connect(**{**parameters, "cursor_factory": psycopg.Cursor}) as other:
        try:
            corpus.fill(other, size=SIZE, texts=sentences(), analyzed=False)
            plan = before_statistics(queries.setting())
            indexes.create(EmbeddingSpace.objects.get(), concurrently=False)
            connection.close()
            corpus.analyze(other)
            yield Large(queries.setting(), _rows(other), _questions(), plan)
        finally:
            connection.close()
            other.rollback()
            other.execute(f"TRUNCATE {', '.join(corpus.TABLES)} CASCADE")


def _rows(other: psycopg.Connection[Any]) -> Rows:
    found = other.execute(
        "SELECT e.id, e.visibility_scope, coalesce(e.topic_id, 0), e.maturity, e.confidence::float8, v.embedding"
        " FROM entries_entry e JOIN entries_entryvector v ON v.entry_id = e.id",
        binary=True,
    ).fetchall()
    ids, scopes, topics, maturities, confidences, vectors = zip(*found, strict=True)
    return Rows(
        list(ids),
        np.array(scopes),
        np.array(topics),
        np.array(maturities),
        np.array(confidences),
        np.array([vector.to_numpy() for vector in vectors], dtype=np.float64),
    )


def _questions() -> list[list[float]]:
    """Points between two sentences, which are neither."""
    made, random = sentences().vectors, np.random.default_rng(11)
    pairs = random.integers(len(made), size=(100, 2))
    mixed = made[pairs[:, 0]] + 0.7 * made[pairs[:, 1]]
    units: list[list[float]] = (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).tolist()
    return units
