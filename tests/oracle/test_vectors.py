"""Similarity (rules.md 3) and the `hash` provider (rules.md 12), by hand."""

import pytest

from tests.oracle.examples import EAST, entry, toward
from tests.oracle.vectors import cosine, hash_vector, norm, similarity


def test_cosine_is_of_directions() -> None:
    assert cosine((3.0, 4.0), (10.0, 0.0)) == pytest.approx(0.6)
    assert cosine((3.0, 4.0), (-3.0, -4.0)) == pytest.approx(-1.0)


def test_no_similarity_without_a_current_vector_or_a_query() -> None:
    assert similarity(entry(1), EAST) == 1.0
    assert similarity(entry(1), None) is None
    assert similarity(entry(1, vectors=None), EAST) is None
    assert similarity(entry(1, vectors=toward(0.5), vector_current=False), EAST) is None


def test_the_hash_provider_counts_code_points_modulo_128() -> None:
    """`a` is 97 and U+0161 is 353 = 2 x 128 + 97: both count at 97; `b` is 98. (2, 1) has norm sqrt 5."""
    vector = hash_vector("a\u0161b")
    assert len(vector) == 128
    assert vector[97] == pytest.approx(2 / 5**0.5)
    assert vector[98] == pytest.approx(1 / 5**0.5)
    assert norm(vector) == pytest.approx(1.0)


def test_the_hash_provider_reads_the_first_2048_characters() -> None:
    assert hash_vector("a" * 2048 + "b") == hash_vector("a")
