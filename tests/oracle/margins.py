"""How close an answer is to being another one.

A database keeps vectors in float32, so two rows whose order hangs on less than about 1e-6 may
rightly swap there, also across a cut. `smallest_gap` says by how much the nearest decision of a
retrieval was won, so that a comparison may demand equality wherever the gap is wide enough. A tie
between rows with the very same inputs (chunk, maturity, confidence) is no close call: the rules
break it, everywhere alike.
"""

import math
from collections.abc import Hashable, Iterable
from itertools import combinations

from tests.oracle.match import Filter, competing
from tests.oracle.model import TUTOR, Dials, Entry, Request, Vector, World, student_scope
from tests.oracle.retrieve import (
    Ask,
    Ranked,
    advisory,
    boosted,
    cut,
    merge,
    own_memory,
    ranking_similarity,
    scope_rows,
    student_pass,
    topic_rows,
    tutor_pass,
    understand,
)
from tests.oracle.vectors import cosine, similarity

Standing = tuple[float, Hashable]
"""A row's value in an order, and the inputs that the value was made of."""


def smallest_gap(world: World, request: Request, dials: Dials) -> float:
    """The least distance between two different things that a float64 had to tell apart; inf if none."""
    ask = understand(world, request, dials)
    return min(*(gap(order) for order in semantic_orders(ask)), gap(score_order(ask)), band_gap(ask))


def gap(order: Iterable[Standing]) -> float:
    """The least difference between two values that were not made of the same inputs."""
    return min((abs(a - b) for (a, x), (b, y) in combinations(order, 2) if x != y), default=math.inf)


def smallest_match_gap(world: World, vector: Vector, asked: Filter, dials: Dials) -> float:
    """As `smallest_gap`, for a `match`."""
    rows = [(row, c) for row in competing(world, asked, dials) if (c := similarity(row, vector)) is not None]
    order = gap((boosted(row, c, dials), (nearest_chunk(row, vector), row.maturity)) for row, c in rows)
    return min(order, *(threshold_gap(float(row.confidence) * c, dials) for row, c in rows), math.inf)


def semantic_orders(ask: Ask) -> list[list[Standing]]:
    learner = ask.place.learner
    student_rows = [] if learner is None else scope_rows(ask, student_scope(learner))
    orders: list[list[Standing]] = []
    for rows in (topic_rows(ask), scope_rows(ask, TUTOR), student_rows):
        measured = [(row, similarity(row, ask.request.query_vector)) for row in rows]
        orders.append(
            [
                (boosted(row, c, ask.dials), (best_chunk(ask, row), row.maturity))
                for row, c in measured
                if c is not None
            ]
        )
    return orders


def score_order(ask: Ask) -> list[Standing]:
    """Cosines that break ties need no watch of their own: rows of one maturity stand in pass 1 with them."""
    return [(row.score, score_inputs(ask, row)) for row in merge(ask)]


def score_inputs(ask: Ask, row: Ranked) -> Hashable:
    by_cosine = ranking_similarity(row.found_by, math.nan, ask.dials) != 1.0
    chunk = best_chunk(ask, row.entry) if by_cosine else None
    return chunk, row.entry.confidence, row.entry.maturity, row.expected


def best_chunk(ask: Ask, entry: Entry) -> Vector | None:
    query = ask.request.query_vector
    if query is None or similarity(entry, query) is None:
        return None
    return nearest_chunk(entry, query)


def nearest_chunk(entry: Entry, query: Vector) -> Vector:
    return max(entry.vectors or (), key=lambda chunk: cosine(chunk, query))


def band_gap(ask: Ask) -> float:
    """How near a decision score came to a threshold of its band."""
    topic = [advisory(row, ask.dials) for row in cut(ask)]
    own = (*own_memory(ask, tutor_pass(ask)), *own_memory(ask, student_pass(ask)))
    return min(
        (
            threshold_gap(row.decision_score, ask.dials)
            for row in (*topic, *own)
            if row.decision_score is not None and row.band != "named"
        ),
        default=math.inf,
    )


def threshold_gap(decision: float, dials: Dials) -> float:
    return min(abs(decision - float(threshold)) for threshold in (dials.band_strong, dials.band_moderate))
