"""Edges over REST."""

import json
from typing import Any
from uuid import uuid4

import pytest

from apps.edges.models import Edge
from apps.entries.models import Entry
from tests.api import Caller, problem
from tests.factories import NOW, make_edge, make_entry, make_learner, make_topic
from tests.threads import in_threads

pytestmark = pytest.mark.django_db

EDGES = "/api/v1/edges"


def read(answer: Any, status: int = 200) -> Any:
    assert answer.status_code == status, answer.content
    return json.loads(answer.content)


def draft(source: Entry, target: Entry, **given: Any) -> dict[str, Any]:
    return {"source": str(source.pk), "target": str(target.pk), "type": "related", **given}


class TestCreate:
    def test_an_edge(self) -> None:
        call = Caller()
        given = draft(make_entry(), make_entry(), condition="when stuck", rationale="…")
        answer = call.post(EDGES, given)
        body = read(answer, 201)
        assert {name: body[name] for name in given} == given
        assert (body["confidence"], body["provenance"], body["hit_count"]) == (0.8, "seed", 0)
        assert answer["ETag"] == '"1"'
        assert read(call.get(f"{EDGES}/{body['id']}")) == body

    def test_the_same_again_is_the_same_row(self) -> None:
        call, given = Caller(), draft(make_entry(), make_entry())
        first, second = read(call.post(EDGES, given), 201), read(call.post(EDGES, given), 200)
        assert first == second
        body = problem(call.post(EDGES, {**given, "rationale": "another"}), 409, "exists")
        assert body["id"] == first["id"]

    def test_a_cycle_is_refused_with_its_path(self) -> None:
        a, b, call = make_entry(), make_entry(), Caller()
        read(call.post(EDGES, draft(a, b, type="prerequisite")), 201)
        body = problem(call.post(EDGES, draft(b, a, type="prerequisite")), 422, "cycle", "/target")
        assert body["path"] == [str(b.pk), str(a.pk), str(b.pk)]

    @pytest.mark.parametrize(
        ("change", "code", "pointer"),
        [
            ({"type": "unknown"}, "invalid_choice", "/type"),
            ({"type": None}, "null", "/type"),
            ({"confidence": 1.2}, "out_of_range", "/confidence"),
            ({"confidence": True}, "invalid", "/confidence"),
            ({"source": "1"}, "invalid", "/source"),
            ({"source": 1}, "invalid", "/source"),
            ({"target": str(uuid4())}, "target_not_current", "/target"),
            ({"provenance": "learned"}, "field_not_writable", "/provenance"),
            ({"hit_count": 3}, "field_not_writable", "/hit_count"),
        ],
    )
    def test_a_wrong_one_is_refused(self, change: dict[str, Any], code: str, pointer: str) -> None:
        problem(Caller().post(EDGES, {**draft(make_entry(), make_entry()), **change}), 422, code, pointer)
        assert not Edge.objects.exists()

    def test_minus_zero_is_zero(self) -> None:
        raw = json.dumps(draft(make_entry(), make_entry()))[:-1] + ', "confidence": -0.0}'
        assert str(read(Caller()("POST", EDGES, raw=raw.encode()), 201)["confidence"]) == "0.0"

    def test_its_ends_are_two_rows(self) -> None:
        entry, call = make_entry(), Caller()
        problem(call.post(EDGES, draft(entry, entry)), 422, "self_edge", "/target")
        for gone in (make_entry(maturity="archived"), make_entry(superseded_at=NOW)):
            problem(call.post(EDGES, draft(entry, gone)), 422, "target_not_current", "/target")
            problem(call.post(EDGES, draft(gone, entry)), 422, "target_not_current", "/source")

    def test_its_ends_are_of_one_learner(self) -> None:
        rows = []
        for learner in ("amy", "bob"):
            make_learner(learner)
            rows.append(make_entry(visibility_scope=f"student:{learner}"))
        problem(Caller().post(EDGES, draft(*rows)), 422, "two_learners", "/target")

    @pytest.mark.django_db(transaction=True)
    def test_parallel_creations_make_one(self) -> None:
        given, key = draft(make_entry(), make_entry(), type="prerequisite"), Caller().key
        answers = in_threads(6, lambda: Caller(key=key).post(EDGES, given).status_code)
        assert sorted(str(answer) for answer in answers) == ["200"] * 5 + ["201"]


class TestChange:
    def test_a_part_is_changed_and_the_rest_stays(self) -> None:
        edge = make_edge(rationale="kept")
        body = read(Caller().patch(f"{EDGES}/{edge.pk}", {"condition": "if", "confidence": 0.5}))
        assert (body["condition"], body["confidence"], body["rationale"]) == ("if", 0.5, "kept")

    @pytest.mark.parametrize("name", ["source", "target", "type"])
    def test_ends_and_type_are_its_identity(self, name: str) -> None:
        edge = make_edge()
        problem(Caller().patch(f"{EDGES}/{edge.pk}", {name: "x"}), 422, "field_not_writable", f"/{name}")

    def test_what_is_stale_is_refused(self) -> None:
        edge, call = make_edge(), Caller()
        read(call.patch(f"{EDGES}/{edge.pk}", {"condition": "a"}, if_match='"1"'))
        problem(call.patch(f"{EDGES}/{edge.pk}", {"condition": "b"}, if_match='"1"'), 412, "stale")
        problem(call.delete(f"{EDGES}/{edge.pk}", if_match='"1"'), 412, "stale")
        assert Edge.objects.exists()

    def test_delete(self) -> None:
        edge, call = make_edge(), Caller()
        answer = call.delete(f"{EDGES}/{edge.pk}", if_match='"1"')
        assert (answer.status_code, answer.content) == (204, b"")
        problem(call.delete(f"{EDGES}/{edge.pk}"), 404, "not_found")


class TestList:
    def test_filters(self) -> None:
        a, b, c = make_entry(), make_entry(), make_entry()
        first, second = make_edge(source=a, target=b), make_edge(source=b, target=c, edge_type="fallback")
        call = Caller()
        for query, found in {
            "": [first, second],
            f"source={a.pk}": [first],
            f"target={c.pk}": [second],
            f"entry={b.pk}": [first, second],
            "type=fallback": [second],
            "provenance=learned": [],
        }.items():
            rows = read(call.get(f"{EDGES}?{query}"))["results"]
            assert [row["id"] for row in rows] == [edge.pk for edge in found]

    def test_a_page_takes_one_query(self, django_assert_num_queries: Any) -> None:
        call = Caller()
        for count in (1, 5):
            for _ in range(count):
                make_edge()
            with django_assert_num_queries(1):  # beside the one that authenticates
                read(call.get(EDGES))

    def test_pages_hold_every_row_once(self) -> None:
        made = [make_edge().pk for _ in range(5)]
        call = Caller()
        first = read(call.get(f"{EDGES}?limit=3"))
        second = read(call.get(f"{EDGES}?limit=3&cursor={first['next']}"))
        assert [row["id"] for row in [*first["results"], *second["results"]]] == made


class TestBinding:
    @pytest.mark.parametrize(
        ("method", "body"), [("GET", None), ("PATCH", {"condition": "x"}), ("DELETE", None)]
    )
    def test_an_edge_with_a_foreign_end_is_absent(self, method: str, body: Any) -> None:
        mine = make_entry(topic=make_topic(slug="mine"))
        foreign = [make_edge(source=mine), make_edge(target=mine)]
        call = Caller(topics=["mine"])
        answers = [
            problem(call(method, f"{EDGES}/{pk}", body, x_request_id="r"), 404, "not_found")
            for pk in (*(edge.pk for edge in foreign), 2**62)
        ]
        assert all(answer == answers[0] for answer in answers)
        assert read(call.get(EDGES))["results"] == []
        assert Edge.objects.count() == 2

    def test_a_foreign_end_is_one_that_never_was(self) -> None:
        mine, foreign = make_entry(topic=make_topic(slug="mine")), make_entry()
        call, nowhere = Caller(topics=["mine"]), str(uuid4())
        bodies = [
            problem(
                call.post(EDGES, {**draft(mine, foreign), "target": end}, x_request_id="r"),
                422,
                "target_not_current",
            )
            for end in (str(foreign.pk), nowhere)
        ]
        assert str(bodies[0]).replace(str(foreign.pk), nowhere) == str(bodies[1])

    def test_edges_of_a_learner_are_listed_only_where_an_end_is_named(self) -> None:
        make_learner("amy")
        edge = make_edge(source=make_entry(visibility_scope="student:amy"))
        call = Caller()
        assert read(call.get(EDGES))["results"] == []
        assert len(read(call.get(f"{EDGES}?entry={edge.source_id}"))["results"]) == 1
        assert read(Caller(learner_prefix="b").get(f"{EDGES}?entry={edge.source_id}"))["results"] == []

    @pytest.mark.parametrize("bad", ["0", "-1", "x", "9223372036854775808", "1" * 23])
    def test_what_is_no_id_is_no_address(self, bad: str) -> None:
        problem(Caller().get(f"{EDGES}/{bad}"), 404, "not_found")
