"""A write that is sent again: the same answer, and one effect (api.md, Writing twice)."""

import datetime as dt
import json
from typing import Any

import pytest
from django.db import connection, transaction

from apps.catalog.models import Topic
from apps.clients.models import IdempotencyRecord
from apps.clients.tasks import forget_answers
from apps.core.database import try_hold
from tests.api import Caller, problem
from tests.factories import NOW
from tests.threads import in_threads

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.clients.urls")]

WRITE = "/api/v1/write"


def write(call: Caller, body: dict[str, Any], key: str = "k1", path: str = WRITE) -> Any:
    return call.post(path, body, idempotency_key=key)


def test_without_a_key_a_write_is_done_each_time() -> None:
    call = Caller()
    answers = [call.post(WRITE, {"slug": "a"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 409]
    assert not IdempotencyRecord.objects.exists()


def test_the_same_write_again_gets_the_first_answer_again() -> None:
    call = Caller()
    first, second = write(call, {"slug": "ä"}), write(call, {"slug": "ä"})
    assert (second.status_code, second.content) == (201, first.content)
    assert second["ETag"] == first["ETag"]
    assert second["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first
    assert Topic.objects.count() == 1


def test_the_spacing_and_order_of_a_body_are_no_matter() -> None:
    call = Caller()
    first = call("POST", WRITE, raw=b'{"slug": "a", "title": "A"}', idempotency_key="k")
    second = call("POST", WRITE, raw=b'{ "title":"A","slug":"a"}', idempotency_key="k")
    assert second.content == first.content


@pytest.mark.parametrize(("body", "path"), [({"slug": "b"}, WRITE), ({"slug": "a"}, WRITE + "/other")])
def test_a_key_stands_for_one_request(body: dict[str, Any], path: str) -> None:
    call = Caller()
    write(call, {"slug": "a"})
    problem(write(call, body, path=path), 422, "idempotency_key_reused")
    assert Topic.objects.count() == 1


def test_keys_of_two_callers_are_two_keys() -> None:
    assert write(Caller(), {"slug": "a"}).status_code == 201
    assert write(Caller(), {"slug": "b"}).status_code == 201


@pytest.mark.parametrize("key", ["", " ", "a b", "k" * 201, "ключ", "a\tb"])
def test_an_odd_key_is_refused(key: str) -> None:
    problem(write(Caller(), {"slug": "a"}, key=key), 400, "invalid_idempotency_key")
    assert not Topic.objects.exists()


@pytest.mark.parametrize(
    ("body", "status"),
    [({"slug": "A A"}, 422), ({"slug": "fail"}, 500), ({"slug": "late"}, 409), ({"x": 1}, 422)],
)
def test_a_refused_or_failed_write_leaves_nothing_and_may_be_sent_again(body: Any, status: int) -> None:
    call = Caller()
    assert write(call, body).status_code == status
    assert not Topic.objects.exists()
    assert not IdempotencyRecord.objects.exists()
    assert write(call, {"slug": "a"}).status_code == 201


def test_answers_are_kept_for_a_day() -> None:
    call = Caller()
    write(call, {"slug": "a"})
    assert forget_answers() == 0
    IdempotencyRecord.objects.update(created_at=NOW - dt.timedelta(days=400))
    assert forget_answers() == 1


@pytest.mark.django_db(transaction=True)
def test_parallel_retries_have_one_effect() -> None:
    key = Caller().key
    results = in_threads(8, lambda: write(Caller(key=key), {"slug": "slow"}))
    statuses = sorted(answer.status_code for answer in results if not isinstance(answer, BaseException))
    assert len(statuses) == 8
    assert set(statuses) <= {201, 409}
    assert 201 in statuses
    for answer in results:
        if not isinstance(answer, BaseException) and answer.status_code == 409:
            problem(answer, 409, "idempotency_in_flight")
            assert answer["Retry-After"] == "1"
    assert Topic.objects.count() == 1
    assert json.loads(write(Caller(key=key), {"slug": "slow"}).content)["slug"] == "slow"


@pytest.mark.django_db(transaction=True)
def test_a_writer_that_was_killed_gives_its_key_back_at_once() -> None:
    """A connection that dies in the middle of a write takes the lock and the effect with it."""
    call = Caller()
    key_id = 0
    write(call, {"slug": "first"}, key="other")
    key_id = IdempotencyRecord.objects.get().api_key_id

    def die() -> None:
        with transaction.atomic():
            assert try_hold(f"idempotency:{key_id}:k1")
            Topic.objects.create(slug="lost", title="lost", created_at=NOW, updated_at=NOW)
            connection.connection.close()

    in_threads(1, die)
    assert write(call, {"slug": "a"}).status_code == 201
    assert set(Topic.objects.values_list("slug", flat=True)) == {"first", "a"}
