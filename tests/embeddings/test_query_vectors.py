"""The vector of a question: asked for once, and not at all from a provider that is down."""

from dataclasses import replace

import numpy as np
import pytest
from django.core.cache import cache
from pytest_django import Settings

from apps.dials.queries import get_dials
from apps.embeddings import query_vectors, registry
from apps.embeddings.errors import ProviderUnavailableError, TextNotEmbeddableError
from apps.embeddings.models import EmbeddingSpace
from apps.embeddings.query_vectors import QueryVector, embed_query, forget_query_vectors
from apps.rules.dials import DialValues
from tests.embeddings.openai_server import OpenAIServer, Turn
from tests.factories import make_space

pytestmark = pytest.mark.django_db


@pytest.fixture
def space(openai_settings: Settings) -> EmbeddingSpace:
    cache.clear()
    return make_space(provider="openai", model="text-embedding-3-small", dimensions=12)


@pytest.fixture
def dials(space: EmbeddingSpace) -> DialValues:
    return get_dials(space.name)


def ask(
    space: EmbeddingSpace, dials: DialValues, text: str = "why does reusing a nonce break it?"
) -> QueryVector:
    return embed_query(text, space=space, dials=dials)


def test_it_is_the_providers(space: EmbeddingSpace, dials: DialValues) -> None:
    vector = ask(space, dials, "nonce")
    assert len(vector) == 12
    assert np.allclose(vector, registry.get_provider(space).embed(["nonce"])[0])


def test_a_question_is_embedded_once(
    space: EmbeddingSpace, dials: DialValues, openai_server: OpenAIServer
) -> None:
    first = ask(space, dials)
    assert ask(space, dials) == first
    forget_query_vectors()
    assert ask(space, dials) == first  # another process finds it in the shared cache
    assert ask(space, dials) == first
    assert len(openai_server.requests) == 1


def test_a_dial_of_zero_keeps_nothing(
    space: EmbeddingSpace, dials: DialValues, openai_server: OpenAIServer
) -> None:
    never = replace(dials, embedding_cache_seconds=0)
    ask(space, never)
    ask(space, never)
    assert len(openai_server.requests) == 2


def test_another_space_has_another_vector(
    space: EmbeddingSpace, dials: DialValues, openai_server: OpenAIServer
) -> None:
    ask(space, dials)
    other = make_space(state="building")
    assert len(ask(other, dials)) == 128
    assert len(openai_server.requests) == 1


def test_a_long_question_is_cut_to_one_chunk(
    space: EmbeddingSpace, dials: DialValues, openai_server: OpenAIServer
) -> None:
    ask(space, dials, "x" * 5000)
    assert openai_server.requests[0]["input"] == ["x" * dials.embedding_max_input_chars]


def test_a_long_question_is_cut_to_the_models_tokens(dials: DialValues) -> None:
    space = make_space(provider="local", model="all-MiniLM-L6-v2", dimensions=384, state="building")
    provider = registry.get_provider(space)
    question = "secure " * 280
    assert not provider.fits(question)
    longest = provider.embed(["secure " * 254])[0]
    assert float(longest @ np.array(ask(space, dials, question))) > 0.999


def test_an_empty_question_is_refused(space: EmbeddingSpace, dials: DialValues) -> None:
    with pytest.raises(TextNotEmbeddableError, match="is empty"):
        ask(space, dials, "")


def test_a_provider_that_does_not_answer_is_left_alone_for_a_moment(
    space: EmbeddingSpace, dials: DialValues, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    openai_server.ever = Turn(status=500)
    for _ in range(3):
        with pytest.raises(ProviderUnavailableError):
            ask(space, dials)
    assert len(openai_server.requests) == 1
    openai_server.ever = Turn()
    monkeypatch.setattr(query_vectors, "_PAUSE_SECONDS", 0.0)
    forget_query_vectors()
    assert len(ask(space, dials)) == 12


def test_without_the_shared_cache_it_is_slower_and_works(
    space: EmbeddingSpace, dials: DialValues, openai_server: OpenAIServer, settings: Settings
) -> None:
    down = {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}
    settings.CACHES = {"default": down}
    first = ask(space, dials)
    assert ask(space, dials) == first
    assert len(openai_server.requests) == 1


def test_memory_is_bounded(space: EmbeddingSpace, dials: DialValues, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_vectors, "_REMEMBERED", 2)
    for text in ("one", "two", "three"):
        ask(space, dials, text)
    assert len(query_vectors._memory._vectors) == 2
