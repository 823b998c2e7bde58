"""The bare address leads somewhere."""

import pytest
from django.test import Client


@pytest.mark.django_db
def test_the_bare_address_leads_to_the_admin() -> None:
    answer = Client().get("/")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/admin/")
