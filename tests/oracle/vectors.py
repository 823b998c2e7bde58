"""Vectors in float64, by the school formula: cosine over chunks (rules.md 3), the `hash` provider (12)."""

import math

from tests.oracle.model import Entry, Vector

HASH_DIMENSIONS = 128
HASH_CHARACTERS = 2048


def cosine(a: Vector, b: Vector) -> float:
    """The cosine of two vectors of one length, neither of them zero."""
    dot = math.fsum(x * y for x, y in zip(a, b, strict=True))
    return dot / (norm(a) * norm(b))


def norm(vector: Vector) -> float:
    return math.sqrt(math.fsum(x * x for x in vector))


def similarity(entry: Entry, query: Vector | None) -> float | None:
    """The largest cosine over the entry's chunks; null without a current vector or without a query."""
    if query is None or not entry.vectors or not entry.vector_current:
        return None
    return max(cosine(chunk, query) for chunk in entry.vectors)


def hash_vector(text: str) -> Vector:
    """The vector that the `hash` provider gives to a text that is not empty."""
    counts = [0] * HASH_DIMENSIONS
    for character in text[:HASH_CHARACTERS]:
        counts[ord(character) % HASH_DIMENSIONS] += 1
    length = norm(tuple(counts))
    return tuple(count / length for count in counts)
