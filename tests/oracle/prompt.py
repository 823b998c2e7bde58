"""What the tutor reads (rules.md 5, clipping; rules.md 7, the prompt block)."""

import unicodedata
from dataclasses import dataclass

from tests.oracle.model import Advisory, Dials, Walked

ELLIPSIS = "…"
SENTENCE_ENDS = ".!?"
JOINERS = "\u200c\u200d"
LABELS = {"prerequisite": "  prereq:   ", "fallback": "  fallback: ", "leads_to": "  next:     "}


@dataclass(frozen=True, kw_only=True)
class Rendered:
    prompt: str
    decision_tree: str
    edges: tuple[int, ...]


def clip(text: str, limit: int) -> str:
    """Cut at the last sentence end in the second half of the limit, else at the last white space
    there, else at the limit; the last two with an ellipsis inside the limit.

    A sentence end is a full stop, exclamation or question mark with white space behind it. Position
    n (from 1) is in the second half where n > limit / 2; the character at the cut must stand there.
    """
    if len(text) <= limit:
        return text
    second_half = [n for n in range(limit, 0, -1) if n > limit / 2]
    for n in second_half:
        if text[n - 1] in SENTENCE_ENDS and text[n].isspace():
            return text[:n]
    for n in second_half:
        if text[n - 1].isspace():
            return text[: n - 1].rstrip() + ELLIPSIS
    return text[: limit - 1] + ELLIPSIS


def clean(text: str) -> str:
    """Every character of Cc, Zl, Zp and Cf (but the two joiners) becomes a space."""
    return "".join(" " if breaks_out(character) else character for character in text)


def breaks_out(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Zl", "Zp", "Cf") and character not in JOINERS


def render(
    topic_memory: tuple[Advisory, ...],
    tutor_memory: tuple[Advisory, ...],
    student_patterns: tuple[Advisory, ...],
    dials: Dials,
) -> Rendered:
    """The three blocks, the trees of the walked advisories on their own, and the edges with a line."""
    trees = [tree(number, advisory, dials) for number, advisory in enumerate(topic_memory, start=1)]
    topic_lines = [
        line
        for advisory, lines in zip(topic_memory, trees, strict=True)
        for line in (advisory_line(advisory), *lines)
    ]
    blocks = [
        block("## TOPIC MEMORY", topic_lines),
        block("## TUTOR MEMORY", [advisory_line(advisory) for advisory in tutor_memory]),
        block("## STUDENT PATTERNS", [advisory_line(advisory) for advisory in student_patterns]),
    ]
    return Rendered(
        prompt="\n\n".join(text for text in blocks if text),
        decision_tree="\n".join(line for lines in trees for line in lines),
        edges=tuple(
            walked.edge.id for advisory in topic_memory for walked in lined_edges(advisory.edges, dials)
        ),
    )


def block(heading: str, lines: list[str]) -> str:
    """A block without rows is left out."""
    return "\n".join([heading, *lines]) if lines else ""


def advisory_line(advisory: Advisory) -> str:
    return f"- [{advisory.band}] {clean(advisory.entry.title)}: {clean(advisory.instruction)}"


def tree(number: int, advisory: Advisory, dials: Dials) -> list[str]:
    """The header and edge lines under the n-th advisory; no lines, no header."""
    lines = [edge_line(walked, dials) for walked in lined_edges(advisory.edges, dials)]
    place = "top match" if number == 1 else f"match {number}"
    return [f"Graph edges (decision tree from {place}):", *lines] if lines else []


def lined_edges(edges: tuple[Walked, ...], dials: Dials) -> list[Walked]:
    """Prerequisite, fallback and leads_to only, the first few of each."""
    return [
        walked
        for edge_type in LABELS
        for walked in [w for w in edges if w.edge.type == edge_type][: dials.edge_lines_per_type]
    ]


def edge_line(walked: Walked, dials: Dials) -> str:
    """A prereq line carries no condition, the others only where there is one."""
    edge = walked.edge
    line = LABELS[edge.type] + clean(walked.target.instruction[: dials.edge_line_clip_chars])
    if edge.type == "prerequisite" or not edge.condition:
        return line
    return f"{line} (when: {clean(edge.condition)})"
