"""Import and export over REST (api.md, Curriculum)."""

import json
from typing import Any

import pytest

from apps.catalog.models import Topic
from apps.core.invariants import findings
from apps.curriculum import views
from apps.curriculum.bundle.writing import Format
from apps.curriculum.importing import staging
from apps.entries.models import Entry
from tests.api import Caller, problem
from tests.curriculum.bundles import WHOLE, bundle, concept, demo, entry, exported, imported, needs
from tests.factories import make_entry, make_topic

pytestmark = pytest.mark.django_db

IMPORT, EXPORT = "/api/v1/curriculum/import", "/api/v1/curriculum/export"
KEPT = {"format": "lode-curriculum/1", **WHOLE}


def read(answer: Any, status: int = 200) -> Any:
    assert answer.status_code == status, answer.content
    return json.loads(answer.content)


def exported_to(call: Caller, query: str = "", **headers: Any) -> tuple[bytes, Any]:
    answer = call.stream(f"{EXPORT}{query}", **headers)
    assert answer.status_code == 200
    made = answer.getvalue()
    return made, answer


class TestImport:
    def test_answers_with_its_counts(self) -> None:
        report = read(Caller().post(IMPORT, KEPT))
        assert (report["created"], report["changed"], report["unchanged"]) == (8, 0, 0)
        assert report["kinds"]["edges"] == {"created": 1, "changed": 0, "unchanged": 0}
        assert report["changes"] == []
        assert list(findings()) == []

    @pytest.mark.parametrize("media_type", ["application/zip", "application/octet-stream"])
    def test_of_a_zip(self, media_type: str) -> None:
        imported(*demo())
        report = read(Caller()("POST", IMPORT, raw=exported(Format.ZIP), content_type=media_type))
        assert (report["created"], report["changed"]) == (0, 0)
        assert report["unchanged"] > 1000

    def test_that_is_dry_says_field_by_field_and_writes_nothing(self) -> None:
        call = Caller()
        call.post(IMPORT, KEPT)
        told = {"format": "lode-curriculum/1", "entries": [entry("a", title="New"), entry("c")]}
        changed, made = read(call.post(f"{IMPORT}?dry_run=true", told))["changes"]
        assert (changed["pointer"], changed["is_new"]) == ("/entries/0", False)
        assert changed["fields"] == [{"field": "title", "before": "About a", "after": "New"}]
        assert (made["what"], made["is_new"], made["fields"]) == ("public t/c", True, [])
        assert not Entry.objects.filter(title="New").exists()

    def test_lists_every_problem_with_its_place(self) -> None:
        told = {**KEPT, "entries": [entry("nowhere"), entry("a", confidence=2)]}
        body = problem(Caller().post(IMPORT, told), 422, "invalid_curriculum", "/entries/0/concept")
        assert {"/entries/1/confidence", "/edges/0/target/concept"} <= {e["pointer"] for e in body["errors"]}
        assert not Topic.objects.exists()

    def test_again_under_its_key_gives_the_first_answer(self) -> None:
        call = Caller()
        first, second = (call.post(IMPORT, KEPT, idempotency_key="k") for _ in range(2))
        assert second.content == first.content
        assert second["Idempotency-Replayed"] == "true"
        problem(call.post(IMPORT, {**KEPT, "edges": []}, idempotency_key="k"), 422, "idempotency_key_reused")

    def test_a_refused_import_leaves_its_key_free(self) -> None:
        call = Caller()
        problem(call.post(IMPORT, {**KEPT, "topics": []}, idempotency_key="k"), 422, "invalid_curriculum")
        assert read(call.post(IMPORT, KEPT, idempotency_key="k"))["created"] == 8

    @pytest.mark.parametrize(
        "raw",
        [
            b"[]", b"null", b"1", b"\xff", b'{"format": "lode-curriculum/1"', b"PK\x03\x04", b"PK\x05\x06" + b"\0" * 18,
            b'{"format": "lode-curriculum/1", "topics": [{"slug": "a\\u0000", "title": "\\ud800"}]}',
            b'{"format": "lode-curriculum/1", "topics": [{"slug": "a", "slug": "a"}], "topics": []}',
            b'{"format": "lode-curriculum/1", "entries": [{"confidence": NaN, "importance": 1e999999999}]}',
            b'{"format": "lode-curriculum/1", "entries": [{"confidence": 1e999999999999999999999}]}',
            b'{"format": "lode-curriculum/1", "x": ' + b"[" * 100_000,
            b'{"format": "lode-curriculum/1", "topics": [' + b"1," * 50_000 + b"1]}",
            b'{"format": "lode-curriculum/1", "topics": [{"slug": "a", ' + b'"x":1,' * 3000 + b'"y":1}]}',
            b'{"format": "lode-curriculum/1", "\\ud800": 1}',
            b'{"format": "lode-curriculum/1", "topics": [{"slug": "a", "title": "A", "\\ud800\\u0000": 1}]}',
            b'{"format": "lode-curriculum/1", "edges": [{"source": {"\\u0000": 1, "id": "\\u0000"}}]}',
        ],
    )  # fmt: skip
    def test_of_what_is_no_bundle_is_a_problem(self, raw: bytes) -> None:
        problem(Caller()("POST", IMPORT, raw=raw), 422, "invalid_curriculum")

    def test_ends_where_nobody_reads_on(self) -> None:
        told = {"format": "lode-curriculum/1", "topics": [1] * (staging.MAX_PROBLEMS + 5)}
        body = problem(Caller().post(IMPORT, told), 422, "invalid_curriculum")
        assert len(body["errors"]) == staging.MAX_PROBLEMS
        assert "and perhaps more" in body["detail"]

    def test_without_a_bundle_or_with_too_much(self, monkeypatch: pytest.MonkeyPatch) -> None:
        problem(Caller()("POST", IMPORT), 400, "bundle_expected")
        problem(Caller()("POST", IMPORT, raw=b"a", content_type="text/csv"), 415, "unsupported_media_type")
        problem(Caller().post(f"{IMPORT}?dry=1", KEPT), 400, "unknown_parameter")
        monkeypatch.setattr(views, "MAX_BUNDLE_BYTES", 100)
        problem(Caller().post(IMPORT, KEPT), 413, "body_too_large")

    def test_needs_the_scope_author(self) -> None:
        call = Caller(scopes=("retrieve", "write"))
        problem(call.post(IMPORT, KEPT), 403, "scope_required")
        problem(call.get(EXPORT), 403, "scope_required")


class TestABoundKey:
    def test_imports_into_its_topics(self) -> None:
        make_topic(slug="t")
        assert read(Caller(topics=("t",)).post(IMPORT, KEPT))["changed"] == 1

    def test_imports_into_no_other(self) -> None:
        make_topic(slug="u")
        other = make_entry(topic=make_topic(slug="x"))
        call = Caller(topics=("u",))
        ends = {"source": {"id": str(other.pk)}, "target": {"topic": "x", "concept": "a"}, "type": "related"}
        told = {
            **KEPT,
            "entries": [entry("a"), entry("b", topic="u", id=str(other.pk))],
            "edges": [ends],
        }
        body = problem(call.post(IMPORT, told), 422, "invalid_curriculum")
        assert {(error["pointer"], error["code"]) for error in body["errors"]} == {
            ("/topics/0/slug", "topic_not_bound"),
            ("/entries/0/topic", "topic_not_bound"),
            ("/entries/1/id", "id_taken"),
            ("/edges/0/source/id", "unknown_entry"),
            ("/edges/0/target/topic", "topic_not_bound"),
        }

    def test_is_told_the_same_whether_another_topic_exists(self) -> None:
        make_topic(slug="u")
        call = Caller(topics=("u",))
        before = problem(call.post(IMPORT, KEPT), 422, "invalid_curriculum")
        imported(bundle(**WHOLE))
        after = problem(call.post(IMPORT, KEPT), 422, "invalid_curriculum")
        assert after["errors"] == before["errors"]

    def test_exports_what_belongs_to_its_topics(self) -> None:
        imported(
            bundle(
                topics=[{"slug": slug, "title": slug} for slug in "tuv"],
                concepts=[concept("a"), concept("b")],
                entries=[entry("a"), entry("b"), entry("a", topic="u"), entry("a", topic="v")],
                edges=[needs("a", "b")],
            )
        )
        found = json.loads(exported_to(Caller(topics=("t", "u")))[0])
        assert [row["topic"] for row in found["entries"]] == ["t", "t", "u"]
        problem(Caller(topics=("t", "u")).get(f"{EXPORT}?topic=v"), 404, "not_found")
        problem(Caller(topics=("t", "u")).get(f"{EXPORT}?topic=nowhere"), 404, "not_found")


class TestExport:
    @pytest.mark.parametrize("form", list(Format))
    def test_is_what_the_command_writes(self, form: Format) -> None:
        imported(bundle(**WHOLE))
        made, answer = exported_to(Caller(), f"?format={form}", accept=f"application/{form}")
        assert answer["Content-Type"] == f"application/{form}"
        assert answer["Content-Disposition"] == f'attachment; filename="curriculum.{form}"'
        assert made == exported(form)

    def test_of_one_topic(self) -> None:
        imported(*demo())
        made, _ = exported_to(Caller(), "?topic=cryptography")
        assert made == exported(Format.JSON, ["cryptography"])

    def test_refuses_what_it_does_not_know(self) -> None:
        call = Caller()
        problem(call.get(f"{EXPORT}?format=xml", accept="application/zip"), 422, "invalid_choice", "?format")
        problem(call.get(f"{EXPORT}?topics=a"), 400, "unknown_parameter")
