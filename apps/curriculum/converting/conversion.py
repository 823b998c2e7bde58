"""What a converter gives: a bundle, and what it had to leave out; and how it reads its folder."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apps.curriculum.bundle.records import FORMAT
from apps.curriculum.bundle.sources import Source, of_bytes


class UnfitFolderError(ValueError):
    """The folder does not hold what its converter reads; the message says which file, and where in it."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something of the other shape that has no place in the bundle, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Conversion:
    """A bundle by its lists, and everything that is not in it."""

    lists: Mapping[str, Sequence[Mapping[str, Any]]]
    left_out: Sequence[LeftOut]

    def source(self, name: str) -> Source:
        """The bundle to import; ``name`` stands in problems."""
        return of_bytes(json.dumps({"format": FORMAT, **self.lists}).encode(), name)


Convert = Callable[[Path], Conversion]


def load_rows(path: Path, *needed: str) -> list[dict[str, Any]]:
    """The objects of a JSON list, each with a text under every ``needed`` name. Raises UnfitFolderError."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnfitFolderError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:  # no JSON, or no UTF-8
        raise UnfitFolderError(f"{path} is no JSON: {error}") from error
    if not isinstance(rows, list):
        raise UnfitFolderError(f"{path} is no list of objects")
    for number, row in enumerate(rows):
        for name in needed:
            if not isinstance(row, dict) or not isinstance(row.get(name), str):
                raise UnfitFolderError(f"{path}: record {number} has no text {name!r}")
    return rows
