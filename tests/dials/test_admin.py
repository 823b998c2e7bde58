"""Dials in the admin: the whole registry, turned or not."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.dials.actions import change_dials
from apps.rules.dials import DIALS, Change
from tests.factories import ACTOR, NOW
from tests.world import make_user

pytestmark = pytest.mark.django_db
LIST = reverse("admin:dials_dial_changelist")


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(make_user("olga", "operator"))
    return client


def test_every_dial_is_shown_with_its_bounds_and_help(operator: Client) -> None:
    body = operator.get(LIST).content.decode()
    for key, dial in DIALS.items():
        assert key in body
        assert dial.bounds in body
        assert dial.help.replace("'", "&#x27;") in body


def test_a_turned_dial_says_who_turned_it_and_why(operator: Client) -> None:
    change_dials(
        changes=[Change("retrieval_top_k", 9), Change("band_strong", 0.61, "local/all-MiniLM-L6-v2")],
        reason="more to choose from",
        actor=ACTOR,
        now=NOW,
    )
    body = operator.get(LIST, {"q": "RETRIEVAL_TOP"}).content.decode()
    assert "9 advisories" in body
    assert "2026-03-01 12:00 by system:test: more to choose from" in body
    assert "band_strong" not in body
    assert "local/all-MiniLM-L6-v2: 0.61" in operator.get(LIST, {"q": "band"}).content.decode()


def test_nothing_found_says_so(operator: Client) -> None:
    assert (
        "<script>" not in (body := operator.get(LIST, {"q": "<script>"}).content.decode()).split("No dial")[1]
    )
    assert "Show all" in body


def test_dials_are_not_written_here(operator: Client) -> None:
    assert operator.post(reverse("admin:dials_dial_add"), {"key": "x"}).status_code == 403
