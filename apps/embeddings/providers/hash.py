"""Vectors by counting characters: offline, the same everywhere, and the baseline of every better provider."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from apps.embeddings.errors import ProviderNotConfiguredError
from apps.embeddings.providers.base import EmbeddingProvider
from apps.rules import hashing

_MODEL = f"hash-{hashing.DIMENSIONS}"


class HashProvider(EmbeddingProvider):
    """The one model of rules.md 12. What it would not read does not fit."""

    name = "hash"
    max_input_chars = hashing.READ_CHARS
    batch_size = 2048

    @property
    def model(self) -> str:
        return _MODEL

    @property
    def dimensions(self) -> int:
        return hashing.DIMENSIONS

    def fits(self, text: str) -> bool:
        return len(text) <= hashing.READ_CHARS

    def _raw_vectors(self, texts: Sequence[str], *, urgent: bool) -> Sequence[ArrayLike]:
        del urgent  # nothing is waited for
        return [hashing.hash_vector(text) for text in texts]


def build(model: str | None, dimensions: int | None) -> EmbeddingProvider:
    """The provider; raises ProviderNotConfiguredError for any other model or length than its one."""
    if model not in (None, _MODEL) or dimensions not in (None, hashing.DIMENSIONS):
        raise ProviderNotConfiguredError(f"hash: there is one model, hash/{_MODEL}, not {model}@{dimensions}")
    return HashProvider()
