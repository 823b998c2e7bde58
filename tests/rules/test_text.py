"""rules.md 3 and 5: document and query texts, chunks, clipping."""

import hashlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apps.rules.text import chunks, clip, cut_query, document_text, text_hash, turn_query_text
from tests.rules.strategies import DEFAULTS, any_text

prose = st.text(st.sampled_from('ab é.!?…。」) "\n\u2028'), max_size=400)


def always(_: str) -> bool:
    return True


class Fits:
    """A stand-in for a tokenizer: every word and every four characters of one cost a token."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens

    def __call__(self, text: str) -> bool:
        return sum(1 + len(word) // 4 for word in text.split()) <= self.tokens


@given(any_text, any_text, any_text)
def test_a_document_joins_all_three_parts_even_where_empty(title: str, instruction: str, detail: str) -> None:
    assert document_text(title, instruction, detail) == title + "\n" + instruction + "\n" + detail
    assert document_text("t", "", "") == "t\n\n"


def test_a_hash_is_the_sha256_of_utf8() -> None:
    assert text_hash("é") == hashlib.sha256(b"\xc3\xa9").hexdigest()


def test_a_turn_is_asked_with_one_exact_text() -> None:
    text = turn_query_text(
        topic_title="Cryptography", level="unknown", focus=None, message="why?", dials=DEFAULTS
    )
    assert text == "topic:Cryptography level:unknown focus:none student:why?"


def test_a_long_message_is_cut_and_a_focus_named() -> None:
    text = turn_query_text(topic_title="T", level="b2", focus="nonces", message="x" * 501, dials=DEFAULTS)
    assert text == "topic:T level:b2 focus:nonces student:" + "x" * 500


@given(prose | any_text, st.integers(1, 60), st.integers(1, 12))
@example("a. b", 2, 12)
def test_chunks_lose_nothing_and_fit(text: str, max_chars: int, tokens: int) -> None:
    fits = Fits(tokens)
    pieces = chunks(text, max_chars=max_chars, fits=fits)
    assert "".join(pieces) == text
    assert all(piece and len(piece) <= max_chars and fits(piece) for piece in pieces)


@given(st.lists(st.text("abc ", min_size=1, max_size=18).map(lambda s: s + "."), max_size=12))
def test_a_sentence_that_fits_is_never_split(sentences: list[str]) -> None:
    text = " ".join(sentences)
    pieces = chunks(text, max_chars=20, fits=always)
    assert "".join(pieces) == text
    assert all(piece.rstrip().endswith(".") for piece in pieces)


@given(st.lists(st.text("abc", min_size=1, max_size=20), min_size=1, max_size=12))
def test_a_longer_sentence_is_split_at_white_space(words: list[str]) -> None:
    pieces = chunks(" ".join(words), max_chars=20, fits=always)
    assert [word for piece in pieces for word in piece.split()] == words


def test_chunks_are_as_few_as_sentence_ends_allow() -> None:
    assert chunks("One. Two. Three.", max_chars=10, fits=always) == ["One. Two. ", "Three."]
    assert chunks("One. Two.", max_chars=9, fits=always) == ["One. Two."]


def test_a_sentence_as_long_as_a_chunk_is_kept_whole() -> None:
    assert chunks("Abcdefghi. Next.", max_chars=10, fits=always) == ["Abcdefghi.", " Next."]


def test_a_line_break_ends_a_sentence() -> None:
    assert chunks("A title\nand more text", max_chars=12, fits=always) == ["A title\n", "and more ", "text"]


def test_a_long_word_is_split_between_code_points() -> None:
    assert chunks("é" * 5, max_chars=2, fits=always) == ["éé", "éé", "é"]


def test_a_decimal_point_ends_no_sentence() -> None:
    assert chunks("It is 3.14159 or so", max_chars=15, fits=always) == ["It is 3.14159 ", "or so"]


def test_no_text_has_no_chunks() -> None:
    assert chunks("", max_chars=10, fits=always) == []


def test_a_text_of_full_stops_alone_is_split_quickly() -> None:
    assert len(chunks("." * 200_000 + "x", max_chars=2000, fits=always)) == 101


@pytest.mark.parametrize("cut", [chunks, cut_query])
def test_a_limit_that_admits_nothing_is_an_error(cut: object) -> None:
    with pytest.raises(ValueError, match="not even one character fits"):
        cut("abc", max_chars=10, fits=lambda _: False)  # type: ignore[operator]


@given(prose, st.integers(1, 60), st.integers(1, 12))
def test_a_query_is_the_longest_beginning_that_fits(text: str, max_chars: int, tokens: int) -> None:
    fits = Fits(tokens)
    cut = cut_query(text, max_chars=max_chars, fits=fits)
    assert text.startswith(cut)
    assert len(cut) <= max_chars
    assert fits(cut)
    longer = text[: len(cut) + 1]
    assert cut == text or len(longer) > max_chars or not fits(longer)


def test_a_query_of_which_one_character_fits_is_that_character() -> None:
    assert cut_query("abc", max_chars=10, fits=lambda text: len(text) <= 1) == "a"


@given(prose | any_text, st.integers(2, 60))
def test_a_clipped_text_is_within_its_limit_and_a_beginning(text: str, limit: int) -> None:
    clipped = clip(text, limit)
    assert len(clipped) <= limit
    if len(text) <= limit:
        assert clipped == text
    else:
        assert text.startswith(clipped) or (clipped.endswith("…") and text.startswith(clipped[:-1]))


@given(prose | any_text, st.integers(2, 60))
def test_clipping_needs_one_character_more_than_its_limit(text: str, limit: int) -> None:
    assert clip(text[: limit + 1], limit) == clip(text, limit)


@pytest.mark.parametrize(
    ("text", "clipped"),
    [
        ("0123456789", "0123456789"),
        ("01234567. more", "01234567."),
        ("012345678. more", "012345678."),
        ("0. 2345. 89 more", "0. 2345."),
        ("0. 23456 89 more", "0. 23456…"),
        ("0. 234567890", "0. 234567…"),
        ("012345678.9 more", "012345678…"),
        ("01234 6789 more", "01234…"),
        ("0123 56789 more", "0123 5678…"),
        ("01234.” 89 more", "01234.”"),
        ("01234。78901", "01234。"),
        ("0123。567890", "0123。5678…"),
        ("012345   9012", "012345…"),
    ],
)
def test_a_text_is_clipped_at_a_sentence_end_else_white_space_else_the_limit(text: str, clipped: str) -> None:
    assert clip(text, 10) == clipped
