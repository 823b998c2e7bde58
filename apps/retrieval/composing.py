"""Statements put together from the parts in ``sql/``, with what must stand in their text.

The serving space stands in the text as literals, because a partial index over a cast to the space's
length serves only a statement that repeats both; so does the LIMIT under a vector index. Every value of a
request is a parameter: for each space, and each size of that LIMIT, there is one statement to prepare.
"""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from apps.core.sql import statements

_SQL = Path(__file__).parent / "sql"
_PARTS = statements(_SQL / "parts.sql")
_FIXED_PARTS = ("rule_columns", "rule", "visible", "columns", "walked", "concept_named")


class Literals(NamedTuple):
    """What differs between two texts of one statement.

    ``near`` is how many chunks one scan of a vector index takes, so that the rows wanted of it are among them.
    """

    space: int = 0
    dimensions: int = 1
    near: int = 60


@lru_cache(maxsize=256)
def composed(file: str, name: str, literals: Literals = Literals()) -> str:  # noqa: B008 - immutable
    """The statement ``name`` of ``file`` with its parts."""
    values = literals._asdict()
    similarity = _PARTS["similarity"].text.format(**values)
    passes = {
        f"{scope}_pass": _PARTS["scope_pass"].text.format(scope=scope, similarity=similarity, **values)
        for scope in ("tutor", "public")
    }
    fixed = {part: _PARTS[part].text for part in _FIXED_PARTS}
    return statements(_SQL / file)[name].text.format(similarity=similarity, **values, **fixed, **passes)


# Measured on sentences of real text, with what the boosts may lift: of 60 chunks taken from 10,000, the first
# 3 are the right ones at a recall of 0.997; from 100,000 that takes 200. More of ef_search instead finds no
# more, since an iterative scan goes on by itself. A few sizes, so that there are few texts to prepare.
_CHUNKS = (60, 120, 240, 480, 960)
_CHUNKS_FOR = {3: 60, 8: 120, 20: 240}
_MEASURED_SIZE = 10_000


def near(rows: int, size: float) -> int:
    """How many chunks to take from a vector index of ``size`` chunks, of which ``rows`` entries are wanted."""
    base = next((chunks for most, chunks in _CHUNKS_FOR.items() if rows <= most), 480)
    needed = base * max(1.0, size / _MEASURED_SIZE) ** 0.5
    return next((chunks for chunks in _CHUNKS if chunks >= needed), _CHUNKS[-1])
