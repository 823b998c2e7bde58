"""Dials over REST."""

import json
from typing import Any

import pytest

from apps.audit.models import AuditEvent
from apps.dials.models import Dial
from apps.dials.queries import get_dials
from apps.rules.dials import DIALS
from tests.api import Caller, problem

pytestmark = pytest.mark.django_db

DIALS_URL = "/api/v1/dials"
SPACE = "local/all-MiniLM-L6-v2"


def read(answer: Any, status: int = 200) -> Any:
    assert answer.status_code == status, answer.content
    return json.loads(answer.content)


def test_every_dial_is_told_with_its_bounds_and_values() -> None:
    body = read(Caller().get(DIALS_URL))
    assert body["version"] == 0
    assert [dial["key"] for dial in body["dials"]] == list(DIALS)
    by_key = {dial["key"]: dial for dial in body["dials"]}
    top_k = by_key["retrieval_top_k"]
    assert (top_k["type"], top_k["least"], top_k["most"]) == ("int", 1, 50)
    assert [(value["space"], value["value"]) for value in top_k["values"]] == [(None, 5)]
    assert [value["space"] for value in by_key["band_strong"]["values"]] == ["openai", "local", "hash"]


def test_a_dial_is_turned_and_says_by_whom() -> None:
    call = Caller()
    answer = call.patch(f"{DIALS_URL}/retrieval_top_k", {"value": 7, "reason": "more"})
    (value,) = read(answer)["values"]
    assert (value["value"], value["default_value"], value["reason"]) == (7, 5, "more")
    assert value["changed_by"].startswith("key:test#")
    assert get_dials(SPACE).retrieval_top_k == 7
    assert AuditEvent.objects.get(target_kind="dial").actor == value["changed_by"]
    assert read(call.get(f"{DIALS_URL}/retrieval_top_k"))["values"] == [value]


def test_a_dial_by_space_is_turned_for_one() -> None:
    body = read(Caller().patch(f"{DIALS_URL}/band_strong", {"value": 0.5, "reason": "r", "space": SPACE}))
    assert {value["space"]: value["value"] for value in body["values"]}[SPACE] == 0.5
    assert get_dials(SPACE).band_strong == 0.5
    assert get_dials("openai/text-embedding-3-small").band_strong == 0.6


def test_several_are_turned_together() -> None:
    changes = [
        {"key": "retrieval_floor_pattern", "value": 0.8},
        {"key": "retrieval_floor_candidate", "value": 0.9},
    ]
    problem(
        Caller().patch(DIALS_URL, {"changes": changes[:1], "reason": "r"}),
        422,
        "invalid_dial",
        "/changes/0/value",
    )
    answer = Caller().patch(DIALS_URL, {"changes": changes, "reason": "r"})
    version = read(answer)["version"]
    assert version == max(Dial.objects.values_list("version", flat=True))
    assert answer["ETag"] == f'"{version}"'


@pytest.mark.parametrize(
    ("key", "body", "code", "pointer"),
    [
        ("retrieval_min_confidence", {"value": 2, "reason": "r"}, "invalid_dial", "/value"),
        ("retrieval_min_confidence", {"value": True, "reason": "r"}, "invalid_dial", "/value"),
        ("retrieval_min_confidence", {"value": "0.5", "reason": "r"}, "invalid_dial", "/value"),
        ("retrieval_min_confidence", {"value": {"a": 1}, "reason": "r"}, "invalid_dial", "/value"),
        ("retrieval_min_confidence", {"value": None, "reason": "r"}, "null", "/value"),
        ("retrieval_floor_pattern", {"value": 0.8, "reason": "r"}, "invalid_dial", "/value"),
        ("retrieval_top_k", {"value": 6, "reason": " "}, "blank", "/reason"),
        ("retrieval_top_k", {"value": 6}, "required", "/reason"),
        ("retrieval_top_k", {"value": 6, "reason": "r", "space": SPACE}, "invalid_dial", "/value"),
        ("band_strong", {"value": 0.5, "reason": "r"}, "invalid_dial", "/value"),
        ("band_strong", {"value": 0.5, "reason": "r", "space": "local"}, "invalid_space", "/space"),
        ("band_strong", {"value": 0.5, "reason": "r", "space": "nobody/model"}, "invalid_dial", "/value"),
        ("retrieval_top_k", {"value": 6, "reason": "r", "nonsense": 1}, "unknown_field", "/nonsense"),
    ],
)
def test_a_wrong_value_is_refused(key: str, body: dict[str, Any], code: str, pointer: str) -> None:
    problem(Caller().patch(f"{DIALS_URL}/{key}", body), 422, code, pointer)
    assert not Dial.objects.exists()


def test_every_problem_of_several_is_told_and_none_is_taken() -> None:
    changes = [
        {"key": "retrieval_top_k", "value": 6},
        {"key": "nonsense", "value": 1},
        {"key": "tutor_top_k", "value": 99},
    ]
    body = problem(Caller().patch(DIALS_URL, {"changes": changes, "reason": "r"}), 422, "invalid_dial")
    assert [error["pointer"] for error in body["errors"]] == ["/changes/1/value", "/changes/2/value"]
    problem(Caller().patch(DIALS_URL, {"changes": [], "reason": "r"}), 422, "too_short", "/changes")
    assert not Dial.objects.exists()


def test_what_is_stale_is_refused() -> None:
    call, path = Caller(), f"{DIALS_URL}/retrieval_top_k"
    seen = call.get(path)["ETag"]
    read(call.patch(path, {"value": 6, "reason": "r"}, if_match=seen))
    problem(call.patch(path, {"value": 7, "reason": "r"}, if_match=seen), 412, "stale")
    other = {"changes": [{"key": "tutor_top_k", "value": 4}], "reason": "r"}
    problem(call.patch(DIALS_URL, other, if_match=seen), 412, "stale")


@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_an_unknown_dial_is_absent(method: str) -> None:
    problem(Caller()(method, f"{DIALS_URL}/nonsense", {"value": 1, "reason": "r"}), 404, "not_found")


def test_it_takes_the_scope_of_authors() -> None:
    problem(Caller(scopes=["retrieve", "write"]).get(DIALS_URL), 403, "scope_required")


def test_all_dials_take_one_query(django_assert_num_queries: Any) -> None:
    call = Caller()
    with django_assert_num_queries(1):  # beside the one that authenticates
        read(call.get(DIALS_URL))
