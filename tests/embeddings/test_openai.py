"""The OpenAI protocol over a real connection, with a server that fails in every way that servers do."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pytest_django import Settings

from apps.embeddings import registry
from apps.embeddings.errors import (
    InvalidAnswerError,
    ProviderNotConfiguredError,
    ProviderRefusedError,
    ProviderUnavailableError,
)
from apps.embeddings.providers.base import EmbeddingProvider
from tests.embeddings.openai_server import Answer, OpenAIServer, Turn

SOON = {"retry-after-ms": "10"}


@pytest.fixture
def openai(openai_settings: Settings) -> EmbeddingProvider:
    return registry.get_provider("openai")


def _each(change: Callable[[list[float]], Any]) -> Callable[[Answer], Answer]:
    """Change the second vector of an answer."""

    def changed(answer: Answer) -> Answer:
        answer["data"][1]["embedding"] = change(answer["data"][1]["embedding"])
        return answer

    return changed


def _indexes(*indexes: object) -> Callable[[Answer], Answer]:
    def changed(answer: Answer) -> Answer:
        for item, index in zip(answer["data"], indexes, strict=True):
            item["index"] = index
        return answer

    return changed


def test_the_request_is_the_protocols(openai: EmbeddingProvider, openai_server: OpenAIServer) -> None:
    openai.embed(["one", "two"])
    assert openai_server.requests == [
        {
            "model": "text-embedding-3-small",
            "input": ["one", "two"],
            "dimensions": 12,
            "encoding_format": "float",
        }
    ]
    assert openai_server.keys == ["Bearer key-of-a-test"]


def test_another_models_length_is_not_asked_for(
    openai_settings: Settings, openai_server: OpenAIServer
) -> None:
    openai_settings.LODE_OPENAI_MODEL = "BAAI/bge-small-en"
    provider = registry.get_provider("openai")
    assert provider.embed(["one"]).shape == (1, 12)
    assert provider.space == "openai/BAAI/bge-small-en"
    assert "dimensions" not in openai_server.requests[0]


def test_many_texts_go_in_requests_within_the_limits(
    openai: EmbeddingProvider, openai_server: OpenAIServer
) -> None:
    texts = [f"{number} " + "x" * 6000 for number in range(120)]
    vectors = openai.embed(texts)
    sizes = [sum(len(text) for text in request["input"]) for request in openai_server.requests]
    assert len(sizes) == 3
    assert max(sizes) <= 300_000
    assert [text for request in openai_server.requests for text in request["input"]] == texts
    assert np.array_equal(vectors[-1], openai.embed(texts[-1:])[0])


def test_texts_are_measured_in_bytes_because_no_tokenizer_makes_more_tokens(
    openai: EmbeddingProvider,
) -> None:
    assert openai.fits("x" * 8191)
    assert not openai.fits("x" * 8192)
    assert openai.fits("鍵" * 2730)
    assert not openai.fits("鍵" * 2731)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_failure_is_tried_again(
    openai: EmbeddingProvider, openai_server: OpenAIServer, status: int
) -> None:
    failure = Turn(status=status, headers=SOON)
    openai_server.answers(failure, failure)
    assert openai.embed(["one"]).shape == (1, 12)
    assert len(openai_server.requests) == 3


def test_retry_after_is_waited_for(
    openai: EmbeddingProvider, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("openai._base_client.time.sleep", waited.append)
    openai_server.answers(Turn(status=429, headers={"Retry-After": "7"}))
    openai.embed(["one"])
    assert waited == [7.0]


def test_a_cut_connection_is_tried_again(openai: EmbeddingProvider, openai_server: OpenAIServer) -> None:
    openai_server.answers(Turn(cut=True))
    assert openai.embed(["one"]).shape == (1, 12)
    assert len(openai_server.requests) == 2


def test_an_outage_ends_after_three_tries_and_says_so(
    openai: EmbeddingProvider, openai_server: OpenAIServer
) -> None:
    openai_server.ever = Turn(status=500, headers=SOON)
    with pytest.raises(
        ProviderUnavailableError, match=r"openai/text-embedding-3-small: status 500: .*told to fail"
    ):
        openai.embed(["one"])
    assert len(openai_server.requests) == 3


@pytest.mark.parametrize(
    "turn",
    [
        Turn(status=500, headers=SOON),
        Turn(status=429, headers={"Retry-After": "60"}),
        Turn(silent_for=1.0),
        Turn(drip=0.05),
        Turn(cut=True),
    ],
    ids=["500", "429", "silent", "a byte at a time", "cut"],
)
def test_who_waits_is_told_at_once(
    openai: EmbeddingProvider, openai_server: OpenAIServer, turn: Turn
) -> None:
    openai_server.ever = turn
    with pytest.raises(ProviderUnavailableError, match="openai/text-embedding-3-small: "):
        openai.embed(["one"], urgent=True)
    assert len(openai_server.requests) == 1


def test_a_server_that_is_not_there_is_unavailable(openai_settings: Settings) -> None:
    openai_settings.OPENAI_BASE_URL = "http://127.0.0.1:9/v1"
    with pytest.raises(ProviderUnavailableError, match=r"no connection with http://127\.0\.0\.1:9"):
        registry.get_provider("openai").embed(["one"], urgent=True)


@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_refusal_is_not_tried_again(
    openai: EmbeddingProvider, openai_server: OpenAIServer, status: int
) -> None:
    openai_server.ever = Turn(status=status)
    with pytest.raises(ProviderRefusedError, match=f"status {status}"):
        openai.embed(["one"])
    assert len(openai_server.requests) == 1


def test_answers_out_of_order_are_put_in_order(
    openai: EmbeddingProvider, openai_server: OpenAIServer
) -> None:
    texts = [str(number) * number for number in range(1, 13)]
    in_order = openai.embed(texts)
    openai_server.answers(Turn(change=lambda answer: {**answer, "data": answer["data"][::-1]}))
    assert np.array_equal(openai.embed(texts), in_order)


BAD_ANSWERS: dict[str, tuple[Turn, str]] = {
    "page": (Turn(raw=b"<html>Sign in</html>", content_type="text/html"), "no list of vectors"),
    "page as json": (Turn(raw=b"<html>Sign in</html>"), "cannot be read"),
    "null": (Turn(raw=b"null"), "no list of vectors"),
    "list": (Turn(raw=b"[1, 2]"), "no list of vectors"),
    "error with status 200": (Turn(raw=b'{"error": {"message": "no"}}'), "no list of vectors"),
    "fewer": (Turn(change=lambda answer: {**answer, "data": answer["data"][:1]}), "1 vectors for 2 texts"),
    "more": (Turn(change=lambda answer: {**answer, "data": answer["data"] * 2}), "4 vectors for 2 texts"),
    "no data": (Turn(change=lambda answer: {**answer, "data": []}), "0 vectors for 2 texts"),
    "index twice": (Turn(change=_indexes(0, 0)), "not 0 to 1, each once"),
    "index of none": (Turn(change=_indexes(0, 2)), "not 0 to 1, each once"),
    "no index": (Turn(change=_indexes(0, None)), "not 0 to 1, each once"),
    "index a list": (Turn(change=_indexes([], {})), "not 0 to 1, each once"),
    "shorter": (Turn(change=_each(lambda vector: vector[:-1])), r"text 2 has shape \(11,\)"),
    "longer": (Turn(change=_each(lambda vector: [*vector, 0.5])), r"text 2 has shape \(13,\)"),
    "nested": (Turn(change=_each(lambda vector: [vector])), r"text 2 has shape \(1, 12\)"),
    "null vector": (Turn(change=_each(lambda vector: None)), "text 2 has shape"),
    "words": (Turn(change=_each(lambda vector: ["much"] * len(vector))), "text 2 is no list of numbers"),
    "a null inside": (Turn(change=_each(lambda vector: [None, *vector[1:]])), "text 2 has a component"),
    "nan": (Turn(change=_each(lambda vector: [math.nan, *vector[1:]])), "text 2 has a component"),
    "infinite": (Turn(change=_each(lambda vector: [-math.inf, *vector[1:]])), "text 2 has a component"),
    "zero": (Turn(change=_each(lambda vector: [0.0] * len(vector))), "text 2 has norm 0"),
    "other model": (Turn(change=lambda answer: {**answer, "model": "cheap-1"}), "another model .*'cheap-1'"),
    "larger model": (
        Turn(change=lambda answer: {**answer, "model": "text-embedding-3-small-distilled"}),
        "another model",
    ),
}


@pytest.mark.parametrize(("turn", "problem"), BAD_ANSWERS.values(), ids=BAD_ANSWERS)
def test_a_wrong_answer_is_refused_whole(
    openai: EmbeddingProvider, openai_server: OpenAIServer, turn: Turn, problem: str
) -> None:
    openai_server.ever = turn
    with pytest.raises(InvalidAnswerError, match=f"openai/text-embedding-3-small: .*{problem}"):
        openai.embed(["one", "two"])


@pytest.mark.parametrize("factor", [1e300, 1e-300])
def test_a_vector_of_any_length_is_normalised(
    openai: EmbeddingProvider, openai_server: OpenAIServer, factor: float
) -> None:
    plain = openai.embed(["one", "two"])
    openai_server.answers(Turn(change=_each(lambda vector: [number * factor for number in vector])))
    assert np.allclose(openai.embed(["one", "two"]), plain, atol=1e-6)


@pytest.mark.parametrize(
    "answered",
    ["text-embedding-3-small", "text-embedding-3-small-v2", "models/text-embedding-3-small", "MY-NAME", None],
)
def test_the_same_model_under_a_versions_name_is_taken(
    openai_settings: Settings, openai_server: OpenAIServer, answered: str | None
) -> None:
    openai_settings.LODE_OPENAI_ANSWERS_AS = "MY-NAME"
    openai_server.ever = Turn(change=lambda answer: {**answer, "model": answered})
    assert registry.get_provider("openai").embed(["one"]).shape == (1, 12)


def test_a_server_of_ones_own_needs_no_key(openai_settings: Settings) -> None:
    openai_settings.OPENAI_API_KEY = ""
    assert registry.get_provider("openai").embed(["one"]).shape == (1, 12)


def test_openai_itself_needs_a_key(openai_settings: Settings) -> None:
    openai_settings.OPENAI_API_KEY = ""
    openai_settings.OPENAI_BASE_URL = ""
    with pytest.raises(ProviderNotConfiguredError, match="set OPENAI_API_KEY"):
        registry.get_provider("openai")


def test_lengths_come_from_the_space_or_the_settings_or_what_is_known(openai_settings: Settings) -> None:
    def length(model: str, dimensions: int | None = None) -> int:
        return registry.get_provider(registry.SpaceName("openai", model, dimensions)).dimensions

    assert length("text-embedding-3-small") == 12
    assert length("text-embedding-3-small", 512) == 512
    assert length("text-embedding-3-large") == 3072
    with pytest.raises(ProviderNotConfiguredError, match="Write openai/bge-m3@DIMENSIONS"):
        length("bge-m3")
