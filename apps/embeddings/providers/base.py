"""What every embedding provider is: texts in, unit vectors out, and one place that checks both ways."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apps.embeddings.errors import InvalidAnswerError, TextNotEmbeddableError
from apps.embeddings.guard import refuse_open_transaction

Vectors = NDArray[np.float32]


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class EmbeddingProvider(ABC):
    """One model of one provider: the same text gives the same vector (rules.md 3).

    A subclass makes raw vectors; this class refuses texts that would be cut, answers that cannot be
    right, and calls inside a transaction, and normalises what it hands out. Thread-safe.

    ``max_input_chars`` (code points) and ``max_input_tokens`` are the provider's own limits, None where
    it has none; ``batch_size`` is the most texts of one call that it handles well.
    """

    name: ClassVar[str]
    max_input_chars: int | None = None
    max_input_tokens: int | None = None
    batch_size: int = 64

    @property
    @abstractmethod
    def model(self) -> str:
        """The model's name within the provider."""

    @property
    @abstractmethod
    def dimensions(self) -> int:
        """The length of its vectors."""

    @property
    def space(self) -> str:
        """The space that its vectors belong to, as written everywhere: ``provider/model``."""
        return f"{self.name}/{self.model}"

    @abstractmethod
    def fits(self, text: str) -> bool:
        """Whether the whole of ``text`` is embedded, in characters and in tokens; for chunking."""

    def embed(self, texts: Sequence[str], *, urgent: bool = False) -> Vectors:
        """The L2-normalised vectors of ``texts`` in their order, ``(len(texts), dimensions)``.

        ``urgent``: a person waits for the answer, so a provider over a network gives up early.
        Raises an EmbeddingError; then no vector is returned.
        """
        refuse_open_transaction()
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        for position, text in enumerate(texts):
            self._check_text(position, text)
        return self._checked(self._raw_vectors(texts, urgent=urgent), len(texts))

    def close(self) -> None:  # noqa: B027 - most providers hold nothing open
        """Give back sockets and the like; the provider is not used again."""

    @abstractmethod
    def _raw_vectors(self, texts: Sequence[str], *, urgent: bool) -> Sequence[ArrayLike]:
        """A vector for each text, in order, of any length of norm."""

    def _check_text(self, position: int, text: str) -> None:
        problem = self._problem(text)
        if problem:
            message = f"{self.space}: text {position + 1} {problem}"
            raise TextNotEmbeddableError(message, position=position)

    def _problem(self, text: str) -> str:
        if not text:
            return "is empty"
        if not _is_unicode(text):
            return "holds a lone surrogate and is no valid Unicode"
        if not self.fits(text):
            return f"has {len(text)} characters and would be cut: split it into chunks that fit"
        return ""

    def _checked(self, raw: Sequence[ArrayLike], wanted: int) -> Vectors:
        if len(raw) != wanted:
            message = f"{self.space}: answered {len(raw)} vectors for {wanted} texts"
            raise InvalidAnswerError(message)
        return np.stack([self._unit(position, vector) for position, vector in enumerate(raw)])

    def _unit(self, position: int, vector: ArrayLike) -> NDArray[np.float32]:
        numbers = self._numbers(position, vector)
        if not np.isfinite(numbers).all():
            raise self._invalid(position, "has a component that is not a finite number")
        # Divided by its largest component first, neither a huge nor a tiny vector leaves the range of floats.
        largest = np.abs(numbers).max()
        if largest == 0:
            raise self._invalid(position, "has norm 0 and so no direction")
        scaled = numbers / largest
        unit: NDArray[np.float32] = (scaled / np.linalg.norm(scaled)).astype(np.float32)
        return unit

    def _numbers(self, position: int, vector: ArrayLike) -> NDArray[np.float64]:
        try:
            numbers = np.asarray(vector, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise self._invalid(position, "is no list of numbers") from error
        if numbers.shape != (self.dimensions,):
            raise self._invalid(position, f"has shape {numbers.shape}, not ({self.dimensions},)")
        return numbers

    def _invalid(self, position: int, problem: str) -> InvalidAnswerError:
        return InvalidAnswerError(
            f"{self.space}: the vector of text {position + 1} {problem}", position=position
        )
