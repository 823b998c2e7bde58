"""The one way to an embedding provider: by name, or by the space that its vectors belong to.

Providers are loaded when first asked for: importing this costs no onnxruntime, no openai and no numpy.
Nothing else imports `apps.embeddings.providers`.
"""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from django.conf import settings

from apps.embeddings.errors import ProviderNotConfiguredError

if TYPE_CHECKING:
    from apps.embeddings.providers.base import EmbeddingProvider

# A provider is one module with a class and `build(model | None, dimensions | None)`, and one line here.
_MODULES = {
    "local": "apps.embeddings.providers.local",
    "openai": "apps.embeddings.providers.openai",
    "hash": "apps.embeddings.providers.hash",
}


class SpaceLike(Protocol):
    """What names a space: an EmbeddingSpace row, or a SpaceName."""

    @property
    def provider(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def dimensions(self) -> int | None: ...


@dataclass(frozen=True)
class SpaceName:
    """A space as it is written: ``provider/model``, or ``provider/model@dimensions`` where a model has several."""

    provider: str
    model: str
    dimensions: int | None = None

    @classmethod
    def parse(cls, written: str) -> "SpaceName":
        """Raises ProviderNotConfiguredError where ``written`` names no provider and model."""
        provider, _, rest = written.partition("/")
        model, at, dimensions = rest.rpartition("@")
        if not (at and dimensions.isdecimal()):
            model, dimensions = rest, ""
        if not provider or not model:
            raise ProviderNotConfiguredError(
                f"{written!r} is no space: write provider/model, e.g. hash/hash-128"
            )
        return cls(provider, model, int(dimensions) if dimensions else None)


def get_provider(space: SpaceLike | str) -> "EmbeddingProvider":
    """The provider of a space, or by its bare name the one that the settings describe; built once a process.

    Raises ProviderNotConfiguredError where the settings cannot make it.
    """
    if isinstance(space, str):
        return _cache.get((space, None, None))
    return _cache.get((space.provider, space.model, space.dimensions))


def default_provider() -> "EmbeddingProvider":
    """The provider that LODE_EMBEDDING_PROVIDER names: it makes the first space of an empty database."""
    return get_provider(settings.LODE_EMBEDDING_PROVIDER)


def forget_providers(name: str = "") -> None:
    """Close what was built of one provider, or of all, and build it anew: after a change of settings."""
    with _cache.lock:
        for key in [key for key in _cache.providers if name in ("", key[0])]:
            _cache.providers.pop(key).close()


_Key = tuple[str, str | None, int | None]


class _Cache:
    """What this process has built: one provider for a space, however it was asked for."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.lock = threading.Lock()
        self.providers: dict[_Key, EmbeddingProvider] = {}

    def get(self, key: _Key) -> "EmbeddingProvider":
        with self.lock:
            if key not in self.providers:
                built = _build(*key)
                full = (built.name, built.model, built.dimensions)
                self.providers[key] = self.providers.setdefault(full, built)
            return self.providers[key]


def _build(name: str, model: str | None, dimensions: int | None) -> "EmbeddingProvider":
    if name not in _MODULES:
        raise ProviderNotConfiguredError(f"no embedding provider {name!r}: there are {', '.join(_MODULES)}")
    build: Callable[[str | None, int | None], EmbeddingProvider] = import_module(_MODULES[name]).build
    return build(model, dimensions)


_cache = _Cache()
# A child process has neither the threads of its parent's model nor the right to its parent's sockets.
os.register_at_fork(after_in_child=_cache.reset)
