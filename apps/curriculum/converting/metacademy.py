"""The shape of Metacademy: concepts with a summary, goals and questions; prerequisites with a reason; links.

A folder holds ``concepts.json`` (tag, id, title, summary, goals, questions), ``prereq_edges.json``
(dependent, prereq, reason) and, where there are links, ``see_also.json`` (src, dst, line). Everything comes
under one topic. Tags are written with ``_`` and with ``-`` there; as slugs both are one. Texts keep their
Textile and LaTeX. A concept without an id is the format's own example.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from apps.curriculum.converting.conversion import Conversion, LeftOut, load_rows
from apps.rules.slugs import slugify
from apps.rules.words import EdgeType

TOPIC = {"slug": "metacademy", "title": "Metacademy"}

_Row = Mapping[str, Any]


def convert(folder: Path) -> Conversion:
    """The bundle of a folder. Raises UnfitFolderError where it is not of this shape."""
    concepts = load_rows(folder / "concepts.json", "tag", "title", "summary", "goals", "questions")
    needs = load_rows(folder / "prereq_edges.json", "dependent", "prereq", "reason")
    links = folder / "see_also.json"
    related = load_rows(links, "src", "dst", "line") if links.exists() else []
    return _Converter().converted(concepts, needs, related)


class _Converter:
    """One conversion: the concepts by slug, those that teach something, and what is left out so far."""

    def __init__(self) -> None:
        self.concepts: dict[str, _Row] = {}
        self.entries: dict[str, _Row] = {}
        self.edges: dict[tuple[str, str, str], _Row] = {}
        self.left_out: list[LeftOut] = []

    def converted(
        self, concepts: Sequence[_Row], needs: Sequence[_Row], related: Sequence[_Row]
    ) -> Conversion:
        for row in concepts:
            self._add_concept(row)
        for row in needs:
            self._add_edge(EdgeType.PREREQUISITE, row["dependent"], row["prereq"], row["reason"])
        for row in related:
            self._add_edge(EdgeType.RELATED, row["src"], row["dst"], row["line"].lstrip("* "))
        lists: dict[str, list[_Row]] = {
            "topics": [TOPIC],
            "concepts": [*self.concepts.values()],
            "entries": [*self.entries.values()],
            "edges": [*self.edges.values()],
        }
        return Conversion(lists, self.left_out)

    def _add_concept(self, row: _Row) -> None:
        slug, what = slugify(row["tag"]), f"concept {row['tag']}"
        if not row.get("id"):
            self._leave_out(what, "it has no id: the example of the format")
        elif slug is None or slug in self.concepts:
            self._leave_out(what, "its tag gives no slug of its own")
        else:
            title = row["title"] if row["title"].strip() else row["tag"]
            self.concepts[slug] = {"slug": slug, "title": title}
            self._add_entry(slug, title, row)

    def _add_entry(self, slug: str, title: str, row: _Row) -> None:
        """What is taught: the summary, or the goals where there is none."""
        texts = [text for text in (row["summary"], row["goals"], row["questions"]) if text.strip()]
        if not (row["summary"].strip() or row["goals"].strip()):
            self._leave_out(f"entry {row['tag']}", "it has neither a summary nor goals")
            return
        self.entries[slug] = {
            "topic": TOPIC["slug"],
            "concept": slug,
            "title": title,
            "instruction": texts[0],
            "detail": "\n\n".join(texts[1:]),
        }

    def _add_edge(self, kind: EdgeType, source: str, target: str, why: str) -> None:
        what, ends = f"{kind} {source} -> {target}", (slugify(source), slugify(target))
        reasons = [*self._unresolved(source), *self._unresolved(target)]
        if reasons:
            self._leave_out(what, "; ".join(reasons))
        elif ends[0] == ends[1]:
            self._leave_out(what, "it joins a concept to itself")
        elif (kind, *ends) in self.edges:
            self._leave_out(what, "it stands there already")
        else:
            named = [{"topic": TOPIC["slug"], "concept": slug} for slug in ends]
            self.edges[kind, str(ends[0]), str(ends[1])] = {
                "source": named[0], "target": named[1], "type": kind.value, "rationale": why,
            }  # fmt: skip

    def _unresolved(self, tag: str) -> Iterator[str]:
        slug = slugify(tag)
        if slug not in self.concepts:
            yield f"there is no concept {tag!r}"
        elif slug not in self.entries:
            yield f"nothing teaches {tag!r}"

    def _leave_out(self, what: str, why: str) -> None:
        self.left_out.append(LeftOut(what, why))
