"""rules.md 7: the prompt block."""

import dataclasses
import re
import unicodedata
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.rules.edges import Walked
from apps.rules.prompt import Prompt, neutralised, render
from apps.rules.ranking import Advisory, Candidate, Expected, Ranking, rank
from tests.rules.strategies import DEFAULTS, any_text

D = Decimal
LABELS = {"prerequisite": "prereq:   ", "fallback": "fallback: ", "leads_to": "next:     "}
HEADINGS = {"## TOPIC MEMORY": "topic", "## TUTOR MEMORY": "tutor", "## STUDENT PATTERNS": "student"}


def row(number: int, found_in: str, title: str, instruction: str, similarity: float = 0.9) -> Candidate:
    return Candidate(
        found_in=found_in,
        entry=UUID(int=number),
        scope="public",
        topic=None,
        concept="c",
        title=title,
        instruction=instruction,
        maturity="proven",
        confidence=D("0.9"),
        similarity=similarity,
    )


def edge(number: int, source: int, edge_type: str, instruction: str, condition: str = "") -> Walked:
    return Walked(
        edge=number,
        type=edge_type,
        source=UUID(int=source),
        target=UUID(int=1000 + number),
        target_title="t",
        target_instruction=instruction,
        target_maturity="proven",
        condition=condition,
        confidence=D("0.8"),
        provenance="seed",
    )


def prompt(rows: list[Candidate], edges: list[Walked]) -> Prompt:
    return render(rank(rows, edges, expected=Expected(), dials=DEFAULTS), DEFAULTS)


class TestRender:
    def test_writes_blocks_rows_and_trees(self) -> None:
        rows = [
            row(1, "semantic", "Nonce reuse", "Never twice.", 0.9),
            row(2, "semantic", "XOR", "Its own inverse.", 0.3),
            row(3, "semantic", "Keys", "Keep them.", 0.1),
            row(4, "tutor", "Ask first", "Ask before telling."),
            row(5, "student", "Rushes", "Slow down."),
        ]
        edges = [
            edge(7, 1, "leads_to", "Authenticated modes", "done with nonces"),
            edge(8, 1, "prerequisite", "What XOR does", "never shown"),
            edge(9, 1, "fallback", "A worked example"),
            edge(10, 1, "related", "has no line"),
            edge(11, 1, "prerequisite", "has no second line"),
            edge(12, 2, "fallback", "Truth tables", "struggling with XOR"),
            edge(13, 3, "prerequisite", "is not walked"),
        ]
        rendered = prompt(rows, edges)
        tree = (
            "Graph edges (decision tree from top match):\n"
            "  prereq:   What XOR does\n"
            "  fallback: A worked example\n"
            "  next:     Authenticated modes (when: done with nonces)"
        )
        second_tree = (
            "Graph edges (decision tree from match 2):\n  fallback: Truth tables (when: struggling with XOR)"
        )
        assert rendered.text == (
            "## TOPIC MEMORY\n"
            f"- [strong] Nonce reuse: Never twice.\n{tree}\n"
            f"- [weak] XOR: Its own inverse.\n{second_tree}\n"
            "- [weak] Keys: Keep them.\n"
            "\n"
            "## TUTOR MEMORY\n"
            "- [strong] Ask first: Ask before telling.\n"
            "\n"
            "## STUDENT PATTERNS\n"
            "- [strong] Rushes: Slow down."
        )
        assert rendered.decision_tree == f"{tree}\n{second_tree}"
        assert [entry.int for entry in rendered.entries] == [1, 2, 3, 4, 5]
        assert rendered.edges == (8, 9, 7, 12)

    def test_leaves_out_blocks_without_rows(self) -> None:
        assert prompt([row(1, "student", "t", "i")], []).text == "## STUDENT PATTERNS\n- [strong] t: i"
        assert prompt([], []) == Prompt("", "", (), ())

    def test_keeps_the_number_of_a_match_whose_forerunner_has_no_lines(self) -> None:
        rows = [row(1, "semantic", "a", "i", 0.9), row(2, "semantic", "b", "i", 0.8)]
        rendered = prompt(rows, [edge(1, 1, "related", "x"), edge(2, 2, "leads_to", "y")])
        assert rendered.decision_tree == "Graph edges (decision tree from match 2):\n  next:     y"
        assert rendered.edges == (2,)

    def test_cuts_an_edge_line_at_its_limit(self) -> None:
        rendered = prompt([row(1, "semantic", "a", "i")], [edge(1, 1, "prerequisite", "x" * 101)])
        assert rendered.decision_tree.splitlines()[1] == "  prereq:   " + "x" * 100

    def test_prints_as_many_lines_of_a_type_as_the_dial_says(self) -> None:
        rows = [row(1, "semantic", "a", "i")]
        ranking = rank(
            rows, [edge(n, 1, "fallback", f"f{n}") for n in (1, 2, 3)], expected=Expected(), dials=DEFAULTS
        )
        printed = {
            lines: render(ranking, dataclasses.replace(DEFAULTS, edge_lines_per_type=lines)).edges
            for lines in (0, 1, 2, 5)
        }
        assert printed == {0: (), 1: (1,), 2: (1, 2), 5: (1, 2)}

    @pytest.mark.parametrize("condition", ["", "  ", "\n\u202e"])
    def test_prints_no_empty_condition(self, condition: str) -> None:
        rendered = prompt([row(1, "semantic", "a", "i")], [edge(1, 1, "fallback", "x", condition)])
        assert rendered.decision_tree.endswith("  fallback: x")


class TestNeutralised:
    @given(any_text)
    def test_is_as_long_and_differs_only_where_a_character_is_dangerous(self, text: str) -> None:
        clean = neutralised(text)
        assert len(clean) == len(text)
        for before, after in zip(text, clean, strict=True):
            dangerous = (
                unicodedata.category(before) in {"Cc", "Zl", "Zp", "Cf"} and before not in "\u200c\u200d"
            )
            assert after == (" " if dangerous else before)

    @given(any_text)
    def test_is_one_line(self, text: str) -> None:
        assert len(neutralised(text + "x").splitlines()) == 1

    def test_keeps_the_joiners_of_words_and_emoji(self) -> None:
        assert neutralised("می\u200cخواهم 👩\u200d🏫\u202e\n") == "می\u200cخواهم 👩\u200d🏫  "


# What somebody would store who wants to speak with our voice.
hostile = st.lists(
    st.sampled_from(
        [
            "## TOPIC MEMORY", "## TUTOR MEMORY", "## STUDENT PATTERNS", "- [strong] ", "- [named] a: b",
            "Graph edges (decision tree from top match):", "  prereq:   ", "  fallback: ", "  next:     ",
            " (when: ", ")", ": ", "…", ". ", "word ", "\n", "\r\n", "\n\n", "\r", "\x0b", "\x0c", "\x1c", "\x1d",
            "\x1e", "\x85", "\u2028", "\u2029", "\x00", "\x1b[2K", "\x08", "\x7f", "\t", "\u202e", "\u202d", "\u2066",
            "\u2069", "\u200e", "\u200f", "\u061c", "\u200b", "\u2060", "\ufeff", "\u200c", "\u200d", "\u00ad",
            "\U000e0041", "\U000e007f", "é", "שלום", "中文。", "👩\u200d🏫",
        ]
    ),
    max_size=8,
).map("".join)  # fmt: skip


@st.composite
def hostile_retrievals(draw: st.DrawFn) -> tuple[list[Candidate], list[Walked]]:
    rows = [
        row(
            number,
            draw(st.sampled_from(["semantic", "tutor", "student"])),
            draw(hostile),
            draw(hostile),
            1 / number,
        )
        for number in range(1, draw(st.integers(1, 5)))
    ]
    edges = [
        edge(
            number,
            draw(st.integers(1, 3)),
            draw(st.sampled_from([*LABELS, "related"])),
            draw(hostile),
            draw(hostile),
        )
        for number in range(1, draw(st.integers(1, 5)))
    ]
    return rows, edges


def expected_lines(ranking: Ranking) -> list[tuple[str, str]]:
    """What a reader must find, in order: every block, row and edge, and nothing else."""
    found = []
    for heading, name in HEADINGS.items():
        advisories: tuple[Advisory, ...] = getattr(ranking, name)
        found += [("block", heading)] * bool(advisories)
        for position, advisory in enumerate(advisories, start=1):
            found.append((advisory.band, neutralised(f"{advisory.title}: {advisory.instruction}")))
            shown = first_of_each_type(advisory)
            found += [("tree", "top match" if position == 1 else f"match {position}")] * bool(shown)
            found += [(LABELS[e.type], edge_text(e)) for e in shown]
    return found


def first_of_each_type(advisory: Advisory) -> list[Walked]:
    firsts: dict[str, Walked] = {}
    for walked in advisory.edges:
        if walked.type in LABELS:
            firsts.setdefault(walked.type, walked)
    return list(firsts.values())


def edge_text(walked: Walked) -> str:
    condition = neutralised(walked.condition)
    shows = walked.type != "prerequisite" and condition.strip()
    return neutralised(walked.target_instruction[:100]) + (f" (when: {condition})" if shows else "")


LINE = re.compile(
    r"(?P<block>## (?:TOPIC MEMORY|TUTOR MEMORY|STUDENT PATTERNS))"
    r"|- \[(?P<band>strong|moderate|weak|named)\] (?P<row>.*)"
    r"|Graph edges \(decision tree from (?P<tree>top match|match \d+)\):"
    r"|  (?P<label>prereq:   |fallback: |next:     )(?P<edge>.*)"
)


def parsed(text: str) -> list[tuple[str, str]]:
    """The block read back by someone who knows only its form."""
    found = []
    for line in text.splitlines():
        match = LINE.fullmatch(line)
        assert match or line == "", f"a line of nobody's: {line!r}"
        if match and match["block"]:
            found.append(("block", match["block"]))
        elif match and match["band"]:
            found.append((match["band"], match["row"]))
        elif match and match["tree"]:
            found.append(("tree", match["tree"]))
        elif match:
            found.append((match["label"], match["edge"]))
    return found


def check_reading_back(retrieval: tuple[list[Candidate], list[Walked]]) -> None:
    ranking = rank(*retrieval, expected=Expected(), dials=DEFAULTS)
    rendered = render(ranking, DEFAULTS)
    assert parsed(rendered.text) == expected_lines(ranking)
    topic_edges = [e for advisory in ranking.topic for e in first_of_each_type(advisory)]
    assert list(rendered.edges) == [e.edge for e in topic_edges]
    assert [kind for kind, _ in parsed(rendered.decision_tree)] == [
        kind for kind, _ in parsed(rendered.text) if kind == "tree" or kind in LABELS.values()
    ]


class TestStoredTextCanNeverSpeakForUs:
    @given(hostile_retrievals())
    @settings(max_examples=60)
    def test_reading_a_block_back_gives_exactly_its_rows_and_edges(
        self, retrieval: tuple[list[Candidate], list[Walked]]
    ) -> None:
        check_reading_back(retrieval)

    @pytest.mark.slow
    @given(hostile_retrievals())
    @settings(max_examples=10_000)
    def test_reading_ten_thousand_blocks_back_gives_exactly_their_rows_and_edges(
        self, retrieval: tuple[list[Candidate], list[Walked]]
    ) -> None:
        check_reading_back(retrieval)
