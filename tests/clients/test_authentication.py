"""Keys: what one looks like, what is kept of it, and when it stops working."""

import datetime as dt
import hashlib
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from apps.clients import queries
from apps.clients.actions import KeyDraft, create_key, revoke_key
from apps.clients.models import ApiKey
from apps.core.errors import Invalid
from tests.api import Caller, make_key, problem
from tests.factories import ACTOR, NOW

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.core.api.urls")]

ECHO = "/api/v1/echo"


def test_only_the_hash_of_a_key_is_kept() -> None:
    key, text = make_key()
    assert text.startswith("lode_")
    assert len(text) == 5 + 43
    assert key.key_hash == hashlib.sha256(text.encode()).hexdigest()
    assert key.prefix == text[:12]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT to_jsonb(k)::text FROM clients_apikey k UNION ALL SELECT after::text FROM audit_auditimage"
        )
        assert not any(text in row for (row,) in cursor.fetchall())


def test_a_key_opens_what_its_scopes_say() -> None:
    assert Caller(scopes=["retrieve"]).get(ECHO).status_code == 200


def test_without_a_key_a_call_is_unauthorised() -> None:
    answer = Caller(key="").get(ECHO)
    problem(answer, 401, "not_authenticated")
    assert answer["WWW-Authenticate"] == 'Bearer realm="lode"'


@pytest.mark.parametrize("header", ["Basic abc", "Bearer", "lode_abc", ""])
def test_another_kind_of_credential_is_no_key(header: str) -> None:
    assert Caller(key="").get(ECHO, authorization=header).status_code == 401


def _expired() -> str:
    key, text = make_key(expires_at=NOW + dt.timedelta(days=1))
    assert key.expires_at is not None
    assert key.expires_at < timezone.now()
    return text


def _revoked() -> str:
    key, text = make_key()
    revoke_key(key=key, actor=ACTOR, now=NOW)
    return text


def test_unknown_expired_and_revoked_keys_are_refused_alike() -> None:
    keys = ["lode_" + "x" * 43, "x", "é" * 10, _expired(), _revoked()]
    answers = [problem(Caller(key=key).get(ECHO, x_request_id="same"), 401, "invalid_key") for key in keys]
    assert all(answer == answers[0] for answer in answers)


def test_a_key_that_expires_later_works() -> None:
    assert Caller(expires_at=timezone.now() + dt.timedelta(hours=1)).get(ECHO).status_code == 200


def test_revoking_twice_keeps_the_first_time() -> None:
    key, _ = make_key()
    revoke_key(key=key, actor=ACTOR, now=NOW)
    assert revoke_key(key=key, actor=ACTOR, now=NOW + dt.timedelta(days=1)).revoked_at == NOW


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"name": " "}, "/name"),
        ({"scopes": []}, "/scopes"),
        ({"scopes": ["everything"]}, "/scopes"),
        ({"sources": ["rumour"]}, "/sources"),
        ({"learner_prefix": "%"}, "/learner_prefix"),
        ({"rate_per_minute": 0}, "/rate_per_minute"),
        ({"expires_at": NOW}, "/expires_at"),
    ],
)
def test_a_key_that_makes_no_sense_is_refused(given: dict[str, Any], pointer: str) -> None:
    with pytest.raises(Invalid) as refused:
        create_key(draft=KeyDraft(**{"name": "n", "scopes": ["write"], **given}), actor=ACTOR, now=NOW)
    assert pointer in [found.pointer for found in refused.value.errors]
    assert not ApiKey.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_authentication_survives_a_connection_that_died() -> None:
    _, text = make_key()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone() or (0,)
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
    other.close()
    assert queries.access_by_key(text) is not None
