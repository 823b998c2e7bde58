"""rules.md 12: the hash provider."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.rules.hashing import DIMENSIONS, hash_vector


@given(st.text(min_size=1))
def test_a_vector_has_128_components_and_length_one(text: str) -> None:
    vector = hash_vector(text)
    assert len(vector) == DIMENSIONS == 128
    assert math.hypot(*vector) == pytest.approx(1.0)
    assert min(vector) >= 0


def test_each_character_counts_at_its_code_point_modulo_128() -> None:
    vector = hash_vector("aab" + chr(128 + ord("b")))
    assert vector[ord("a")] == pytest.approx(2 / math.sqrt(8))
    assert vector[ord("b")] == pytest.approx(2 / math.sqrt(8))
    assert sum(map(bool, vector)) == 2


@given(st.text(min_size=1, max_size=9), st.text(max_size=3))
def test_only_the_first_2048_characters_count(text: str, more: str) -> None:
    counted = (text * 2048)[:2048]
    assert hash_vector(counted) == hash_vector(counted + more)


def test_the_last_counted_character_counts() -> None:
    assert hash_vector("a" * 2047 + "b") != hash_vector("a" * 2048)


def test_an_empty_text_has_no_direction() -> None:
    assert hash_vector("") == [0.0] * DIMENSIONS
