"""The prompt block of a retrieval, and its decision tree apart (rules.md 7).

Every stored text stands within one line that begins with our own words, so none can open a block or a line.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from apps.rules.dials import DialValues
from apps.rules.edges import Walked
from apps.rules.ranking import Advisory, Ranking
from apps.rules.words import EdgeType

TOPIC_HEADING = "## TOPIC MEMORY"
TUTOR_HEADING = "## TUTOR MEMORY"
STUDENT_HEADING = "## STUDENT PATTERNS"

_LABELS: dict[str, str] = {
    EdgeType.PREREQUISITE: "prereq:   ",
    EdgeType.FALLBACK: "fallback: ",
    EdgeType.LEADS_TO: "next:     ",
}
_UNCONDITIONAL = {EdgeType.PREREQUISITE}
# Joiners shape words of Persian, Hindi and emoji, and neither reorder nor hide text.
_KEPT_FORMAT_CHARS = frozenset("\u200c\u200d")
_NEUTRALISED = frozenset({"Cc", "Cf", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class Prompt:
    """A rendered retrieval: both texts, and the ids of the entries and edges that have a line in them."""

    text: str
    decision_tree: str
    entries: tuple[UUID, ...]
    edges: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Tree:
    """The lines under one walked advisory, its header first; no lines where no edge has one."""

    lines: tuple[str, ...]
    edges: tuple[int, ...]


def render(ranking: Ranking, dials: DialValues) -> Prompt:
    """The prompt of one retrieval; a block without rows is left out, and so is a tree without lines."""
    trees = [_tree(position, advisory, dials) for position, advisory in enumerate(ranking.topic, start=1)]
    topic = [
        line
        for advisory, tree in zip(ranking.topic, trees, strict=True)
        for line in (_row(advisory), *tree.lines)
    ]
    blocks = [
        (TOPIC_HEADING, topic),
        (TUTOR_HEADING, [_row(advisory) for advisory in ranking.tutor]),
        (STUDENT_HEADING, [_row(advisory) for advisory in ranking.student]),
    ]
    return Prompt(
        text="\n\n".join("\n".join([heading, *lines]) for heading, lines in blocks if lines),
        decision_tree="\n".join(line for tree in trees for line in tree.lines),
        entries=tuple(row.entry for row in (*ranking.topic, *ranking.tutor, *ranking.student)),
        edges=tuple(edge for tree in trees for edge in tree.edges),
    )


def neutralised(text: str) -> str:
    """`text` with every character that could start a line, or reorder or hide text, made a space."""
    if text.isprintable():  # none of them is printable; the check spares a look at every character
        return text
    return "".join(" " if _is_dangerous(char) else char for char in text)


def _is_dangerous(char: str) -> bool:
    return unicodedata.category(char) in _NEUTRALISED and char not in _KEPT_FORMAT_CHARS


def _row(advisory: Advisory) -> str:
    return f"- [{advisory.band}] {neutralised(advisory.title)}: {neutralised(advisory.instruction)}"


def _tree(position: int, advisory: Advisory, dials: DialValues) -> _Tree:
    edges = _shown(advisory.edges, dials.edge_lines_per_type)
    if not edges:
        return _Tree((), ())
    match_name = "top match" if position == 1 else f"match {position}"
    header = f"Graph edges (decision tree from {match_name}):"
    lines = (_edge_line(edge, dials.edge_line_clip_chars) for edge in edges)
    return _Tree((header, *lines), tuple(edge.edge for edge in edges))


def _shown(edges: Iterable[Walked], per_type: int) -> Sequence[Walked]:
    """The first `per_type` edges of each type that has lines, in the order of the walk."""
    of_type: Counter[str] = Counter()
    shown = []
    for edge in edges:
        if edge.type in _LABELS and of_type[edge.type] < per_type:
            of_type[edge.type] += 1
            shown.append(edge)
    return shown


def _edge_line(edge: Walked, limit: int) -> str:
    line = f"  {_LABELS[edge.type]}{neutralised(edge.target_instruction[:limit])}"
    condition = neutralised(edge.condition)
    if edge.type in _UNCONDITIONAL or not condition.strip():
        return line
    return f"{line} (when: {condition})"
