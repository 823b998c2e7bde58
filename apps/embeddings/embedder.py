"""From missing texts to stored vectors, batch by batch; a batch is committed before the next begins.

So a kill loses one batch, and the next run goes on where the vectors end. No transaction is open while
a provider works.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from apps.dials.queries import get_dials
from apps.embeddings import registry
from apps.embeddings.errors import InvalidAnswerError, ProviderRefusedError, TextNotEmbeddableError
from apps.embeddings.models import EmbeddingSpace
from apps.embeddings.sources import Owner, Text, TextSource, Vector
from apps.rules import text as texts_rules

logger = logging.getLogger(__name__)

Progress = Callable[[int], None]
"""Told how many texts more were seen to."""

# Errors that one text may be to blame for; all others end the run.
_BLAMES_A_TEXT = (InvalidAnswerError, ProviderRefusedError, TextNotEmbeddableError)
# So many texts in a row refused one by one, and it is the provider that is to blame.
_REFUSALS_IN_A_ROW = 3


@dataclass
class Outcome:
    """What a run did. ``refused`` says of each text that has no vector whose it is, and why."""

    stored: int = 0
    refused: dict[tuple[str, Owner], str] = field(default_factory=dict)


class Embedder:
    """Embeds texts in one space, as the dials stood when it was made."""

    def __init__(self, space: EmbeddingSpace, *, now: datetime, progress: Progress = lambda _: None) -> None:
        self.space = space
        self.outcome = Outcome()
        self._now = now
        self._progress = progress
        self._provider = registry.get_provider(space)
        self._dials = get_dials(space.name)
        limits = (self._dials.embedding_max_input_chars, self._provider.max_input_chars)
        self._max_chars = min(limit for limit in limits if limit)

    @property
    def batch_size(self) -> int:
        """Texts that are embedded and committed together."""
        return min(self._dials.embedding_batch_size, self._provider.batch_size)

    def embed(self, source: TextSource, texts: Sequence[Text]) -> int:
        """Embed and store one batch; how many texts it stored.

        Raises an EmbeddingError where the provider fails; texts that it refuses one by one are noted.
        """
        texts = [text for text in texts if (source.kind, text.owner) not in self.outcome.refused]
        vectors = source.known(self.space, {text.text_hash for text in texts})
        new = {text.text_hash: text for text in texts if text.text_hash not in vectors}
        vectors |= self._embedded(source, list(new.values()))
        made = {
            text.owner: (text.text_hash, vectors[text.text_hash])
            for text in texts
            if text.text_hash in vectors
        }
        stored = source.store(self.space, made, now=self._now) if made else 0
        self.outcome.stored += stored
        self._progress(stored)
        return stored

    def _embedded(self, source: TextSource, texts: list[Text]) -> dict[str, list[Vector]]:
        try:
            return self._asked(texts)
        except _BLAMES_A_TEXT as error:
            logger.warning("a batch of %d %s is embedded one by one: %s", len(texts), source.kind, error)
        return self._one_by_one(source, texts)

    def _one_by_one(self, source: TextSource, texts: list[Text]) -> dict[str, list[Vector]]:
        found: dict[str, list[Vector]] = {}
        in_a_row = 0
        for text in texts:
            try:
                found |= self._asked([text])
                in_a_row = 0
            except _BLAMES_A_TEXT as error:
                in_a_row += 1
                if in_a_row == _REFUSALS_IN_A_ROW:
                    raise
                self.outcome.refused[source.kind, text.owner] = str(error)
                logger.warning("%s %s has no vector: %s", source.kind, text.owner, error)
        return found

    def _asked(self, texts: list[Text]) -> dict[str, list[Vector]]:
        """The vectors of each text's chunks, from one call of the provider."""
        pieces = {text.text_hash: self._chunks(text.content) for text in texts}
        vectors = iter(self._provider.embed([piece for chunks in pieces.values() for piece in chunks]))
        return {text_hash: [next(vectors) for _ in chunks] for text_hash, chunks in pieces.items()}

    def _chunks(self, content: str) -> list[str]:
        return texts_rules.chunks(content, max_chars=self._max_chars, fits=self._provider.fits)
