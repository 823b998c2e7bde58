"""The suite's own servers."""

import pytest
from django.core.cache import cache
from django.db import connection

from apps.core.embedded import Stack


@pytest.mark.django_db
def test_tests_have_a_database_with_vectors_and_a_role_that_is_no_superuser() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT '[1,0]'::vector <=> '[0,1]'::vector, current_setting('is_superuser')")
        assert cursor.fetchone() == (1.0, "off")


def test_tests_have_a_cache_of_their_own(servers: Stack) -> None:
    cache.set("kept", 1, timeout=5)
    assert cache.get("kept") == 1
