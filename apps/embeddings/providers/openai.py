"""The OpenAI embeddings API, at OpenAI's address or any other that speaks it.

What comes back over a network is believed only where it can be checked: as many vectors as texts, each
index once, put in the order of the texts, made by the model that was asked for. Whatever else a vector
must be is checked by the base class.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import httpx2
import openai
from django.conf import settings
from numpy.typing import ArrayLike

from apps.embeddings.errors import (
    InvalidAnswerError,
    ProviderNotConfiguredError,
    ProviderRefusedError,
    ProviderUnavailableError,
)
from apps.embeddings.providers.base import EmbeddingProvider

# OpenAI's own limits: texts and tokens of one request.
_REQUEST_TEXTS = 2048
_REQUEST_TOKENS = 300_000
# Two more tries, spaced by the client: as the server's Retry-After says (two minutes at most), else 0.5 s and up.
_PATIENT_RETRIES = 2
_MAX_ANSWER_BYTES = 128 * 1024 * 1024
_NATIVE_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where and how to ask. Times in seconds; ``answers_as`` is another name that the server may give the model."""

    api_key: str
    base_url: str = ""
    timeout: float = 20.0
    urgent_timeout: float = 5.0
    max_input_tokens: int = 8191
    answers_as: str = ""


class OpenAIProvider(EmbeddingProvider):
    """One embedding model behind the OpenAI protocol."""

    name = "openai"
    batch_size = _REQUEST_TEXTS

    def __init__(self, model: str, dimensions: int, endpoint: Endpoint) -> None:
        self._model = model
        self._dimensions = dimensions
        self._endpoint = endpoint
        self.max_input_tokens = endpoint.max_input_tokens
        self._patient = _client(endpoint)
        urgent = _timeout(endpoint.urgent_timeout)
        self._urgent = self._patient.with_options(timeout=urgent, max_retries=0)

    @property
    def model(self) -> str:
        return self._model

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def fits(self, text: str) -> bool:
        """By bytes: a byte-level tokenizer makes at most one token of each, and its vocabulary is not at hand offline."""
        return _most_tokens(text) <= self._endpoint.max_input_tokens

    def close(self) -> None:
        self._patient.close()

    def _raw_vectors(self, texts: Sequence[str], *, urgent: bool) -> Sequence[ArrayLike]:
        client = self._urgent if urgent else self._patient
        vectors: list[ArrayLike] = []
        for batch in _requests(texts):
            vectors += self._in_order(self._ask(client, batch), len(batch))
        return vectors

    def _ask(self, client: openai.OpenAI, texts: list[str]) -> object:
        # Only OpenAI's third generation is known to shorten its vectors; other servers refuse the field.
        shortens = self._model.startswith("text-embedding-3")
        try:
            return client.embeddings.create(
                model=self._model,
                input=texts,
                dimensions=self._dimensions if shortens else openai.omit,
                encoding_format="float",  # the one form that every such server speaks
            )
        except openai.APIStatusError as error:
            raise self._status_problem(error) from error
        except openai.APITimeoutError as error:
            raise ProviderUnavailableError(
                f"{self.space}: {client.base_url} did not answer in time"
            ) from error
        except openai.APIConnectionError as error:
            message = f"{self.space}: no connection with {client.base_url}: {error.__cause__ or error}"
            raise ProviderUnavailableError(message) from error
        except (openai.OpenAIError, ValueError) as error:
            raise InvalidAnswerError(f"{self.space}: the answer cannot be read: {error}") from error

    def _status_problem(
        self, error: openai.APIStatusError
    ) -> ProviderUnavailableError | ProviderRefusedError:
        message = f"{self.space}: status {error.status_code}: {error.message[:200]}"
        transient = error.status_code in {408, 409, 429} or error.status_code >= 500
        return ProviderUnavailableError(message) if transient else ProviderRefusedError(message)

    def _in_order(self, answer: object, wanted: int) -> list[ArrayLike]:
        """The vectors by their index. The client checks no types of what it received, so this trusts none."""
        found = getattr(answer, "data", None)
        if not isinstance(found, list):
            raise InvalidAnswerError(f"{self.space}: answered with something that is no list of vectors")
        self._check_model(getattr(answer, "model", None))
        if len(found) != wanted:
            raise InvalidAnswerError(f"{self.space}: answered {len(found)} vectors for {wanted} texts")
        if sorted(str(getattr(item, "index", None)) for item in found) != sorted(map(str, range(wanted))):
            raise InvalidAnswerError(
                f"{self.space}: the indexes of the answer are not 0 to {wanted - 1}, each once"
            )
        return [item.embedding for item in sorted(found, key=lambda item: int(item.index))]

    def _check_model(self, answered: object) -> None:
        """A gateway that falls back to another model would mix two spaces without a word.

        A version after the name (``-v2``, ``-2024-01-25``) and a path before it are the same model.
        """
        if not isinstance(answered, str) or answered == self._endpoint.answers_as:
            return
        asked = self._model.rpartition("/")[2]
        version = answered.rpartition("/")[2].removeprefix(asked)
        if version and not version.startswith(("-v", "-2")):
            hint = "where that is the same model, set LODE_OPENAI_ANSWERS_AS to this name"
            raise InvalidAnswerError(f"{self.space}: another model answered, {answered!r}; {hint}")


def _requests(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in order, in requests within the limits."""
    request: list[str] = []
    tokens = 0
    for text in texts:
        if len(request) == _REQUEST_TEXTS or (request and tokens + _most_tokens(text) > _REQUEST_TOKENS):
            yield request
            request, tokens = [], 0
        request.append(text)
        tokens += _most_tokens(text)
    yield request


def _most_tokens(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))


class _BoundedBody(httpx2.SyncByteStream):
    """A body that must end within its time and size: a read time-out alone lets one byte a second through."""

    def __init__(self, body: httpx2.SyncByteStream, seconds: float) -> None:
        self._body = body
        self._seconds = seconds

    def __iter__(self) -> Iterator[bytes]:
        end = time.monotonic() + self._seconds
        size = 0
        for part in self._body:
            size += len(part)
            if time.monotonic() > end or size > _MAX_ANSWER_BYTES:
                raise httpx2.ReadTimeout(
                    f"the answer did not end within {self._seconds} s and {_MAX_ANSWER_BYTES} bytes"
                )
            yield part

    def close(self) -> None:
        self._body.close()


def _bound(response: httpx2.Response) -> None:
    """Give the body of an answer no more time than its first byte had."""
    seconds = response.request.extensions["timeout"]["read"]
    if isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = _BoundedBody(response.stream, seconds)


def _timeout(seconds: float) -> httpx2.Timeout:
    return httpx2.Timeout(seconds, connect=min(seconds, 5.0))


def _client(endpoint: Endpoint) -> openai.OpenAI:
    return openai.OpenAI(
        # A server of one's own needs no key, but the client insists on one.
        api_key=endpoint.api_key or "none",
        base_url=endpoint.base_url or None,
        timeout=_timeout(endpoint.timeout),
        max_retries=_PATIENT_RETRIES,
        http_client=openai.DefaultHttpx2Client(event_hooks={"response": [_bound]}),
    )


def build(model: str | None, dimensions: int | None) -> EmbeddingProvider:
    """The provider of ``model`` (default LODE_OPENAI_MODEL) by the settings.

    Without ``dimensions``: LODE_OPENAI_DIMENSIONS for that same model, else the model's own where it is known.
    """
    if not settings.OPENAI_API_KEY and not settings.OPENAI_BASE_URL:
        raise ProviderNotConfiguredError(
            "openai: set OPENAI_API_KEY, or OPENAI_BASE_URL to a server that needs none"
        )
    chosen: str = model or settings.LODE_OPENAI_MODEL
    return OpenAIProvider(chosen, dimensions or _stated_dimensions(chosen), _endpoint())


def _stated_dimensions(model: str) -> int:
    if model == settings.LODE_OPENAI_MODEL:
        stated: int = settings.LODE_OPENAI_DIMENSIONS
        return stated
    if model in _NATIVE_DIMENSIONS:
        return _NATIVE_DIMENSIONS[model]
    raise ProviderNotConfiguredError(
        f"openai: how long are the vectors of {model!r}? Write openai/{model}@DIMENSIONS"
    )


def _endpoint() -> Endpoint:
    return Endpoint(
        api_key=settings.OPENAI_API_KEY,
        base_url=settings.OPENAI_BASE_URL,
        timeout=settings.LODE_OPENAI_TIMEOUT_SECONDS,
        urgent_timeout=settings.LODE_OPENAI_URGENT_TIMEOUT_SECONDS,
        max_input_tokens=settings.LODE_OPENAI_MAX_INPUT_TOKENS,
        answers_as=settings.LODE_OPENAI_ANSWERS_AS,
    )
