"""Every error is a problem, and every wrong input has one (api.md, Errors)."""

import json
import logging
from typing import Any

import pytest
from django.test import Client

from tests.api import Caller, make_key, problem

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.core.api.urls")]


def echo(raw: bytes, **headers: str) -> Any:
    return Caller()("POST", "/api/v1/echo", raw=raw, **headers)


MALFORMED = [
    (b"\xef\xbb\xbf{}", 400, "malformed_json", ""),
    (b'{"text": "\xff"}', 400, "malformed_json", ""),
    (b'{"text": ', 400, "malformed_json", ""),
    (b"{'text': 1}", 400, "malformed_json", ""),
    (b'{"text": 1} {}', 400, "malformed_json", ""),
    (b"", 400, "object_expected", ""),
    (b"[]", 400, "object_expected", ""),
    (b"null", 400, "object_expected", ""),
    (b'"text"', 400, "object_expected", ""),
    (b'{"text": "a", "text": "b"}', 400, "duplicate_key", "/text"),
    (b'{"anything": [{"a/b": 1, "a/b": 1}]}', 400, "duplicate_key", "/anything/0/a~1b"),
    (b'{"anything": ' + b"[" * 20 + b"]" * 20 + b"}", 400, "too_deep", "/anything" + "/0" * 19),
    (b'{"anything": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400, "too_deep", ""),
    (b'{"anything": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001, 400, "too_deep", ""),
    (b'{"number": NaN}', 422, "not_finite", "/number"),
    (b'{"anything": {"x": [-Infinity]}}', 422, "not_finite", "/anything/x/0"),
    (b'{"number": 1e999}', 422, "not_finite", "/number"),
    (b'{"text": "a\\u0000b"}', 422, "null_character", "/text"),
    (b'{"anything": {"x": {"\\u0000": 1}}}', 422, "null_character", "/anything/x/\\0"),
    (b'{"text": "\\ud800"}', 422, "surrogate", "/text"),
    (b'{"anything": ["\\udc00\\ud800"]}', 422, "surrogate", "/anything/0"),
    (b'{"anything": {"\\udfff": 1}}', 422, "surrogate", "/anything/\\udfff"),
    (b'{"whole": 9223372036854775808}', 422, "out_of_range", "/whole"),
    (b'{"anything": -9223372036854775809}', 422, "out_of_range", "/anything"),
    (b'{"whole": 1' + b"0" * 5000 + b"}", 422, "out_of_range", "/whole"),
]


@pytest.mark.parametrize(("raw", "status", "code", "pointer"), MALFORMED)
def test_a_body_that_is_no_sound_json_is_refused(raw: bytes, status: int, code: str, pointer: str) -> None:
    problem(echo(raw), status, code, pointer if status != 400 or pointer else None)


WRONG = [
    ({"nonsense": 1}, "unknown_field", "/nonsense"),
    ({"inner": {"word": "a", "x~y/z": 1}}, "unknown_field", "/inner/x~0y~1z"),
    ({"id": 1}, "field_not_writable", "/id"),
    ({"text": ""}, "blank", "/text"),
    ({"text": " \t\n\u200b\u2060"}, "blank", "/text"),
    ({"text": "a" * 21}, "too_long", "/text"),
    ({"text": 1}, "invalid", "/text"),
    ({"text": True}, "invalid", "/text"),
    ({"text": None}, "null", "/text"),
    ({"number": True}, "invalid", "/number"),
    ({"number": "1"}, "invalid", "/number"),
    ({"number": -11}, "out_of_range", "/number"),
    ({"exact": True}, "invalid", "/exact"),
    ({"exact": 1.2}, "out_of_range", "/exact"),
    ({"exact": -0.1}, "out_of_range", "/exact"),
    ({"exact": "0.5"}, "invalid", "/exact"),
    ({"whole": True}, "invalid", "/whole"),
    ({"whole": 1.0}, "invalid", "/whole"),
    ({"whole": "1"}, "invalid", "/whole"),
    ({"flag": 1}, "invalid", "/flag"),
    ({"flag": "true"}, "invalid", "/flag"),
    ({"ident": 1}, "invalid", "/ident"),
    ({"ident": "0" * 32}, "invalid", "/ident"),
    ({"slug": "Not A Slug"}, "invalid_slug", "/slug"),
    ({"slug": ".."}, "invalid_slug", "/slug"),
    ({"slug": "a/b"}, "invalid_slug", "/slug"),
    ({"slug": "😀"}, "invalid_slug", "/slug"),
    ({"slug": "_unanchored_"}, "reserved_slug", "/slug"),
    ({"slug": "a" * 10_000}, "too_long", "/slug"),
    ({"learner": "-x"}, "invalid_learner", "/learner"),
    ({"learner": "a" * 101}, "invalid_learner", "/learner"),
    ({"scope": "student:"}, "invalid_scope", "/scope"),
    ({"scope": "student:%"}, "invalid_scope", "/scope"),
    ({"scope": "Student:1"}, "invalid_scope", "/scope"),
    ({"scope": "student:1:2"}, "invalid_scope", "/scope"),
    ({"scope": "public\n"}, "invalid_scope", "/scope"),
    ({"word": "three"}, "invalid_choice", "/word"),
    ({"word": True}, "invalid_choice", "/word"),
    ({"word": ["one"]}, "invalid_choice", "/word"),
    ({"inner": {}}, "required", "/inner/word"),
    ({"inner": "text"}, "invalid", "/inner"),
    ({"inners": [{"word": "a"}, {"word": "toolong"}]}, "too_long", "/inners/1/word"),
    ({"inners": {"0": {"word": "a"}}}, "not_a_list", "/inners"),
]


@pytest.mark.parametrize(("body", "code", "pointer"), WRONG)
def test_a_wrong_value_is_refused_with_its_place(body: Any, code: str, pointer: str) -> None:
    problem(Caller().post("/api/v1/echo", body), 422, code, pointer)


def test_every_wrong_value_is_named_at_once() -> None:
    body = problem(Caller().post("/api/v1/echo", {"text": "", "flag": 1, "nonsense": 0}), 422, "invalid")
    assert {error["pointer"] for error in body["errors"]} == {"/text", "/flag", "/nonsense"}


def test_of_very_many_wrong_values_the_first_are_named_and_all_counted() -> None:
    refused = problem(
        Caller().post("/api/v1/echo", {f"x{number}": 1 for number in range(5000)}), 422, "unknown_field"
    )
    assert len(refused["errors"]) == 100
    assert "4999 more" in refused["detail"]


def test_a_sound_body_arrives_as_it_was_sent() -> None:
    body = {
        "text": "  ünïcode \r\n 😀 ",
        "number": 1,
        "exact": 0.5,
        "whole": 2**63 - 1,
        "flag": False,
        "slug": "ключ",
        "anything": {"deep": [[[None]]]},
    }
    assert json.loads(Caller().post("/api/v1/echo", body).content) == body


def test_a_body_is_bounded() -> None:
    fits = b'{"anything": "' + b"a" * (1024 * 1024 - 16) + b'"}'
    assert echo(fits).status_code == 200
    problem(echo(fits[:-2] + b'a"}'), 413, "body_too_large")


def test_a_body_in_chunks_is_refused() -> None:
    problem(echo(b"", transfer_encoding="chunked"), 411, "length_required")


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "x"]
)
def test_another_kind_of_body_is_refused(kind: str) -> None:
    problem(echo(b"{}", content_type=kind), 415, "unsupported_media_type")


QUERIES = [
    ("nonsense=1", 400, "unknown_parameter", "?nonsense"),
    ("format=json", 400, "unknown_parameter", "?format"),
    ("limit=1&limit=2", 400, "repeated_parameter", "?limit"),
    ("limit=0", 422, "out_of_range", "?limit"),
    ("limit=1000000", 422, "out_of_range", "?limit"),
    ("limit=x", 422, "invalid", "?limit"),
    ("limit=" + "9" * 3000, 422, "out_of_range", "?limit"),
    ("cursor=a%00", 422, "null_character", "?cursor"),
    ("cursor=", 422, "blank", "?cursor"),
]


@pytest.mark.parametrize(("query", "status", "code", "pointer"), QUERIES)
def test_a_wrong_query_is_refused(query: str, status: int, code: str, pointer: str) -> None:
    problem(Caller().get(f"/api/v1/echo?{query}"), status, code, pointer)


def test_a_query_has_its_defaults() -> None:
    assert json.loads(Caller().get("/api/v1/echo").content) == {"limit": 50}


REFUSALS = [
    ("invalid", 422, "wrong"),
    ("conflict", 409, "exists"),
    ("missing", 404, "not_found"),
    ("forbidden", 403, "forbidden"),
    ("stale", 412, "stale"),
    ("outage", 503, "database_unavailable"),
    ("data", 422, "unstorable"),
    ("race", 409, "changed_meanwhile"),
]


@pytest.mark.parametrize(("what", "status", "code"), REFUSALS)
def test_what_an_action_refuses_is_a_problem(what: str, status: int, code: str) -> None:
    body = problem(Caller().get(f"/api/v1/raise/{what}"), status, code)
    assert not {"db.internal", "column x", "constraint y"} & set(str(body).split("'"))


def test_a_conflict_says_with_what() -> None:
    assert problem(Caller().get("/api/v1/raise/conflict"), 409, "exists")["id"] == 7


def test_an_outage_says_when_to_come_back() -> None:
    assert Caller().get("/api/v1/raise/outage")["Retry-After"] == "1"


@pytest.mark.parametrize("path", ["/api/v1/raise/defect", "/api/plain"])
@pytest.mark.parametrize("debug", [True, False])
def test_a_defect_is_quiet_and_logged(path: str, debug: bool, settings: Any, caplog: Any) -> None:
    settings.DEBUG = debug
    with caplog.at_level(logging.ERROR, "django.request"):
        body = problem(Caller().get(path), 500, "internal_error")
    assert "secret" not in str(body)
    assert "RuntimeError" in caplog.text


@pytest.mark.parametrize(
    "path", ["/api/v1/nothing", "/api/v1/echo/", "/api", "/api/", "/api/%ff", "/api/\x00", "/api/v1/names/A%20B",
             "/api/v1/names/%00", "/api/v1/numbers/0", "/api/v1/numbers/9223372036854775808",
             "/api/v1/numbers/" + "1" * 23, "/api/v1/raise/" + "a/" * 50]
)  # fmt: skip
def test_an_unknown_address_is_a_problem(path: str) -> None:
    problem(Caller().get(path), 404, "not_found")


def test_a_host_that_is_not_ours_is_a_problem() -> None:
    problem(Caller().get("/api/v1/echo", host="evil.example"), 400, "bad_request")
    problem(Caller().get("/api/v1/nothing", host="@@@"), 400, "bad_request")


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"])
def test_another_method_is_a_problem(method: str) -> None:
    answer = Caller()(method, "/api/v1/echo")
    problem(answer, 405, "method_not_allowed")
    assert answer["Allow"] == "GET, POST, HEAD"


def test_head_is_answered_as_get_without_its_body() -> None:
    answer = Caller()("HEAD", "/api/v1/echo?limit=3")
    assert (answer.status_code, answer.content) == (200, b"")
    assert Caller()("HEAD", "/api/v1/echo?nonsense=1").status_code == 400


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "nonsense"])
def test_another_kind_of_answer_is_a_problem(accept: str) -> None:
    problem(Caller().get("/api/v1/echo", accept=accept), 406, "not_acceptable")


def test_a_view_that_names_no_scope_answers_nobody() -> None:
    problem(Caller().get("/api/v1/closed"), 403, "scope_required")


def test_a_key_needs_the_scope() -> None:
    problem(Caller(scopes=["author"]).get("/api/v1/echo"), 403, "scope_required")


@pytest.mark.parametrize("offered", ["abc-123", "A" * 64])
def test_a_sane_request_id_is_kept(offered: str) -> None:
    assert Caller().get("/api/v1/echo", x_request_id=offered)["X-Request-Id"] == offered


@pytest.mark.parametrize("offered", ["", "a b", "x" * 65, "a\nb", "é"])
def test_an_odd_request_id_is_replaced(offered: str) -> None:
    made = Client().get("/api/nothing", headers={"x-request-id": offered})["X-Request-Id"]
    assert made != offered
    assert len(made) == 32


def test_a_line_of_the_log_carries_the_request_id(caplog: Any) -> None:
    from apps.core.api.requests import RequestIdFilter  # noqa: PLC0415

    caplog.handler.addFilter(RequestIdFilter())
    Caller().get("/api/v1/raise/defect", x_request_id="find-me")
    assert {record.request_id for record in caplog.records} == {"find-me"}


def test_a_key_in_the_address_is_refused_and_not_repeated() -> None:
    _, text = make_key()
    for address in (f"/api/v1/echo?cursor={text}", "/api/v1/echo?access_token=x", "/api/v1/echo?api_key=x"):
        answer = Client().get(address)
        problem(answer, 400, "credential_in_url")
        assert text not in answer.content.decode()
