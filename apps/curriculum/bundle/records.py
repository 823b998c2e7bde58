"""Records of a bundle, and where each of them stands, so that a problem can be found again."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from apps.core.errors import Problem

FORMAT = "lode-curriculum/1"


class Kind(StrEnum):
    """What a bundle holds, in the order in which it is written."""

    TOPIC = "topics"
    CONCEPT = "concepts"
    ENTRY = "entries"
    EDGE = "edges"


@dataclass(frozen=True, slots=True)
class BundleProblem(Problem):
    """One thing that is wrong with a bundle. ``pointer`` is a JSON pointer into the document.

    In a sheet ``file`` names it, ``row`` is its row as spreadsheets count (the header is row 1) and
    ``column`` the column's name; the pointer is ``/entries.csv/5/title``.
    """

    file: str = ""
    row: int | None = None
    column: str = ""

    @property
    def place(self) -> str:
        """The place in words, for people."""
        if self.row is None:
            return f"{self.file} {self.pointer}".strip()
        return f"{self.file} row {self.row}" + (f", column {self.column}" if self.column else "")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record stands: ``row`` counts from 0 in a JSON array and from 1, the header, in a sheet."""

    file: str
    kind: Kind
    row: int
    in_sheet: bool = False

    def problem(self, code: str, message: str, *path: str) -> BundleProblem:
        """A problem with the field that ``path`` leads to (``source``, ``concept``), or with the whole record."""
        row, column = (self.row, "_".join(path)) if self.in_sheet else (None, "")
        return BundleProblem(code, message, self.pointer(*path), self.file, row, column)

    def pointer(self, *path: str) -> str:
        """The JSON pointer to the record, or to the field that ``path`` leads to."""
        name, steps = self.kind.value, [escaped(step) for step in path]
        if self.in_sheet:
            name, steps = f"{self.kind}.csv", list(filter(None, ["_".join(path)]))
        return "/".join(["", name, str(self.row), *steps])

    def __str__(self) -> str:
        return (
            f"row {self.row} of {self.file}" if self.in_sheet else f"/{self.kind}/{self.row} of {self.file}"
        )


def escaped(name: str) -> str:
    """One step of a JSON pointer (RFC 6901); what no text can hold is spelled out."""
    whole = name.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
    return whole.replace("~", "~0").replace("/", "~1")


@dataclass(frozen=True, slots=True)
class RawRecord:
    """One record as its file says it, before anything is checked: JSON values by field."""

    place: Place
    values: Any
