"""API keys in the admin."""

import datetime as dt
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.audit.models import AuditEvent
from apps.clients.models import ApiKey
from apps.clients.secrets import key_hash
from tests.factories import NOW
from tests.pages import errors
from tests.world import make_user, make_world

pytestmark = pytest.mark.django_db
LIST, NEW = reverse("admin:clients_apikey_changelist"), reverse("admin:clients_apikey_add")
TYPED: dict[str, Any] = {"name": "Tutor A", "scopes": ["retrieve", "write"], "rate_per_minute": "60"}


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(make_user("olga", "operator"))
    return client


def page(key: ApiKey, verb: str = "change") -> str:
    return reverse(f"admin:clients_apikey_{verb}", args=[key.pk])


def test_a_key_is_shown_once_and_never_again(operator: Client) -> None:
    response = operator.post(NEW, {**TYPED, "topics": "web\ncryptography", "learner_prefix": "school-"})
    text = response.context["text"]
    key = ApiKey.objects.get()
    assert key.key_hash == key_hash(text)
    assert (key.scopes, key.topics, key.learner_prefix) == (
        ["retrieve", "write"],
        ["cryptography", "web"],
        "school-",
    )
    assert "no-store" in response.headers["Cache-Control"]
    assert text in response.content.decode()
    assert AuditEvent.objects.get(verb="key.create").actor == "user:olga"
    for address in (page(key), LIST, reverse("admin:index")):
        body = operator.get(address).content.decode()
        assert text not in body
        assert key.key_hash not in body


@pytest.mark.parametrize(
    ("typed", "field", "says"),
    [
        ({"scopes": []}, "scopes", "required"),
        ({"scopes": ["root"]}, "scopes", "not one of the available choices"),
        ({"name": " "}, "name", "required"),
        ({"learner_prefix": "!"}, "learner_prefix", "No learner id begins so"),
        ({"rate_per_minute": "0"}, "rate_per_minute", "at least once a minute"),
        ({"expires_at_0": "2020-01-01", "expires_at_1": "00:00"}, "expires_at", "in the future"),
    ],
)
def test_what_is_refused_stands_at_its_field(
    operator: Client, typed: dict[str, Any], field: str, says: str
) -> None:
    assert says in errors(operator.post(NEW, {**TYPED, **typed}))[field][0]
    assert not ApiKey.objects.exists()


def test_revoking_asks_first_and_is_for_good(operator: Client) -> None:
    key = make_world().key
    assert operator.get(page(key, "revoke")).status_code == 200
    assert page(key, "revoke") in operator.get(page(key)).content.decode()
    operator.post(page(key, "revoke"))
    key.refresh_from_db()
    assert key.revoked_at is not None
    assert AuditEvent.objects.get(verb="key.revoke").actor == "user:olga"
    assert page(key, "revoke") not in operator.get(page(key)).content.decode()


def test_a_key_is_not_changed(operator: Client) -> None:
    key = make_world().key
    assert operator.post(page(key), {**TYPED, "name": "Mine"}).status_code == 403
    assert operator.post(page(key, "delete"), {"post": "yes"}).status_code == 403


def test_states_are_told_apart(operator: Client) -> None:
    active, expired, revoked = make_world().key, make_key("expired"), make_key("revoked")
    ApiKey.objects.filter(pk=expired.pk).update(expires_at=NOW)
    ApiKey.objects.filter(pk=revoked.pk).update(revoked_at=NOW)
    for state, key in {"active": active, "expired": expired, "revoked": revoked}.items():
        assert list(operator.get(LIST, {"state": state}).context["cl"].result_list) == [key]


def make_key(name: str) -> ApiKey:
    return ApiKey.objects.create(
        name=name,
        prefix="lode_",
        key_hash=key_hash(name),
        scopes=["retrieve"],
        created_at=NOW - dt.timedelta(1),
    )


@pytest.mark.parametrize("group", ["viewer", "curriculum author"])
def test_others_see_and_make_no_keys(client: Client, group: str) -> None:
    key = make_world().key
    client.force_login(make_user("vera", group))
    for address in (LIST, page(key), NEW):
        assert client.get(address).status_code == 403
    for address in (NEW, page(key, "revoke")):
        assert client.post(address, TYPED).status_code == 403
