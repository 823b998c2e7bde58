"""From a name to a provider, and never inside a transaction."""

import subprocess
import sys

import pytest
from django.db import transaction
from pytest_django import Settings

from apps.embeddings import registry
from apps.embeddings.errors import EmbeddingInTransactionError, ProviderNotConfiguredError
from apps.embeddings.registry import SpaceName


@pytest.mark.parametrize(
    ("written", "space"),
    [
        ("hash/hash-128", SpaceName("hash", "hash-128")),
        ("openai/text-embedding-3-small@512", SpaceName("openai", "text-embedding-3-small", 512)),
        ("openai/BAAI/bge-m3", SpaceName("openai", "BAAI/bge-m3")),
        ("openai/name@latest", SpaceName("openai", "name@latest")),
    ],
)
def test_a_space_is_read_as_it_is_written(written: str, space: SpaceName) -> None:
    assert SpaceName.parse(written) == space


@pytest.mark.parametrize("written", ["", "local", "local/", "/hash-128"])
def test_what_is_no_space_is_refused(written: str) -> None:
    with pytest.raises(ProviderNotConfiguredError, match="write provider/model"):
        SpaceName.parse(written)


def test_an_unknown_provider_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        ProviderNotConfiguredError, match=r"no embedding provider 'magic': .*local, openai, hash"
    ):
        registry.get_provider("magic")


def test_hash_has_one_model() -> None:
    with pytest.raises(ProviderNotConfiguredError, match="there is one model, hash/hash-128"):
        registry.get_provider(SpaceName("hash", "hash-256"))


def test_the_default_is_a_setting(settings: Settings) -> None:
    assert registry.default_provider().space == "local/all-MiniLM-L6-v2"
    settings.LODE_EMBEDDING_PROVIDER = "hash"
    assert registry.default_provider().space == "hash/hash-128"


def test_a_provider_is_built_once_however_it_is_asked_for() -> None:
    by_name = registry.get_provider("local")
    assert registry.get_provider(SpaceName("local", "all-MiniLM-L6-v2", 384)) is by_name
    assert registry.get_provider(SpaceName("local", "all-MiniLM-L6-v2")) is by_name


def test_a_forked_process_builds_its_own() -> None:
    # In a process of its own: to fork one that has threads, as this one by now may have, is what is to be avoided.
    program = """
import os, django
django.setup()
from apps.embeddings import registry
before = registry.get_provider("hash")
child = os.fork()
if child == 0:
    os._exit(0 if registry.get_provider("hash") is not before else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert registry.get_provider("hash") is before
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.django_db
def test_a_vector_is_never_asked_for_inside_a_transaction() -> None:
    provider = registry.get_provider("hash")
    assert provider.embed(["outside"]).shape == (1, 128)
    with transaction.atomic(), pytest.raises(EmbeddingInTransactionError, match="embed before it"):
        provider.embed(["inside"])
    with transaction.atomic(), transaction.atomic(), pytest.raises(EmbeddingInTransactionError):
        provider.embed(["deeper"])
    assert provider.embed(["outside again"]).shape == (1, 128)
