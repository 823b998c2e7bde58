"""What every provider keeps, whatever makes its vectors."""

import numpy as np
import pytest

from apps.embeddings import registry
from apps.embeddings.errors import TextNotEmbeddableError
from apps.embeddings.providers.base import EmbeddingProvider

TEXTS = [
    "phishing",
    "A nonce is a number used once; reuse it and two messages share one key stream.",
    "Ένα κλειδί, ein Schlüssel, 一把钥匙 🔑",
    "x",
    " ".join(["A firewall drops what no rule lets through."] * 12),
    "phishing",
]


@pytest.fixture(params=["local", "openai", "hash"])
def provider(request: pytest.FixtureRequest) -> EmbeddingProvider:
    if request.param == "openai":
        request.getfixturevalue("openai_settings")
    return registry.get_provider(request.param)


def test_vectors_are_unit_vectors_of_the_stated_length(provider: EmbeddingProvider) -> None:
    vectors = provider.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), provider.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-6)


def test_the_same_text_has_the_same_vector(provider: EmbeddingProvider) -> None:
    vectors = provider.embed(TEXTS)
    assert np.array_equal(vectors[0], vectors[-1])
    assert np.array_equal(vectors, provider.embed(TEXTS))


def test_a_batch_gives_what_its_texts_give_alone_and_in_their_order(
    provider: EmbeddingProvider,
) -> None:
    alone = np.concatenate([provider.embed([text]) for text in TEXTS])
    assert np.abs(provider.embed(TEXTS) - alone).max() < 1e-5


def test_different_texts_have_different_vectors(provider: EmbeddingProvider) -> None:
    vectors = provider.embed(TEXTS[:-1])
    similarity = vectors @ vectors.T
    assert similarity[~np.eye(len(vectors), dtype=bool)].max() < 0.999


def test_no_text_gives_no_vector(provider: EmbeddingProvider) -> None:
    assert provider.embed([]).shape == (0, provider.dimensions)


@pytest.mark.parametrize(
    ("text", "problem"),
    [("", "is empty"), ("\ud800", "lone surrogate"), ("word " * 20_000, "would be cut")],
    ids=["empty", "surrogate", "long"],
)
def test_a_text_that_cannot_be_embedded_whole_is_refused_with_its_position(
    provider: EmbeddingProvider, text: str, problem: str
) -> None:
    with pytest.raises(TextNotEmbeddableError, match=f"{provider.space}: text 2 .*{problem}") as caught:
        provider.embed(["fine", text])
    assert caught.value.position == 1


def test_what_fits_is_what_is_embedded(provider: EmbeddingProvider) -> None:
    whole = "The last word counts. " * 500
    longest = max(length for length in range(1, 10_000, 50) if provider.fits(whole[:length]))
    assert provider.embed([whole[:longest]]).shape == (1, provider.dimensions)
    assert provider.max_input_chars or provider.max_input_tokens


def test_a_space_row_finds_its_provider(provider: EmbeddingProvider) -> None:
    named = registry.SpaceName(provider.name, provider.model, provider.dimensions)
    found = registry.get_provider(named)
    assert (found.space, found.dimensions) == (provider.space, provider.dimensions)
