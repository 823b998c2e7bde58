"""Providers as the tests of this folder use them."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from apps.embeddings import registry
from tests.embeddings.openai_server import OpenAIServer


@pytest.fixture
def openai_server() -> Iterator[OpenAIServer]:
    with OpenAIServer(dimensions=12).running() as server:
        yield server


@pytest.fixture
def openai_settings(settings: Settings, openai_server: OpenAIServer) -> Iterator[Settings]:
    """Settings under which `openai` is the server on the loopback, with time-outs that a test can wait for."""
    settings.OPENAI_API_KEY = "key-of-a-test"
    settings.OPENAI_BASE_URL = openai_server.url
    settings.LODE_OPENAI_MODEL = "text-embedding-3-small"
    settings.LODE_OPENAI_DIMENSIONS = openai_server.dimensions
    settings.LODE_OPENAI_TIMEOUT_SECONDS = 5.0
    settings.LODE_OPENAI_URGENT_TIMEOUT_SECONDS = 0.3
    registry.forget_providers("openai")
    yield settings
    registry.forget_providers("openai")
