"""SQL by hand: every statement stands in a named ``.sql`` file, under a line that says what it is for.

A file holds one or more statements, each begun by ``-- name: <name>``; comment lines that follow it
say what it does and which index it leans on::

    -- name: passes
    -- The four passes of one retrieval (rules.md 5); leans on entry_by_topic_concept.
    SELECT ...
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_HEADER = re.compile(r"^-- name: (?P<name>[a-z0-9_]+)\n", re.MULTILINE)
_COMMENT = re.compile(r"(?P<comment>(?:--[^\n]*\n)*)(?P<body>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Statement:
    """One named statement: what it is for, and its text without that."""

    name: str
    about: str
    text: str


@cache
def statements(path: Path) -> dict[str, Statement]:
    """All statements of one file, by name, in the order of the file.

    Raises ValueError where a name stands twice or text stands before the first name.
    """
    pieces = _HEADER.split(path.read_text(encoding="utf-8"))
    if pieces[0].strip():
        raise ValueError(f"{path.name}: text before the first '-- name:' line")
    found = [_statement(name, rest) for name, rest in zip(pieces[1::2], pieces[2::2], strict=True)]
    if len({statement.name for statement in found}) != len(found):
        raise ValueError(f"{path.name}: a statement's name stands twice")
    return {statement.name: statement for statement in found}


def _statement(name: str, rest: str) -> Statement:
    parts = _COMMENT.fullmatch(rest)
    if parts is None:  # pragma: no cover - the pattern matches every text
        raise ValueError(name)
    about = " ".join(line.removeprefix("--").strip() for line in parts["comment"].splitlines())
    return Statement(name=name, about=about, text=parts["body"].strip())
