"""What the files say, copied into tables of the running transaction: memory stays flat however long they are."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from django.db import connection

from apps.core.ids import uuid7
from apps.core.sql import statements
from apps.curriculum.bundle.fields import CheckedRecord, check
from apps.curriculum.bundle.records import BundleProblem, Kind, Place
from apps.curriculum.bundle.sources import Source
from apps.rules.scopes import TUTOR
from apps.rules.slugs import slugify

SQL_FOLDER = Path(__file__).parent.parent / "sql"
_SQL = statements(SQL_FOLDER / "staging.sql")
BATCH_ROWS = 1000
# Nobody reads more, and a hostile file could have millions.
MAX_PROBLEMS = 10_000

_PLACED = ("n", "file", "row", "bad")
_COLUMNS: dict[str, tuple[str, ...]] = {
    "import_topic": (*_PLACED, "slug", "title", "description", "archived"),
    "import_concept": (
        *_PLACED, "slug", "title", "definition", "status", "archived", "states_aliases",
    ),
    "import_name": ("n", "slug", "name", "is_alias"),
    "import_entry": (
        *_PLACED, "id", "new_id", "topic", "name", "scope", "title", "instruction", "detail", "visual",
        "stated", "maturity", "importance",
    ),
    "import_edge": (*_PLACED, "type", "provenance", "stated", "condition", "rationale"),
    "import_end": ("n", "side", "id", "scope", "topic", "name"),
}  # fmt: skip


class Stage:
    """The staging tables, with what they do not hold: the files' names, and the problems seen on the way."""

    def __init__(self) -> None:
        self.problems: list[BundleProblem] = []
        self._files: dict[tuple[str, bool], int] = {}
        self._rows: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self._count = 0

    def read(self, sources: Sequence[Source]) -> None:
        """Make the tables, and copy every sound record of ``sources`` into them, until there are too many problems."""
        _run("create")
        for source in sources:
            for item in source.records():
                if self.is_full:
                    return
                if isinstance(item, BundleProblem):
                    self.problems.append(item)
                elif (record := check(item, self.problems.append)) is not None:
                    self._add(record)
        for table in list(self._rows):
            self._flush(table)
        self.analyze()

    @property
    def is_full(self) -> bool:
        """Whether reading ended early, because more problems than anybody reads were found."""
        return len(self.problems) >= MAX_PROBLEMS

    def analyze(self) -> None:
        """Tell the planner what the tables hold, once they have been filled or matched."""
        _run("analyze")

    def drop(self) -> None:
        """Remove the tables; the end of the transaction would, but its owner may import again before."""
        _run("drop")

    def place(self, kind: Kind, file: int, row: int) -> Place:
        """Where a staged row came from."""
        name, in_sheet = list(self._files)[file]
        return Place(name, kind, row, in_sheet)

    def _add(self, record: CheckedRecord) -> None:
        place = record.place
        file = self._files.setdefault((place.file, place.in_sheet), len(self._files))
        self._count += 1
        placed = (self._count, file, place.row, list(record.bad))
        for table, row in _ROWS[place.kind](placed, record.values):
            self._rows[table].append(row)
            if len(self._rows[table]) >= BATCH_ROWS:
                self._flush(table)

    def _flush(self, table: str) -> None:
        columns = ", ".join(_COLUMNS[table])
        with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
            for row in self._rows.pop(table):
                copy.write_row(row)


_Rows = Iterable[tuple[str, tuple[Any, ...]]]
_Placed = tuple[int, int, int, list[str]]


def _run(name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_SQL[name].text)


def _topic_rows(placed: _Placed, values: Any) -> _Rows:
    yield "import_topic", (*placed, *(values[name] for name in _COLUMNS["import_topic"][4:]))


def _concept_rows(placed: _Placed, values: Any) -> _Rows:
    aliases, slug = values["aliases"], values["slug"]
    stored = [values[name] for name in _COLUMNS["import_concept"][4:-1]]
    yield "import_concept", (*placed, *stored, aliases is not None)
    if slug is not None:
        yield "import_name", (placed[0], slug, None, False)
        for alias, written in (aliases or {}).items():
            if alias != slug:
                yield "import_name", (placed[0], alias, written, True)


def _entry_rows(placed: _Placed, values: Any) -> _Rows:
    name = _as_name(values["scope"], values["concept"])
    yield "import_entry", (
        *placed, values["id"], values["id"] or uuid7(), values["topic"], name, values["scope"], values["title"],
        values["instruction"], values["detail"], values["visual"], values["confidence"], values["maturity"],
        values["importance"],
    )  # fmt: skip


def _edge_rows(placed: _Placed, values: Any) -> _Rows:
    yield "import_edge", (
        *placed, values["type"], values["provenance"], values["confidence"], values["condition"],
        values["rationale"],
    )  # fmt: skip
    for side in ("source", "target"):
        if (end := values[side]) is not None:
            name = _as_name(end["scope"], end["concept"])
            yield "import_end", (placed[0], side, end["id"], end["scope"], end["topic"], name)


def _as_name(scope: str | None, concept: str | None) -> str | None:
    """The normalised name to look a concept up by (rules.md 9, step 1); a tutor move's name is its own."""
    return concept if concept is None or scope == TUTOR else slugify(concept) or concept


_ROWS = {
    Kind.TOPIC: _topic_rows,
    Kind.CONCEPT: _concept_rows,
    Kind.ENTRY: _entry_rows,
    Kind.EDGE: _edge_rows,
}
