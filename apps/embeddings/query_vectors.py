"""The vector of a question, from a cache where it was asked before (rules.md 3).

Two caches: a small one in the process, and the shared one. Either is keyed by the space and the
SHA-256 of the text, so no question is kept in words. A provider that does not answer is left alone for
some seconds: every turn would else wait for it in vain.
"""

import logging
import threading
import time
from array import array
from collections import OrderedDict

from django.core.cache import cache
from redis.exceptions import RedisError

from apps.embeddings import registry
from apps.embeddings.errors import ProviderUnavailableError
from apps.embeddings.models import EmbeddingSpace
from apps.rules.dials import DialValues
from apps.rules.text import cut_query, text_hash

logger = logging.getLogger(__name__)

QueryVector = tuple[float, ...]

_REMEMBERED = 1024
_PAUSE_SECONDS = 10.0


class _Memory:
    """This process's share: recent vectors with the time they end at, and providers that are left alone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._vectors: OrderedDict[str, tuple[float, QueryVector]] = OrderedDict()
        self.paused_until: dict[str, float] = {}

    def get(self, key: str) -> QueryVector | None:
        with self._lock:
            ends_at, vector = self._vectors.get(key, (0.0, ()))
            if time.monotonic() >= ends_at:
                return None
            self._vectors.move_to_end(key)
            return vector

    def put(self, key: str, vector: QueryVector, seconds: int) -> None:
        with self._lock:
            self._vectors[key] = (time.monotonic() + seconds, vector)
            self._vectors.move_to_end(key)
            while len(self._vectors) > _REMEMBERED:
                self._vectors.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._vectors.clear()
            self.paused_until.clear()


_memory = _Memory()


def embed_query(text: str, *, space: EmbeddingSpace, dials: DialValues) -> QueryVector:
    """The unit vector of ``text``, cut to one chunk, in ``space``.

    Raises an EmbeddingError where the provider fails or is left alone after a failure, and
    TextNotEmbeddableError for a text with nothing in it. Never inside a transaction.
    """
    provider = registry.get_provider(space)
    limits = (dials.embedding_max_input_chars, provider.max_input_chars)
    cut = cut_query(text, max_chars=min(limit for limit in limits if limit), fits=provider.fits)
    key = f"query-vector:{space.pk}:{text_hash(cut)}"
    found = _recall(key, dials.embedding_cache_seconds)
    if found is None:
        found = _asked(cut, space)
        _remember(key, found, dials.embedding_cache_seconds)
    return found


def forget_query_vectors() -> None:
    """Drop this process's share; the shared cache keeps its own."""
    _memory.clear()


def _recall(key: str, seconds: int) -> QueryVector | None:
    if not seconds:
        return None
    remembered = _memory.get(key)
    if remembered is not None:
        return remembered
    shared = _shared(key)
    if shared is None:
        return None
    vector = tuple(array("f", shared))
    _memory.put(key, vector, seconds)
    return vector


def _shared(key: str) -> bytes | None:
    try:
        found: bytes | None = cache.get(key)
    except RedisError as error:
        logger.warning("the shared cache does not answer (%s)", error)
        return None
    return found


def _remember(key: str, vector: QueryVector, seconds: int) -> None:
    if not seconds:
        return
    _memory.put(key, vector, seconds)
    try:
        cache.set(key, array("f", vector).tobytes(), seconds)
    except RedisError as error:
        logger.warning("the shared cache does not answer (%s)", error)


def _asked(text: str, space: EmbeddingSpace) -> QueryVector:
    if time.monotonic() < _memory.paused_until.get(space.name, 0.0):
        raise ProviderUnavailableError(f"{space.name}: is left alone for a moment, after it did not answer")
    try:
        vectors = registry.get_provider(space).embed([text], urgent=True)
    except ProviderUnavailableError:
        _memory.paused_until[space.name] = time.monotonic() + _PAUSE_SECONDS
        raise
    return tuple(vectors[0].tolist())
