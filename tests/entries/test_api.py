"""Entries over REST."""

import json
from typing import Any
from uuid import uuid4

import pytest

from apps.entries.models import Entry
from tests.api import Caller, problem
from tests.factories import NOW, make_concept, make_entry, make_learner, make_topic
from tests.threads import in_threads

pytestmark = pytest.mark.django_db

ENTRIES = "/api/v1/entries"


def read(answer: Any, status: int = 200) -> Any:
    assert answer.status_code == status, answer.content
    return json.loads(answer.content)


def at(entry: Entry) -> str:
    return f"{ENTRIES}/{entry.pk}"


def student(learner: str = "amy") -> Entry:
    make_learner(learner)
    return make_entry(visibility_scope=f"student:{learner}", concept_slug="confuses-x")


@pytest.fixture
def draft() -> dict[str, Any]:
    make_topic(slug="crypto"), make_concept(slug="nonce")
    return {"topic": "crypto", "concept": "nonce", "title": "Nonce", "instruction": "Never twice."}


class TestCreate:
    def test_a_fact(self, draft: dict[str, Any]) -> None:
        call = Caller()
        answer = call.post(ENTRIES, {**draft, "detail": "", "importance": 0.25})
        body = read(answer, 201)
        assert {name: body[name] for name in draft} == draft
        assert (body["scope"], body["maturity"], body["provenance"]) == ("public", "candidate", "seed")
        assert (body["confidence"], body["importance"], body["ladder_step"]) == (0.8, 0.25, "exact")
        assert answer["ETag"] == '"1"'
        assert read(call.get(f"{ENTRIES}/{body['id']}")) == body

    def test_a_move_a_drawing_and_an_unanchored_one(self, draft: dict[str, Any]) -> None:
        call = Caller()
        move = {"scope": "tutor", "concept": "own-name", "title": "T", "instruction": "I"}
        assert read(call.post(ENTRIES, move), 201)["topic"] is None
        svg = '<svg xmlns="http://www.w3.org/2000/svg"><title>Nonce</title><circle r="3"></circle></svg>'
        drawing = {"scope": "visual", "concept": "nonce", "title": "T", "instruction": "I", "visual": svg}
        assert read(call.post(ENTRIES, drawing), 201)["visual"] == svg
        loose = read(call.post(ENTRIES, {**draft, "concept": None}), 201)
        assert (loose["concept"], loose["ladder_step"]) == (None, "unanchored")

    def test_the_same_again_is_the_same_row(self, draft: dict[str, Any]) -> None:
        call = Caller()
        draft |= {"importance": 0.12345, "confidence": 0.6}
        first, second = read(call.post(ENTRIES, draft), 201), read(call.post(ENTRIES, draft), 200)
        assert first == second
        assert (first["importance"], first["confidence"]) == (0.123, 0.6)

    def test_a_taken_identity_is_a_conflict_that_says_with_whom(self, draft: dict[str, Any]) -> None:
        call = Caller()
        first = read(call.post(ENTRIES, draft), 201)
        other = {**draft, "instruction": "Another."}
        assert problem(call.post(ENTRIES, other), 409, "exists")["id"] == first["id"]
        read(call.post(f"{ENTRIES}/{first['id']}/archive"))
        assert problem(call.post(ENTRIES, draft), 409, "archived")["id"] == first["id"]

    @pytest.mark.parametrize(
        ("change", "code", "pointer"),
        [
            ({"topic": None}, "topic_required", "/topic"),
            ({"topic": "nowhere"}, "unknown_topic", "/topic"),
            ({"topic": "Not A Slug"}, "invalid_slug", "/topic"),
            ({"concept": "nowhere"}, "unknown_concept", "/concept"),
            ({"concept": "_unanchored_"}, "reserved_slug", "/concept"),
            ({"concept": "Nonce"}, "invalid_slug", "/concept"),
            ({"scope": "student:amy"}, "student_scope", "/scope"),
            ({"scope": "everyone"}, "invalid_scope", "/scope"),
            ({"scope": "visual"}, "scope_combination", "/visual"),
            (
                {"visual": "<svg xmlns='http://www.w3.org/2000/svg' onload='x()'/>"},
                "unsafe_drawing",
                "/visual",
            ),
            ({"visual": "no drawing"}, "unsafe_drawing", "/visual"),
            ({"visual": '<!DOCTYPE svg [<!ENTITY a "b">]><svg/>'}, "unsafe_drawing", "/visual"),
            ({"instruction": "\u200b\n"}, "blank", "/instruction"),
            ({"title": "x" * 301}, "too_long", "/title"),
            ({"confidence": 1.5}, "out_of_range", "/confidence"),
            ({"confidence": True}, "invalid", "/confidence"),
            ({"importance": -0.1}, "out_of_range", "/importance"),
            ({"maturity": "proven"}, "field_not_writable", "/maturity"),
            ({"provenance": "learned"}, "field_not_writable", "/provenance"),
            ({"source": "user"}, "field_not_writable", "/source"),
            ({"embedding": [1]}, "unknown_field", "/embedding"),
            ({"trust": 1}, "unknown_field", "/trust"),
        ],
    )
    def test_a_wrong_one_is_refused(
        self, draft: dict[str, Any], change: dict[str, Any], code: str, pointer: str
    ) -> None:
        problem(Caller().post(ENTRIES, {**draft, **change}), 422, code, pointer)
        assert not Entry.objects.exists()

    @pytest.mark.django_db(transaction=True)
    def test_parallel_creations_make_one(self, draft: dict[str, Any]) -> None:
        key = Caller().key
        answers = in_threads(8, lambda: Caller(key=key).post(ENTRIES, draft).status_code)
        assert sorted(str(answer) for answer in answers) == ["200"] * 7 + ["201"]
        assert Entry.objects.count() == 1


class TestChange:
    def test_a_part_is_changed_and_the_rest_stays(self) -> None:
        entry, call = make_entry(detail="kept"), Caller()
        make_concept(slug="other")
        change = {
            "title": "New",
            "concept": "other",
            "maturity": "pattern",
            "confidence": 0.9,
            "importance": None,
        }
        body = read(call.patch(at(entry), change))
        assert {name: body[name] for name in change} == change
        assert (body["detail"], body["version"]) == ("kept", 2)

    def test_an_edit_lifts_what_has_sunk(self) -> None:
        entry = make_entry(confidence="0.8")
        call = Caller()
        read(call.patch(at(entry), {"confidence": 0.2}))
        assert [row["id"] for row in read(call.get(f"{ENTRIES}?below_floor=true"))["results"]] == [
            str(entry.pk)
        ]
        assert read(call.patch(at(entry), {"title": "Better"}))["confidence"] == 0.7
        assert read(call.get(f"{ENTRIES}?below_floor=true"))["results"] == []

    @pytest.mark.parametrize(
        ("change", "code", "pointer"),
        [
            ({"scope": "tutor"}, "field_not_writable", "/scope"),
            ({"topic": "crypto"}, "field_not_writable", "/topic"),
            ({"maturity": "archived"}, "invalid_choice", "/maturity"),
            ({"visual": '<svg xmlns="http://www.w3.org/2000/svg"/>'}, "scope_combination", "/visual"),
            ({"concept": "nowhere"}, "unknown_concept", "/concept"),
            ({"instruction": ""}, "blank", "/instruction"),
        ],
    )
    def test_a_wrong_change_is_refused(self, change: dict[str, Any], code: str, pointer: str) -> None:
        entry = make_entry()
        problem(Caller().patch(at(entry), change), 422, code, pointer)
        entry.refresh_from_db()
        assert entry.version == 1

    def test_an_identity_that_is_taken_is_a_conflict(self) -> None:
        topic = make_topic()
        first, second = make_entry(topic=topic), make_entry(topic=topic)
        body = problem(Caller().patch(at(second), {"concept": first.concept_slug}), 409, "exists", "/concept")
        assert body["id"] == str(first.pk)

    def test_what_is_no_row_is_not_changed(self) -> None:
        problem(Caller().patch(at(make_entry(maturity="archived")), {"title": "x"}), 409, "archived")
        problem(Caller().patch(at(make_entry(superseded_at=NOW)), {"title": "x"}), 409, "superseded")

    def test_what_is_stale_is_refused(self) -> None:
        entry, call = make_entry(), Caller()
        read(call.patch(at(entry), {"title": "First"}, if_match='"1"'))
        problem(call.patch(at(entry), {"title": "Second"}, if_match='"1"'), 412, "stale")
        problem(call.post(at(entry) + "/archive", if_match='"1"'), 412, "stale")
        problem(call.post(at(entry) + "/restore", if_match='"1"'), 412, "stale")


class TestArchive:
    def test_there_and_back_and_each_twice(self) -> None:
        entry, call = make_entry(maturity="proven", confidence="0.5"), Caller()
        archived = [read(call.post(at(entry) + "/archive")) for _ in range(2)]
        assert [row["maturity"] for row in archived] == ["archived"] * 2
        assert read(call.get(ENTRIES))["results"] == []
        assert len(read(call.get(f"{ENTRIES}?state=archived"))["results"]) == 1
        restored = [read(call.post(at(entry) + "/restore")) for _ in range(2)]
        assert [(row["maturity"], row["confidence"]) for row in restored] == [("candidate", 0.7)] * 2


class TestList:
    def test_filters(self) -> None:
        topic = make_topic()
        first = make_entry(topic=topic, maturity="pattern")
        second = make_entry(topic=topic, concept_slug="_unanchored_", source_type="enriched")
        third = make_entry(visibility_scope="tutor")
        make_entry(superseded_at=NOW)
        student()
        call = Caller()
        for query, found in {
            "": [first, second, third],
            f"topic={topic.slug}": [first, second],
            "scope=tutor": [third],
            "concept=_unanchored_": [second],
            f"concept={first.concept_slug}&maturity=pattern": [first],
            "provenance=enriched": [second],
            "scope=student:nobody": [],
        }.items():
            assert [row["id"] for row in read(call.get(f"{ENTRIES}?{query}"))["results"]] == [
                str(entry.pk) for entry in found
            ]

    @pytest.mark.parametrize(
        ("query", "status", "code"),
        [
            ("ordering=embedding", 400, "unknown_parameter"),
            ("fields=embedding", 400, "unknown_parameter"),
            ('filter={"_connector":"OR 1=1"}', 400, "unknown_parameter"),
            ("title__startswith=a", 400, "unknown_parameter"),
            ("scope=student:%25", 422, "invalid_scope"),
            ("maturity=archived", 422, "invalid_choice"),
            ("below_floor=perhaps", 422, "invalid"),
        ],
    )
    def test_a_wrong_filter_is_refused(self, query: str, status: int, code: str) -> None:
        problem(Caller().get(f"{ENTRIES}?{query}"), status, code)

    def test_a_page_takes_one_query(self, django_assert_num_queries: Any) -> None:
        call = Caller()
        for count in (1, 6):
            for _ in range(count):
                make_entry()
            with django_assert_num_queries(1):  # beside the one that authenticates
                read(call.get(ENTRIES))

    def test_pages_hold_every_row_once(self) -> None:
        made = [str(make_entry().pk) for _ in range(5)]
        call = Caller()
        first = read(call.get(f"{ENTRIES}?limit=3"))
        second = read(call.get(f"{ENTRIES}?limit=3&cursor={first['next']}"))
        assert [row["id"] for row in [*first["results"], *second["results"]]] == sorted(made)
        assert second["next"] is None


class TestBinding:
    """What a key may not see is answered exactly like what does not exist."""

    ADDRESSES = (
        ("GET", "", None),
        ("PATCH", "", {"title": "x"}),
        ("POST", "/archive", None),
        ("POST", "/restore", None),
    )

    @pytest.mark.parametrize(("method", "path", "body"), ADDRESSES)
    def test_foreign_is_absent(self, method: str, path: str, body: Any) -> None:
        make_topic(slug="mine")
        call = Caller(topics=["mine"], learner_prefix="school-")
        foreign = [make_entry(), student("amy"), student("School-1")]
        answers = [
            problem(call(method, f"{ENTRIES}/{pk}{path}", body, x_request_id="r"), 404, "not_found")
            for pk in (*(entry.pk for entry in foreign), uuid4())
        ]
        assert all(answer == answers[0] for answer in answers)
        assert set(Entry.objects.values_list("version", flat=True)) == {1}

    def test_a_bound_key_sees_its_own(self) -> None:
        topic = make_topic(slug="mine")
        seen = [make_entry(topic=topic), make_entry(visibility_scope="tutor"), student("school-1")]
        make_entry(), student("school"), student("xschool-1")
        call = Caller(topics=["mine"], learner_prefix="school-")
        for entry in seen:
            read(call.get(at(entry)))
        assert len(read(call.get(ENTRIES))["results"]) == 2
        assert len(read(call.get(f"{ENTRIES}?scope=student:school-1"))["results"]) == 1
        assert read(call.get(f"{ENTRIES}?scope=student:school"))["results"] == []

    def test_a_prefix_is_no_pattern(self) -> None:
        entry = student("axb")
        problem(Caller(learner_prefix="a_b").get(at(entry)), 404, "not_found")

    def test_a_foreign_topic_is_an_unknown_one(self, draft: dict[str, Any]) -> None:
        call = Caller(topics=["mine"])
        foreign = problem(call.post(ENTRIES, draft, x_request_id="r"), 422, "unknown_topic", "/topic")
        absent = problem(
            call.post(ENTRIES, {**draft, "topic": "crypta"}, x_request_id="r"), 422, "unknown_topic"
        )
        assert str(absent).replace("crypta", "crypto") == str(foreign)

    def test_authors_read_a_learner_only_where_they_name_one(self) -> None:
        entry, call = student("amy"), Caller()
        assert read(call.get(ENTRIES))["results"] == []
        assert [row["id"] for row in read(call.get(f"{ENTRIES}?scope=student:amy"))["results"]] == [
            str(entry.pk)
        ]

    @pytest.mark.parametrize("bad", ["1", "x", "0" * 36, "%00", str(uuid4()) + "0"])
    def test_what_is_no_id_is_no_address(self, bad: str) -> None:
        problem(Caller().get(f"{ENTRIES}/{bad}"), 404, "not_found")
