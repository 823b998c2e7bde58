"""Topics and concepts over REST."""

import json
import unicodedata
from typing import Any

import pytest

from apps.catalog.models import Concept, Topic
from apps.clients.models import ApiKey
from tests.api import Caller, problem
from tests.factories import make_concept, make_entry, make_topic
from tests.threads import in_threads

pytestmark = pytest.mark.django_db

TOPICS, CONCEPTS = "/api/v1/topics", "/api/v1/concepts"


def read(answer: Any, status: int = 200) -> Any:
    assert answer.status_code == status, answer.content
    return json.loads(answer.content)


class TestCreate:
    def test_a_topic(self) -> None:
        call = Caller()
        answer = call.post(TOPICS, {"slug": "crypto", "title": " Crypto\r\n", "description": ""})
        body = read(answer, 201)
        assert body["slug"] == "crypto"
        assert body["title"] == " Crypto\r\n"
        assert answer["ETag"] == '"1"'
        assert read(call.get(f"{TOPICS}/crypto")) == body

    def test_a_concept_with_aliases(self) -> None:
        call = Caller()
        given = {
            "slug": "nonce-reuse",
            "title": "Nonce reuse",
            "definition": "…",
            "aliases": ["IV reuse", "Two uses"],
        }
        body = read(call.post(CONCEPTS, given), 201)
        assert {name: body[name] for name in given} == given
        assert read(call.get(f"{CONCEPTS}/nonce-reuse")) == body

    def test_the_same_again_is_the_same_row(self) -> None:
        call = Caller()
        for path, given in (
            (TOPICS, {"slug": "a", "title": "A"}),
            (CONCEPTS, {"slug": "a", "title": "A", "aliases": ["B", "a"]}),
        ):
            first, second = read(call.post(path, given), 201), read(call.post(path, given), 200)
            assert first == second

    def test_another_content_is_a_conflict_that_says_with_whom(self) -> None:
        call = Caller()
        for path in (TOPICS, CONCEPTS):
            first = read(call.post(path, {"slug": "a", "title": "A"}), 201)
            body = problem(call.post(path, {"slug": "a", "title": "Another"}), 409, "exists", "/slug")
            assert body["id"] == first["id"]

    def test_a_name_belongs_to_one_concept(self) -> None:
        call = Caller()
        read(call.post(CONCEPTS, {"slug": "a", "title": "A", "aliases": ["Shared name"]}), 201)
        problem(call.post(CONCEPTS, {"slug": "shared-name", "title": "B"}), 409, "name_taken", "/slug")
        given = {"slug": "c", "title": "C", "aliases": ["shared NAME"]}
        problem(call.post(CONCEPTS, given), 409, "name_taken", "/aliases")
        assert Concept.objects.count() == 1

    @pytest.mark.parametrize(
        ("given", "code", "pointer"),
        [
            ({"title": "A"}, "required", "/slug"),
            ({"slug": "a"}, "required", "/title"),
            ({"slug": "A b", "title": "A"}, "invalid_slug", "/slug"),
            ({"slug": "_unanchored_", "title": "A"}, "reserved_slug", "/slug"),
            ({"slug": unicodedata.normalize("NFD", "café"), "title": "A"}, "invalid_slug", "/slug"),
            ({"slug": "a\u202eb", "title": "A"}, "invalid_slug", "/slug"),
            ({"slug": "a", "title": "x" * 301}, "too_long", "/title"),
            ({"slug": "a", "title": "\u200b"}, "blank", "/title"),
            ({"slug": "a", "title": "A", "version": 2}, "field_not_writable", "/version"),
            ({"slug": "a", "title": "A", "nonsense": 2}, "unknown_field", "/nonsense"),
        ],
    )
    def test_a_wrong_one_is_refused(self, given: dict[str, Any], code: str, pointer: str) -> None:
        for path in (TOPICS, CONCEPTS):
            problem(Caller().post(path, given), 422, code, pointer)
        assert not Topic.objects.exists()
        assert not Concept.objects.exists()

    def test_an_unknown_parameter_writes_nothing(self) -> None:
        answer = Caller().post(f"{TOPICS}?dry_run=1", {"slug": "a", "title": "A"})
        problem(answer, 400, "unknown_parameter", "?dry_run")
        assert not Topic.objects.exists()

    def test_an_alias_without_a_name_is_refused(self) -> None:
        given = {"slug": "a", "title": "A", "aliases": ["fine", "¡!"]}
        problem(Caller().post(CONCEPTS, given), 422, "no_usable_name", "/aliases")
        problem(Caller().post(CONCEPTS, {**given, "aliases": [1]}), 422, "invalid", "/aliases/0")
        assert not Concept.objects.exists()


class TestChange:
    def test_a_part_is_changed_and_the_rest_stays(self) -> None:
        call = Caller()
        make_topic(slug="a", title="A", description="about")
        answer = call.patch(f"{TOPICS}/a", {"title": "B"})
        assert read(answer)["description"] == "about"
        assert answer["ETag"] == '"2"'
        assert read(call.patch(f"{TOPICS}/a", {}))["version"] == 2

    def test_a_concept_and_its_names(self) -> None:
        call = Caller()
        read(call.post(CONCEPTS, {"slug": "a", "title": "A", "aliases": ["One", "Two"]}), 201)
        answer = call.patch(f"{CONCEPTS}/a", {"aliases": ["Two", "Three"]})
        assert read(answer)["aliases"] == ["Two", "Three"]
        assert answer["ETag"] == '"2"'
        moved = read(call.patch(f"{CONCEPTS}/a", {"slug": "two"}))
        assert (moved["slug"], moved["aliases"]) == ("two", ["Three"])
        problem(call.get(f"{CONCEPTS}/a"), 404, "not_found")

    def test_a_new_slug_moves_the_entries(self) -> None:
        entry = make_entry()
        read(Caller().patch(f"{CONCEPTS}/{entry.concept_slug}", {"slug": "moved"}))
        entry.refresh_from_db()
        assert entry.concept_slug == "moved"

    def test_a_taken_slug_is_a_conflict(self) -> None:
        make_topic(slug="a"), make_topic(slug="b"), make_concept(slug="a"), make_concept(slug="b")
        problem(Caller().patch(f"{TOPICS}/a", {"slug": "b"}), 409, "exists", "/slug")
        problem(Caller().patch(f"{CONCEPTS}/a", {"slug": "b"}), 409, "name_taken", "/slug")

    def test_what_is_stale_is_refused(self) -> None:
        call = Caller()
        make_topic(slug="a"), make_concept(slug="a")
        for path in (f"{TOPICS}/a", f"{CONCEPTS}/a"):
            read(call.patch(path, {"title": "First"}, if_match='"1"'))
            body = problem(call.patch(path, {"title": "Second"}, if_match='"1"'), 412, "stale")
            assert body["version"] == 2
            for header in ('"2"', '"7", "2"', "*"):
                read(call.patch(path, {"title": "First"}, if_match=header))
            for header in ("2", 'W/"2"', "nonsense"):
                problem(call.patch(path, {"title": "x"}, if_match=header), 412, "stale")
            problem(call.post(f"{path}/archive", if_match='"1"'), 412, "stale")

    @pytest.mark.django_db(transaction=True)
    def test_of_parallel_changes_to_one_version_one_is_made(self) -> None:
        topic, call = make_topic(slug="a"), Caller()
        answers = in_threads(
            6, lambda: Caller(key=call.key).patch(f"{TOPICS}/a", {"title": "new"}, if_match='"1"')
        )
        statuses = sorted(answer.status_code for answer in answers if not isinstance(answer, BaseException))
        assert statuses == [200, 412, 412, 412, 412, 412]
        topic.refresh_from_db()
        assert topic.version == 2

    @pytest.mark.parametrize("raw", [b"", b"[]", b"null"])
    def test_a_change_says_something(self, raw: bytes) -> None:
        make_topic(slug="a")
        problem(Caller()("PATCH", f"{TOPICS}/a", raw=raw), 400, "object_expected")


class TestArchive:
    @pytest.mark.parametrize("path", [TOPICS, CONCEPTS])
    def test_there_and_back_and_each_twice(self, path: str) -> None:
        call = Caller()
        read(call.post(path, {"slug": "a", "title": "A"}), 201)
        first, second = (read(call.post(f"{path}/a/archive")) for _ in range(2))
        assert first["archived_at"]
        assert first == second
        assert read(call.get(path))["results"] == []
        assert [row["slug"] for row in read(call.get(f"{path}?state=archived"))["results"]] == ["a"]
        assert [row["slug"] for row in read(call.get(f"{path}?state=any"))["results"]] == ["a"]
        restored = [read(call.post(f"{path}/a/restore", {})) for _ in range(2)]
        assert [row["archived_at"] for row in restored] == [None, None]

    def test_it_takes_no_body(self) -> None:
        make_topic(slug="a")
        problem(Caller().post(f"{TOPICS}/a/archive", {"why": "not"}), 422, "unknown_field", "/why")


class TestList:
    @pytest.mark.parametrize("path", [TOPICS, CONCEPTS])
    def test_pages_hold_every_row_once(self, path: str) -> None:
        made = [make_topic() if path == TOPICS else make_concept() for _ in range(5)]
        call, seen, cursor = Caller(), [], ""
        while True:
            page = read(call.get(f"{path}?limit=2{cursor}"))
            seen += [row["slug"] for row in page["results"]]
            if page["next"] is None:
                break
            cursor = f"&cursor={page['next']}"
        assert seen == [row.slug for row in made]

    def test_a_page_is_stable_while_rows_come_and_go(self) -> None:
        made = [make_topic() for _ in range(4)]
        call = Caller()
        page = read(call.get(f"{TOPICS}?limit=2"))
        made[0].delete()
        make_topic(slug="later")
        rest = read(call.get(f"{TOPICS}?cursor={page['next']}"))
        assert [row["slug"] for row in rest["results"]] == [made[2].slug, made[3].slug, "later"]

    def test_a_cursor_that_this_list_did_not_give_is_refused(self) -> None:
        make_topic(), make_topic()
        call = Caller()
        given = read(call.get(f"{TOPICS}?limit=1"))["next"]
        for path, cursor in ((TOPICS, "x"), (TOPICS, given + "x"), (TOPICS, given[1:]), (CONCEPTS, given)):
            problem(call.get(f"{path}?cursor={cursor}"), 400, "bad_cursor", "?cursor")

    def test_a_concept_is_found_by_any_of_its_names(self) -> None:
        call = Caller()
        read(call.post(CONCEPTS, {"slug": "a", "title": "A", "aliases": ["C++"]}), 201)
        read(call.post(CONCEPTS, {"slug": "b", "title": "B"}), 201)
        for name in ("a", "C%2B%2B", "c%2b%2B"):
            assert [row["slug"] for row in read(call.get(f"{CONCEPTS}?name={name}"))["results"]] == ["a"]
        assert read(call.get(f"{CONCEPTS}?name=c"))["results"] == []
        assert read(call.get(f"{CONCEPTS}?status=proposed"))["results"] == []
        problem(call.get(f"{CONCEPTS}?status=x"), 422, "invalid_choice", "?status")

    @pytest.mark.parametrize(("path", "most"), [(TOPICS, 1), (CONCEPTS, 2)])
    def test_a_page_takes_a_fixed_number_of_queries(
        self, path: str, most: int, django_assert_num_queries: Any
    ) -> None:
        call = Caller()
        for count in (1, 7):
            for number in range(count):
                slug = f"s-{count}-{number}"
                read(
                    call.post(
                        path, {"slug": slug, "title": "T", **({"aliases": [slug + "x"]} if most == 2 else {})}
                    ),
                    201,
                )
            with django_assert_num_queries(most):  # beside the one that authenticates
                read(call.get(path))


class TestBinding:
    def test_a_bound_key_sees_its_topics_alone(self) -> None:
        make_topic(slug="mine"), make_topic(slug="other")
        call = Caller(topics=["mine"])
        assert [row["slug"] for row in read(call.get(TOPICS))["results"]] == ["mine"]
        for method, path, body in (
            ("GET", "", None), ("PATCH", "", {"title": "x"}), ("POST", "/archive", None), ("POST", "/restore", None),
        ):  # fmt: skip
            foreign = problem(call(method, f"{TOPICS}/other{path}", body, x_request_id="r"), 404, "not_found")
            absent = problem(
                call(method, f"{TOPICS}/nowhere{path}", body, x_request_id="r"), 404, "not_found"
            )
            assert foreign == absent

    def test_a_bound_key_makes_no_other_topic(self) -> None:
        make_topic(slug="mine"), make_topic(slug="other")
        call = Caller(topics=["mine", "planned"])
        for slug in ("other", "nowhere"):
            problem(call.post(TOPICS, {"slug": slug, "title": "T"}), 403, "topic_not_bound", "/slug")
            problem(call.patch(f"{TOPICS}/mine", {"slug": slug}), 403, "topic_not_bound", "/slug")
        read(call.post(TOPICS, {"slug": "planned", "title": "T"}), 201)

    def test_a_binding_follows_its_topic(self) -> None:
        make_topic(slug="old")
        bound = Caller(topics=["old", "z"])
        read(Caller().patch(f"{TOPICS}/old", {"slug": "new"}))
        assert ApiKey.objects.get(topics__contains=["new"]).topics == ["new", "z"]
        read(bound.get(f"{TOPICS}/new"))

    @pytest.mark.parametrize("path", [TOPICS, CONCEPTS, f"{TOPICS}/a", f"{CONCEPTS}/a"])
    def test_it_takes_the_scope_of_authors(self, path: str) -> None:
        call = Caller(scopes=["retrieve", "write", "erase"])
        problem(call.get(path), 403, "scope_required")
