"""Exporting: the same bytes after one import, whatever the texts are (curriculum.md)."""

import io
import json
import zipfile
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.catalog.models import ConceptName
from apps.core.errors import Missing
from apps.curriculum.bundle.sources import of_bytes
from apps.curriculum.bundle.writing import Format
from apps.entries.models import Entry
from apps.rules.slugs import slugify
from tests import real_data
from tests.curriculum.bundles import (
    WHOLE,
    bundle,
    concept,
    demo,
    entry,
    exported,
    exported_after,
    imported,
    needs,
)
from tests.factories import NOW, make_concept, make_edge, make_entry, make_learner, make_topic

pytestmark = pytest.mark.django_db

FORMATS = pytest.mark.parametrize("form", list(Format))
DRAWING = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2"><path d="M0 0h2"/><text>é &lt; "</text></svg>'
)

NASTY = [
    "=1+1", "+1", "-1", "@SUM(A1)", "'=1", "''=1", "\t=1", "\r", "\n", "\r\n", "=\r\n", "＝1", "－1",
    "a,b;c\td", '"', '""', '"a"', "'", "a\rb", "a\nb", "a\r\nb\r\n", "\ufeffa", "a\ufeff", "|", "a|b", "\\", "a\\", "\\|",
    "a\\|b", "a\\\\|", "$\\frac{1}{2}$", "\\n", "<script>alert(1)</script>", "&amp;", "é", "e\u0301", "日本語", "🦉",
    "\u202eabc", "\u2028", "\u0085", "\x7f", "\x1f", "\x01", " a ", "a" * 5000, "null", "true", "1e5", "[]", "{}",
]  # fmt: skip
texts = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30),
    st.lists(st.sampled_from([*NASTY[:40], "x", " "]), min_size=1, max_size=4).map("".join),
)
names = texts.filter(lambda text: bool(text.strip()) and len(text) <= 300)
shares = st.integers(0, 10**6).map(lambda n: n / 10**6)


def again(form: Format, made: bytes) -> bytes:
    return exported_after(form, of_bytes(made, f"bundle.{form}"))


@st.composite
def bundles(draw: st.DrawFn) -> dict[str, Any]:
    """A topic with a few concepts and entries of every scope, and edges among them."""
    slugs = draw(st.lists(names.map(slugify).filter(bool), min_size=2, max_size=4, unique=True))
    aliases = draw(st.lists(names, max_size=6, unique_by=slugify))
    free = [alias for alias in aliases if slugify(alias) and slugify(alias) not in slugs]
    text = {"title": names, "instruction": texts.filter(lambda given: bool(given.strip())), "detail": texts}
    worth = {"confidence": shares, "importance": st.none() | shares.map(lambda share: round(share, 3))}
    fields = st.fixed_dictionaries({**text, **worth, "maturity": st.sampled_from(["candidate", "archived"])})
    entries = [{"topic": "t", "concept": slug, **draw(fields)} for slug in slugs]
    entries += [
        {"topic": "t", "concept": slugs[0], "scope": "visual", "visual": DRAWING, **draw(fields)},
        {"topic": None, "concept": slugs[1], "scope": "tutor", **draw(fields)},
        {"topic": "t", "concept": None, **draw(fields), "id": str(draw(st.uuids()))},
    ]
    ends = [{"topic": "t", "concept": slug} for slug in slugs[:2]] + [{"id": entries[-1]["id"]}]
    edges = [
        {"source": source, "target": target, "type": "related", "condition": draw(texts), "rationale": draw(texts),
         "confidence": draw(shares)}
        for source, target in pairwise(ends)
    ]  # fmt: skip
    return {
        "topics": [{"slug": "t", "title": draw(names), "description": draw(texts)}],
        "concepts": [
            {"slug": slug, "title": draw(names), "definition": draw(texts), "aliases": free if slug == slugs[0] else []}
            for slug in slugs
        ],
        "entries": entries,
        "edges": edges,
    }  # fmt: skip


def _texts(rows: list[dict[str, Any]]) -> list[list[Any]]:
    told = ("title", "instruction", "detail", "definition", "condition", "rationale", "confidence")
    return sorted([[row[name] for name in told if name in row] for row in rows], key=repr)


def blns() -> list[str]:
    """The strings that break software, as far as a database can hold them."""
    found: list[str] = real_data.load("blns/blns.json")
    return [text for text in found if text.strip() and "\0" not in text]


class TestRoundTrip:
    @FORMATS
    def test_of_the_demo(self, form: Format) -> None:
        made = exported_after(form, *demo())
        assert again(form, made) == made

    def test_the_two_forms_hold_the_same(self) -> None:
        as_json = exported_after(Format.JSON, *demo())
        as_zip = exported_after(Format.ZIP, of_bytes(as_json, "demo.json"))
        assert exported_after(Format.JSON, of_bytes(as_zip, "demo.zip")) == as_json

    @given(sections=bundles())
    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
    def test_of_odd_but_legal_texts(self, sections: dict[str, Any]) -> None:
        as_json = exported_after(Format.JSON, bundle(**sections))
        as_zip = exported_after(Format.ZIP, of_bytes(as_json, "bundle.json"))
        assert again(Format.JSON, as_json) == as_json
        assert again(Format.ZIP, as_zip) == as_zip
        assert exported_after(Format.JSON, of_bytes(as_zip, "bundle.zip")) == as_json
        for kind in ("entries", "edges", "concepts"):
            assert _texts(json.loads(as_json)[kind]) == _texts(sections[kind])

    @FORMATS
    def test_of_the_strings_that_break_software(self, form: Format) -> None:
        entries = [
            entry(None, title=text[:300], instruction=text, detail=f"{number}\r\n{text}")
            for number, text in enumerate(blns())
        ]
        made = exported_after(form, bundle(topics=[{"slug": "t", "title": "T"}], entries=entries))
        assert again(form, made) == made
        with_texts = imported(of_bytes(made, "blns"))
        assert with_texts.created == len(entries) + 1
        stored = set(Entry.objects.values_list("instruction", flat=True))
        assert stored == set(blns())


class TestWhatIsExported:
    def test_stored_values_of_all_that_is_current(self) -> None:
        imported(bundle(**WHOLE))
        Entry.objects.filter(concept_slug="b").update(
            maturity="archived", archived_at=NOW, confidence=Decimal("0.123456")
        )
        make_entry(visibility_scope=f"student:{make_learner().external_id}")
        make_entry(topic=Entry.objects.get(concept_slug="a").topic, concept_slug="c", superseded_at=NOW)
        found = json.loads(exported(Format.JSON))
        assert [(row["concept"], row["maturity"], row["confidence"]) for row in found["entries"]] == [
            ("a", "candidate", 0.8),
            ("b", "archived", 0.123456),
            ("ask-why", "candidate", 0.8),
        ]
        assert {row["id"] for row in found["entries"]} <= {
            str(key) for key in Entry.objects.values_list("pk", flat=True)
        }
        assert found["edges"][0]["source"] == {"topic": "t", "concept": "a"}

    def test_a_fact_that_is_kept_under_a_key_is_a_memory_and_no_curriculum(self) -> None:
        make_entry(fact_key="timezone")
        assert json.loads(exported(Format.JSON))["entries"] == []

    def test_an_edge_to_what_is_not_exported_stays_out(self) -> None:
        entry = make_entry()
        make_edge(source=entry, target=make_entry(visibility_scope=f"student:{make_learner().external_id}"))
        make_edge(source=entry, target=make_entry(superseded_at=NOW))
        assert json.loads(exported(Format.JSON))["edges"] == []

    def test_an_alias_that_its_writing_does_not_lead_to_is_written_as_its_slug(self) -> None:
        ConceptName.objects.create(concept=make_concept(slug="a"), slug="old-a", name="The A of old")
        made = exported(Format.JSON)
        assert json.loads(made)["concepts"][0]["aliases"] == ["old-a"]

    def test_an_empty_database_gives_a_bundle_that_imports(self) -> None:
        for form in Format:
            assert imported(of_bytes(exported(form), "empty")).created == 0

    def test_a_cell_that_a_spreadsheet_would_run_is_neutralised(self) -> None:
        imported(bundle(**{**WHOLE, "entries": [entry("a", title="=cmd()"), entry("b")], "edges": []}))
        with zipfile.ZipFile(io.BytesIO(exported(Format.ZIP))) as archive:
            assert archive.namelist() == ["topics.csv", "concepts.csv", "entries.csv", "edges.csv"]
            assert "'=cmd()" in archive.read("entries.csv").decode()


class TestOneTopic:
    def test_has_its_public_rows_what_came_from_it_their_concepts_and_edges_within(self) -> None:
        other, concepts = {"slug": "u", "title": "U"}, [concept(slug) for slug in "abcdef"]
        entries = [
            entry("a"),
            entry("b"),
            entry("c", topic="u"),
            entry("ask", scope="tutor"),
            entry("tell", scope="tutor", topic=None),
            entry("d", scope="visual", visual=DRAWING),
            entry("e", scope="visual", visual=DRAWING, topic="u"),
        ]
        far = {
            "source": {"topic": "t", "concept": "a"},
            "target": {"topic": "u", "concept": "c"},
            "type": "related",
        }
        edges = [needs("a", "b"), far]
        imported(
            bundle(
                topics=[{"slug": "t", "title": "T"}, other], concepts=concepts, entries=entries, edges=edges
            )
        )
        found = json.loads(exported(Format.JSON, ["t"]))
        assert [row["slug"] for row in found["topics"]] == ["t"]
        assert [row["slug"] for row in found["concepts"]] == ["a", "b", "d"]
        assert [row["concept"] for row in found["entries"]] == ["a", "b", "ask", "d"]
        assert [row["target"] for row in found["edges"]] == [{"topic": "t", "concept": "b"}]

    @FORMATS
    def test_round_trips(self, form: Format) -> None:
        made = exported_after(form, *demo(), topics=["web-security"])
        assert again(form, made) == made

    def test_that_does_not_exist_is_refused(self) -> None:
        with pytest.raises(Missing):
            exported(Format.JSON, ["nowhere"])


class TestTheCommand:
    def test_writes_what_the_name_of_the_file_asks_for(self, tmp_path: Any) -> None:
        make_topic(slug="t")
        for name in ("all.json", "all.zip"):
            call_command("export_curriculum", str(tmp_path / name))
        assert (tmp_path / "all.json").read_bytes() == exported(Format.JSON)
        assert (tmp_path / "all.zip").read_bytes() == exported(Format.ZIP)
        assert len(list(tmp_path.iterdir())) == 2

    def test_leaves_the_file_as_it_was_where_it_fails(self, tmp_path: Any) -> None:
        file = tmp_path / "all.json"
        file.write_text("before")
        with pytest.raises(CommandError, match="no topic 'nowhere'"):
            call_command("export_curriculum", str(file), "--topic", "nowhere")
        assert file.read_text() == "before"
        assert len(list(tmp_path.iterdir())) == 1
