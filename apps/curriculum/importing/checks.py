"""What only shows once every row stands beside the others and the stored ones: each with a word on what to do."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db import connection

from apps.core.sql import statements
from apps.curriculum.bundle.records import BundleProblem, Kind
from apps.curriculum.importing.nearest import Names
from apps.curriculum.importing.staging import SQL_FOLDER, Stage
from apps.rules.confidence import rounded
from apps.rules.cycles import added_cycles
from apps.rules.dials import DialValues
from apps.rules.scopes import PUBLIC, TUTOR

_SQL = statements(SQL_FOLDER / "checks.sql")
_TABLES = {
    Kind.TOPIC: "import_topic",
    Kind.CONCEPT: "import_concept",
    Kind.ENTRY: "import_entry",
    Kind.EDGE: "import_edge",
}
_PLACE = (
    "SELECT found.*, placed.file, placed.row FROM ({found}) found JOIN {table} placed USING (n) ORDER BY n"
)
_TWICE = "this row is the same as {first}; keep one of them"
_NEW = "a new {what} needs one; write it, or correct what says which row is meant"


@dataclass(frozen=True, slots=True)
class Check:
    """One statement of ``checks.sql`` whose every row is a problem: its code, the field (and part), the words.

    The words are filled from the row; ``{first}`` is the place of the row that came before.
    """

    kind: Kind
    statement: str
    code: str
    field: str
    words: str
    part: str = ""


_ANOTHERS_ID = (
    "this id belongs to another entry than the one that the row names; leave the id out, or correct the row"
)
_NO_ENTRY = "there is no entry {id}, in the files or stored; correct it, or name it by its concept"
_NOT_BOUND = "this key is bound to the topics {bound}; take the row out"
_BINDING = (
    Check(Kind.TOPIC, "topic_not_bound", "topic_not_bound", "slug", _NOT_BOUND),
    Check(Kind.ENTRY, "entry_not_bound", "topic_not_bound", "topic", _NOT_BOUND),
    Check(Kind.ENTRY, "id_not_bound", "id_taken", "id", _ANOTHERS_ID),
    Check(Kind.EDGE, "source_not_bound", "topic_not_bound", "source", _NOT_BOUND, "topic"),
    Check(Kind.EDGE, "target_not_bound", "topic_not_bound", "target", _NOT_BOUND, "topic"),
    Check(Kind.EDGE, "source_id_not_bound", "unknown_entry", "source", _NO_ENTRY, "id"),
    Check(Kind.EDGE, "target_id_not_bound", "unknown_entry", "target", _NO_ENTRY, "id"),
)
_CHECKS = (
    Check(Kind.TOPIC, "topic_twice", "duplicate", "slug", _TWICE),
    Check(Kind.TOPIC, "topic_without_title", "required", "title", _NEW.format(what="topic")),
    Check(Kind.CONCEPT, "concept_twice", "duplicate", "slug", _TWICE),
    Check(Kind.CONCEPT, "concept_without_title", "required", "title", _NEW.format(what="concept")),
    Check(
        Kind.CONCEPT, "name_claimed_twice", "name_taken", "",
        "the concept {owner!r} of this import has the name {name!r} too; names of all concepts are one namespace",
    ),
    Check(
        Kind.CONCEPT, "name_taken", "name_taken", "",
        "{name!r} is a name of the concept {owner!r}; names of all concepts are one namespace",
    ),
    Check(Kind.ENTRY, "id_twice", "duplicate", "id", "this id is that of {first} too; keep one of them"),
    Check(
        Kind.ENTRY, "id_of_another", "id_taken", "id", _ANOTHERS_ID
    ),
    Check(
        Kind.ENTRY, "id_without_its_concept", "concept_left_out", "concept",
        "the entry of this id stands under {concept!r}; write that, or leave the id out for a new entry",
    ),
    Check(
        Kind.ENTRY, "moved_scope", "fixed", "scope",
        "the entry of this id has the scope {scope!r} and keeps it; leave the id out for a new entry",
    ),
    Check(
        Kind.ENTRY, "moved_topic", "fixed", "topic",
        "the entry of this id has the topic {topic!r} and keeps it; leave the id out for a new entry",
    ),
    Check(Kind.ENTRY, "entry_without_topic", "required", "topic", "an entry of scope public has a topic; write it"),
    Check(Kind.ENTRY, "entry_without_title", "required", "title", _NEW.format(what="entry")),
    Check(Kind.ENTRY, "entry_without_instruction", "required", "instruction", _NEW.format(what="entry")),
    Check(
        Kind.ENTRY, "visual_without_drawing", "scope_combination", "visual",
        "an entry of scope visual has a drawing; write its SVG",
    ),
    Check(
        Kind.ENTRY, "archived_entry", "archived", "maturity",
        "this is the archived entry {entry}, which an import leaves as it is; restore it first, or take the row out",
    ),
    Check(Kind.ENTRY, "entry_twice", "duplicate", "concept", _TWICE),
    Check(
        Kind.ENTRY, "identity_taken", "exists", "concept",
        "this would make the row the same as the stored entry {entry}; correct its concept or text",
    ),
    Check(Kind.EDGE, "edge_to_itself", "self_edge", "target", "an edge joins two different entries; correct an end"),
    Check(Kind.EDGE, "edge_twice", "duplicate", "type", _TWICE),
)  # fmt: skip


def binding_problems(stage: Stage, topics: Sequence[str]) -> Iterator[BundleProblem]:
    """Rows that a key bound to ``topics`` (slugs; none means all) may not write.

    They are told alone: what the other checks say of rows that the key may not see is not for it.
    """
    bound = {"bound": list(topics)}
    for check in _BINDING if topics else ():
        for facts in _found(stage, check, bound):
            yield _problem(check, {**facts, "bound": ", ".join(topics)})


def problems(stage: Stage, dials: DialValues) -> Iterator[BundleProblem]:
    """Everything that speaks against applying what is staged and matched."""
    known = _Known()
    for check in _CHECKS:
        for facts in _found(stage, check):
            yield _problem(check, facts)
    yield from _unknown_names(stage, known)
    yield from _unknown_ends(stage, known)
    yield from _cycles(stage, dials)


def _problem(check: Check, facts: Mapping[str, Any]) -> BundleProblem:
    path = filter(None, [check.field or facts["field"], check.part])
    problem: BundleProblem = facts["place"].problem(check.code, check.words.format_map(facts), *path)
    return problem


def _found(stage: Stage, check: Check, params: Mapping[str, Any] | None = None) -> Iterator[dict[str, Any]]:
    return _facts(stage, check.kind, check.statement, params)


def _facts(
    stage: Stage, kind: Kind, statement: str, params: Mapping[str, Any] | None = None
) -> Iterator[dict[str, Any]]:
    """The rows of one check as facts, each with its ``place``."""
    with connection.cursor() as cursor:
        cursor.execute(_PLACE.format(found=_SQL[statement].text, table=_TABLES[kind]), params)
        names = [column.name for column in cursor.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    for facts in rows:
        facts["place"] = stage.place(kind, facts["file"], facts["row"])
        if "first_row" in facts:
            facts["first"] = stage.place(kind, facts["first_file"], facts["first_row"])
        yield facts


class _Known:
    """The names that there will be after the import, read when the first unknown one asks for the nearest."""

    @cached_property
    def topics(self) -> Names:
        return Names(_column("topic_slugs"))

    @cached_property
    def concepts(self) -> Names:
        return Names(_column("concept_names"))


def _column(statement: str) -> list[str]:
    return [value for (value,) in _rows(statement, {})]


def _unknown(what: str, name: str, names: Names) -> str:
    near = names.nearest(name)
    hint = f"did you mean {near!r}?" if near else "add it to the import, or correct it"
    return f"there is no {what} {name!r}; {hint}"


def _unknown_names(stage: Stage, known: _Known) -> Iterator[BundleProblem]:
    for facts in _facts(stage, Kind.ENTRY, "unknown_topic"):
        words = _unknown("topic", facts["topic"], known.topics)
        yield facts["place"].problem("unknown_topic", words, "topic")
    for facts in _facts(stage, Kind.ENTRY, "unknown_concept"):
        words = _unknown("concept", facts["name"], known.concepts)
        yield facts["place"].problem("unknown_concept", words, "concept")


def _unknown_ends(stage: Stage, known: _Known) -> Iterator[BundleProblem]:
    for facts in _facts(stage, Kind.EDGE, "unknown_end"):
        code, field, words = _unknown_end(facts, known)
        yield facts["place"].problem(code, words, facts["side"], field)


def _unknown_end(facts: Mapping[str, Any], known: _Known) -> tuple[str, str, str]:
    if facts["id"] is not None:
        return "unknown_entry", "id", _NO_ENTRY.format(id=facts["id"])
    if not facts["topic_known"]:
        return "unknown_topic", "topic", _unknown("topic", facts["topic"], known.topics)
    if facts["scope"] != TUTOR and facts["concept_slug"] is None:
        return "unknown_concept", "concept", _unknown("concept", facts["name"], known.concepts)
    where = f" in the topic {facts['topic']!r}" if facts["scope"] == PUBLIC else ""
    words = f"no {facts['scope']} entry{where} teaches {facts['name']!r}; add the entry, or correct the end"
    return "unknown_entry", "concept", words


def _cycles(stage: Stage, dials: DialValues) -> Iterator[BundleProblem]:
    """The prerequisite cycles that the import adds, each at one of its edges, with its path (rules.md 10)."""
    floor = {"floor": rounded(dials.edge_walk_min_confidence)}
    rows = _rows("added_prerequisites", floor)
    added = {(source, target): stage.place(Kind.EDGE, file, row) for source, target, file, row in rows}
    cycles = list(added_cycles(_rows("kept_prerequisites", floor), added)) if added else []
    labels = dict(_rows("labels", {"ids": sorted({node for cycle in cycles for node in cycle})}))
    for cycle in cycles:
        path = " needs ".join(labels[node] for node in cycle)
        words = f"this prerequisite closes a cycle: {path}; remove one of these edges"
        yield added[cycle[0], cycle[1]].problem("cycle", words, "target")


def _rows(statement: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(_SQL[statement].text, params)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows
