"""The demo curriculum as files: whole, sound and without filler. No database is asked."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from apps.rules.cycles import find_cycle
from apps.rules.dials import resolve
from apps.rules.scopes import is_learner_id
from apps.rules.slugs import is_slug, slugify
from apps.rules.words import EdgeType, Maturity, Provenance

Row = dict[str, Any]
Key = tuple[str, str]
Transition = tuple[Key, Key, str]

FOLDER = Path(__file__).resolve().parents[2] / "apps" / "curriculum" / "demo"
LEARNERS: Row = json.loads((FOLDER / "learners.json").read_text(encoding="utf-8"))
BUNDLES: dict[str, Row] = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(FOLDER.glob("*.json"))
    if path.stem != "learners"
}
TOPICS = {
    "cryptography",
    "digital-forensics",
    "network-security",
    "operating-systems",
    "social-engineering",
    "web-security",
}
DIALS = resolve({}, "local")
SVG = "{http://www.w3.org/2000/svg}"
SHAPES = {SVG + tag for tag in ("svg", "title", "g", "rect", "circle", "line", "path", "polygon", "text")}


def rows(kind: str) -> list[Row]:
    """All rows of one kind, in the order in which the files are read."""
    return [row for bundle in BUNDLES.values() for row in bundle[kind]]


def entries(scope: str) -> list[Row]:
    return [entry for entry in rows("entries") if entry["scope"] == scope]


def anchored() -> list[Row]:
    return [entry for entry in entries("public") if entry["concept"] is not None]


def key(end: Row) -> Key:
    return end["topic"], end["concept"]


def edge_key(edge: Row) -> Transition:
    return key(edge["source"]), key(edge["target"]), edge["type"]


def prerequisites() -> list[tuple[Key, Key]]:
    return [edge_key(edge)[:2] for edge in rows("edges") if edge["type"] == EdgeType.PREREQUISITE]


def repeated(texts: Iterable[Any]) -> list[Any]:
    return [text for text, count in Counter(texts).items() if count > 1]


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.?!]) ", text)


def turns() -> Iterator[tuple[int, Row, Row]]:
    """Every turn with the number of its session and the session itself."""
    for number, session in enumerate(LEARNERS["sessions"]):
        for turn in session["turns"]:
            yield number, session, turn


def test_every_bundle_is_of_the_format_and_holds_the_four_lists() -> None:
    assert len(BUNDLES) == 8
    for name, bundle in BUNDLES.items():
        assert set(bundle) == {"format", "topics", "concepts", "entries", "edges"}, name
        assert bundle["format"] == "lode-curriculum/1", name


@pytest.mark.parametrize("name", [*BUNDLES, "learners"])
def test_files_are_pretty_printed(name: str) -> None:
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    assert text == json.dumps(json.loads(text), ensure_ascii=False, indent=2) + "\n"


def test_the_course_has_the_promised_size() -> None:
    assert {topic["slug"] for topic in rows("topics")} == TOPICS
    assert len(entries("public")) >= 120
    assert len(entries("tutor")) == 40
    assert len(entries("visual")) == 10
    assert len(rows("edges")) >= 300
    assert set(Counter(edge["type"] for edge in rows("edges"))) == set(EdgeType)
    assert len([entry for entry in entries("public") if entry["topic"] == "cryptography"]) == 29
    assert len([edge for edge in rows("edges") if edge["source"]["topic"] == "cryptography"]) == 97


def test_learned_edges_are_left_to_the_sessions() -> None:
    assert {edge["provenance"] for edge in rows("edges")} == {Provenance.SEED, Provenance.ENRICHED}


def test_names_are_slugs_and_one_namespace_over_all_files() -> None:
    assert all(is_slug(row["slug"]) for row in [*rows("topics"), *rows("concepts")])
    assert all(is_slug(entry["concept"]) for entry in rows("entries") if entry["concept"] is not None)
    names = [name for row in rows("concepts") for name in [row["slug"], *map(slugify, row["aliases"])]]
    assert None not in names
    assert repeated([*names, *(entry["concept"] for entry in entries("tutor"))]) == []


def test_identities_are_unique() -> None:
    assert repeated(key(entry) for entry in anchored()) == []
    assert repeated(entry["concept"] for entry in entries("visual")) == []
    assert repeated(edge_key(edge) for edge in rows("edges")) == []
    assert [edge for edge in rows("edges") if key(edge["source"]) == key(edge["target"])] == []


def test_references_resolve() -> None:
    concepts = {row["slug"] for row in rows("concepts")}
    taught = {key(entry) for entry in anchored()}
    assert {entry["topic"] for entry in rows("entries")} - {None} <= TOPICS
    assert {entry["topic"] for entry in entries("public")} == TOPICS
    assert {entry["concept"] for entry in [*anchored(), *entries("visual")]} <= concepts
    assert {key(edge[end]) for edge in rows("edges") for end in ("source", "target")} <= taught
    assert concepts == {concept for _, concept in taught}


def test_prerequisites_have_no_cycle() -> None:
    assert find_cycle([], prerequisites()) is None


def test_an_edge_says_why_and_a_fallback_says_when() -> None:
    assert all(len(edge["rationale"]) >= 30 for edge in rows("edges"))
    fallbacks = [edge for edge in rows("edges") if edge["type"] == EdgeType.FALLBACK]
    assert [edge for edge in fallbacks if not edge["condition"]] == []
    unconditional = (EdgeType.PREREQUISITE, EdgeType.RELATED, EdgeType.SUPERSEDES)
    assert [edge for edge in rows("edges") if edge["condition"] and edge["type"] in unconditional] == []


def test_no_text_is_written_twice() -> None:
    assert repeated(entry["title"] for entry in rows("entries")) == []
    assert repeated(s for entry in rows("entries") for s in sentences(entry["instruction"])) == []
    assert repeated(row["definition"] for row in rows("concepts")) == []
    assert repeated(edge["rationale"] for edge in rows("edges")) == []


def test_entries_are_short_and_say_something() -> None:
    lengths = {entry["title"]: len(entry["instruction"]) for entry in rows("entries")}
    assert {title: n for title, n in lengths.items() if not 200 <= n <= 700} == {}
    assert [entry["title"] for entry in rows("entries") if len(entry["title"]) > 100] == []


def test_rows_stand_on_both_sides_of_every_floor() -> None:
    stored: dict[str, list[Any]] = defaultdict(list)
    for entry in entries("public"):
        initial = DIALS.entry_initial_confidence_seed
        stored[entry["maturity"] or Maturity.CANDIDATE].append(
            initial if entry["confidence"] is None else entry["confidence"]
        )
    floors = {
        Maturity.PROVEN: DIALS.retrieval_floor_proven,
        Maturity.PATTERN: DIALS.retrieval_floor_pattern,
        Maturity.CANDIDATE: DIALS.retrieval_floor_candidate,
    }
    for maturity, floor in floors.items():
        assert min(stored[maturity]) < floor <= max(stored[maturity]), maturity
    assert len(stored[Maturity.ARCHIVED]) == 1
    assert len(entries("public")) - len(anchored()) == 2


@pytest.mark.parametrize("visual", entries("visual"), ids=lambda entry: entry["concept"])
def test_a_drawing_is_plain_shapes_with_a_title(visual: Row) -> None:
    root = ET.fromstring(visual["visual"])  # noqa: S314 - a file of our own
    assert root.tag == SVG + "svg"
    assert root.get("viewBox")
    assert root[0].tag == SVG + "title"
    assert root[0].text
    for element in root.iter():
        assert element.tag in SHAPES
        names = set(element.attrib)
        assert not {name for name in names if name.startswith(("on", "{")) or name in ("style", "id", "href")}
        assert "url(" not in " ".join(element.attrib.values())


def test_only_drawings_carry_a_drawing() -> None:
    assert [
        entry["title"] for entry in rows("entries") if entry["visual"] and entry["scope"] != "visual"
    ] == []


def test_learners_and_their_patterns() -> None:
    assert len(LEARNERS["learners"]) == 3
    for learner in LEARNERS["learners"]:
        assert is_learner_id(learner["external_id"])
        assert 3 <= len(learner["patterns"]) <= 5
        assert all(is_slug(pattern["name"]) for pattern in learner["patterns"])
    patterns = [pattern for learner in LEARNERS["learners"] for pattern in learner["patterns"]]
    assert repeated(pattern["name"] for pattern in patterns) == []


def test_sessions_are_of_known_learners_and_topics_and_their_turns_count_up() -> None:
    learners = {learner["external_id"] for learner in LEARNERS["learners"]}
    assert len(LEARNERS["sessions"]) == 6
    assert {session["learner"] for session in LEARNERS["sessions"]} == learners
    topics = {session["topic"] for session in LEARNERS["sessions"]}
    assert topics == {"cryptography", "web-security", "social-engineering"}
    for session in LEARNERS["sessions"]:
        numbers = [turn["number"] for turn in session["turns"]]
        assert 4 <= len(numbers) <= 8
        assert numbers == list(range(1, len(numbers) + 1))


def test_turns_name_what_exists() -> None:
    concepts = {row["slug"] for row in rows("concepts")}
    taught = {key(entry) for entry in anchored()}
    for _, _, turn in turns():
        assert turn["taught_entry"] is None or key(turn["taught_entry"]) in taught
        assert set(turn["concepts"]) <= concepts
        assert turn["outcome"] in ("success", "failure", None)
        assert turn["strength"] is None or 0 < turn["strength"] <= 1


def test_a_struggle_quotes_the_learner() -> None:
    concepts = {row["slug"] for row in rows("concepts")}
    struggles = [(turn, struggle) for _, _, turn in turns() for struggle in turn["struggles"]]
    assert struggles
    for turn, struggle in struggles:
        assert {struggle["concept"], struggle["missing"]} <= concepts
        assert struggle["quote"] in turn["student_message"]


def observed_transitions() -> dict[Transition, set[int]]:
    """The sessions in which rules.md 10, step 1, would observe each edge."""
    kinds = {("success", "success"): EdgeType.LEADS_TO, ("failure", "success"): EdgeType.FALLBACK}
    seen: dict[Transition, set[int]] = defaultdict(set)
    for number, session in enumerate(LEARNERS["sessions"]):
        for one, two in pairwise(session["turns"]):
            kind = kinds.get((one["outcome"], two["outcome"]))
            ends = one["taught_entry"], two["taught_entry"]
            if kind and all(ends) and ends[0] != ends[1]:
                seen[key(ends[0]), key(ends[1]), kind].add(number)
    return seen


def proposed_prerequisites() -> set[tuple[Key, Key]]:
    """What rules.md 10, step 2, would propose: the public entry of the session's topic, else the only one."""
    by_concept: dict[str, list[Key]] = defaultdict(list)
    for entry in anchored():
        by_concept[entry["concept"]].append(key(entry))

    def entry_of(concept: str, topic: str) -> Key:
        return (topic, concept) if (topic, concept) in by_concept[concept] else by_concept[concept][0]

    return {
        (entry_of(struggle["concept"], session["topic"]), entry_of(struggle["missing"], session["topic"]))
        for _, session, turn in turns()
        for struggle in turn["struggles"]
    }


def test_sessions_teach_new_edges_and_corroborate_at_least_two() -> None:
    authored = {edge_key(edge) for edge in rows("edges")}
    new = {edge: seen for edge, seen in observed_transitions().items() if edge not in authored}
    enough = DIALS.edge_corroboration_hits
    assert {kind for _, _, kind in new} == {EdgeType.LEADS_TO, EdgeType.FALLBACK}
    assert len([edge for edge, seen in new.items() if len(seen) >= enough]) >= 2
    assert len([edge for edge, seen in new.items() if len(seen) < enough]) >= 2


def test_sessions_propose_new_prerequisites_that_close_no_cycle() -> None:
    assert proposed_prerequisites() - set(prerequisites())
    assert find_cycle(prerequisites(), sorted(proposed_prerequisites())) is None
