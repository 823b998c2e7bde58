"""A key's allowance: exact, shared by all processes, and no reason to fall over."""

import datetime as dt
import time
from typing import Any

import pytest

from apps.clients import throttles
from apps.clients.actions import note_last_uses
from apps.clients.models import ApiKey
from apps.clients.tasks import note_last_uses as note_last_uses_task
from apps.core.redis import PATIENCE_SECONDS, connect, shared
from tests.api import Caller, make_key, problem
from tests.factories import NOW
from tests.threads import in_threads

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.core.api.urls")]

ECHO = "/api/v1/echo"


@pytest.fixture(autouse=True)
def _empty_buckets() -> None:
    for key in shared().scan_iter("lode:{keys}:*"):
        shared().delete(key)


def test_an_answer_says_what_is_left() -> None:
    call = Caller(rate_per_minute=3)
    answers = [call.get(ECHO) for _ in range(3)]
    assert [answer["RateLimit-Limit"] for answer in answers] == ["3"] * 3
    assert [answer["RateLimit-Remaining"] for answer in answers] == ["2", "1", "0"]
    assert [int(answer["RateLimit-Reset"]) for answer in answers] == [20, 40, 60]


def test_a_call_too_many_says_when_to_come_back() -> None:
    call = Caller(rate_per_minute=2)
    assert [call.get(ECHO).status_code for _ in range(2)] == [200, 200]
    answer = call.get(ECHO)
    problem(answer, 429, "throttled")
    assert 29 <= int(answer["Retry-After"]) <= 30
    assert answer["RateLimit-Remaining"] == "0"


def test_a_refusal_costs_as_much_as_an_answer() -> None:
    call = Caller(rate_per_minute=1, scopes=["author"])
    problem(call.get(ECHO), 403, "scope_required")
    problem(call.get(ECHO), 429, "throttled")


def test_a_key_spends_nothing_of_another() -> None:
    first, second = Caller(rate_per_minute=1), Caller(rate_per_minute=1)
    assert [first.get(ECHO).status_code, second.get(ECHO).status_code] == [200, 200]


def test_an_allowance_comes_back_evenly() -> None:
    access = _access(rate=600)
    spent = [throttles.spend(access) for _ in range(601)]
    assert [allowed for allowed, *_ in spent].count(1) in {600, 601}  # 0.1 s brings one back
    shared().incrbyfloat(f"lode:{{keys}}:bucket:{access.key_id}", -0.5)  # half a second passes
    assert [throttles.spend(access)[0] for _ in range(4)] == [1, 1, 1, 1]


def test_parallel_calls_never_overshoot() -> None:
    access = _access(rate=10)
    results = in_threads(8, lambda: [throttles.spend(access)[0] for _ in range(5)])
    assert sum(sum(result) for result in results if isinstance(result, list)) == 10


def _access(rate: int) -> Any:
    from apps.clients import queries  # noqa: PLC0415

    access = queries.access_by_key(make_key(rate_per_minute=rate)[1])
    assert access is not None
    return access


def test_calls_go_on_without_redis_and_the_log_says_so(monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    nowhere = connect("unix:///nonexistent/redis.sock")
    monkeypatch.setattr(throttles, "_script", lambda: nowhere.register_script("return 1"))
    monkeypatch.setattr(throttles._Complaint, "at", float("-inf"))
    call = Caller(rate_per_minute=1)
    began = time.monotonic()
    answers = [call.get(ECHO) for _ in range(3)]
    assert time.monotonic() - began < 3 * PATIENCE_SECONDS + 1
    assert [answer.status_code for answer in answers] == [200] * 3
    assert "RateLimit-Limit" not in answers[0]
    assert caplog.text.count("not throttled") == 1


def test_the_last_use_of_a_key_is_noted_late() -> None:
    key, text = make_key()
    Caller(key=text).get(ECHO)
    assert ApiKey.objects.get(pk=key.pk).last_used_at is None
    assert note_last_uses_task() == 1
    noted = ApiKey.objects.get(pk=key.pk).last_used_at
    assert noted is not None
    assert abs(noted - dt.datetime.now(dt.UTC)) < dt.timedelta(minutes=1)
    assert note_last_uses_task() == 0


def test_an_older_use_changes_nothing() -> None:
    key, _ = make_key()
    assert note_last_uses(uses={key.pk: NOW, key.pk + 10_000: NOW}) == 1
    assert note_last_uses(uses={key.pk: NOW - dt.timedelta(seconds=1)}) == 0
    assert ApiKey.objects.get(pk=key.pk).last_used_at == NOW
