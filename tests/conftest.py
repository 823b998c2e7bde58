"""What every test may rely on."""

from collections.abc import Iterator

import pytest
from django.conf import settings
from django.core.cache import cache

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
        cache.clear()  # what an earlier session left speaks of another database
        yield stack


@pytest.fixture(scope="session")
def django_db_modify_db_settings(servers: Stack, django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Start the servers before pytest-django makes its database (it asks for this fixture first)."""


@pytest.fixture(autouse=True)
def _dials_are_read_anew(request: pytest.FixtureRequest) -> Iterator[None]:
    """A change of a dial must not outlive its test's database: not in memory, not in the shared cache."""
    dials._Memory.snapshot = None
    yield
    dials._Memory.snapshot = None
    if request.node.get_closest_marker("django_db") or "db" in request.fixturenames:
        cache.delete(dials.VERSION_KEY)


@pytest.fixture(autouse=True)
def _spaces_are_read_anew() -> Iterator[None]:
    """Nor may a space that was rolled back, or the vectors of another test's questions."""
    yield
    spaces.forget_serving_space()
    query_vectors.forget_query_vectors()
