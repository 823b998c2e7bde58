"""rules.md 2: names become slugs."""

import hashlib

import pytest
from hypothesis import given

from apps.rules.slugs import UNANCHORED, is_slug, slugify
from tests.rules.strategies import any_text, awkward_text


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Nonce reuse", "nonce-reuse"),
        ("  Nonce__reuse_ ", "nonce-reuse"),
        ("a -- b", "a-hyphen-minus-hyphen-minus-b"),
        ("C", "c"),
        ("C++", "c-plus-sign-plus-sign"),
        ("C#", "c-number-sign"),
        ("y = x", "y-equals-sign-x"),
        ("y = -x", "y-equals-sign-hyphen-minus-x"),
        ("y = −x", "y-equals-sign-minus-sign-x"),
        ("Diffie-Hellman", "diffie-hellman"),
        ("-1", "hyphen-minus-1"),
        ("50 % off & more", "50-percent-sign-off-ampersand-more"),
        ("Ångström", "ångström"),
        ("A\u030angstrom", "ångstrom"),
        ("ＴＣＰ／ＩＰ", "tcpip"),
        ("Bayes' theorem (1763)", "bayes-theorem-1763"),
        ("zero\u200bwidth", "zerowidth"),
        ("e.\u0301", "é"),
        ("ℋ space", "h-space"),
        ("☂", "umbrella"),
        ("½", "1-fraction-slash-2"),
    ],
)
def test_a_name_becomes_its_slug(name: str, slug: str) -> None:
    assert slugify(name) == slug


@pytest.mark.parametrize("name", ["", "   ", "...", "()", "_", "\u200b", "¿?"])
def test_a_name_of_which_nothing_is_left_is_unusable(name: str) -> None:
    assert slugify(name) is None


@given(any_text)
def test_a_slug_of_any_text_is_its_own_slug(name: str) -> None:
    slug = slugify(name)
    assert slug is None or slugify(slug) == slug


@given(awkward_text)
def test_a_slug_of_awkward_text_is_its_own_slug(name: str) -> None:
    slug = slugify(name)
    assert slug is None or (slugify(slug) == slug and is_slug(slug))


@given(any_text | awkward_text)
def test_a_slug_holds_letters_numbers_marks_and_single_hyphens_between_them(name: str) -> None:
    slug = slugify(name)
    if slug is not None:
        assert 1 <= len(slug) <= 100
        assert not slug.startswith("-")
        assert not slug.endswith("-")
        assert "--" not in slug
        assert not set(slug) & set(" _/.:")


def test_a_long_name_keeps_91_characters_and_a_hash_of_the_whole() -> None:
    whole = "a" * 101
    digest = hashlib.sha256(whole.encode()).hexdigest()[:8]
    assert slugify(whole) == f"{'a' * 91}-{digest}"
    assert slugify("a" * 100) == "a" * 100


def test_long_names_that_begin_alike_stay_apart() -> None:
    assert slugify("a" * 150 + " one") != slugify("a" * 150 + " two")


def test_a_long_name_cut_at_a_hyphen_has_no_two_in_a_row() -> None:
    slug = slugify("a" * 90 + " " + "b" * 50)
    assert slug is not None
    assert slug.startswith("a" * 90 + "-")
    assert len(slug) == 99
    assert is_slug(slug)


@pytest.mark.parametrize(
    "text", ["Nonce-reuse", "nonce reuse", "-a", "a--b", UNANCHORED, "", "a" * 101, "C++"]
)
def test_what_is_no_slug_is_refused(text: str) -> None:
    assert not is_slug(text)
