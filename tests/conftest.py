"""What every test may rely on."""

from collections.abc import Iterator

import pytest
from django.conf import settings

from apps.core.embedded import Stack, running
from apps.core.embedded.commands import is_embedded_broker, is_embedded_database
from apps.dials import queries as dials
from apps.embeddings import queries as spaces
from apps.embeddings import query_vectors


@pytest.fixture(scope="session")
def servers() -> Iterator[Stack]:
    """PostgreSQL and Valkey for this session; a test that uses the broker without a database asks for it."""
    database, broker = is_embedded_database(), is_embedded_broker()
    with running(settings.LODE_VAR, database=database, broker=broker, fast=True) as stack:
        yield stack


@pytest.fixture(scope="session")
def django_db_modify_db_settings(servers: Stack, django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Start the servers before pytest-django makes its database (it asks for this fixture first)."""


@pytest.fixture(autouse=True)
def _dials_are_read_anew() -> Iterator[None]:
    """A rolled-back change of a dial must not live on in the process's memory."""
    dials._Memory.snapshot = None
    yield
    dials._Memory.snapshot = None


@pytest.fixture(autouse=True)
def _spaces_are_read_anew() -> Iterator[None]:
    """Nor may a space that was rolled back, or the vectors of another test's questions."""
    yield
    spaces.forget_serving_space()
    query_vectors.forget_query_vectors()
