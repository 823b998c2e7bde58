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
_FIXED_PARTS = ("rule_columns", "rule", "visible", "columns", "walked")


class Literals(NamedTuple):
    """What differs between two texts of one statement.

    ``near`` is how many chunks one scan of a vector index takes, so that the rows wanted of it are among them.
    """

    space: int = 0
    dimensions: int = 1
    near: int = 60


@lru_cache(maxsize=256)
def composed(file: str, name: str, literals: Literals = Literals()) -> str:  # noqa: B008 - immutable
    """The statement ``name`` of ``file`` with its parts; where no space serves, no vector has its space."""
    values = literals._asdict()
    similarity = _PARTS["similarity"].text.format(**values)
    passes = {
        f"{scope}_pass": _PARTS["scope_pass"].text.format(scope=scope, similarity=similarity, **values)
        for scope in ("tutor", "public")
    }
    fixed = {part: _PARTS[part].text for part in _FIXED_PARTS}
    return statements(_SQL / file)[name].text.format(similarity=similarity, **values, **fixed, **passes)


# Of one scan that is asked for 60 chunks, the first 3 of the boosted order were among them at a recall of
# 0.997 over 10,000 tutor moves in sentences of real text; the larger the scope, the more there must be.
_WANTED = {3: 60, 8: 120, 20: 240}
_WANTED_MOST = 480


def near(rows: int, size: float) -> int:
    """How many chunks to take from a vector index of ``size`` chunks, of which ``rows`` entries are wanted."""
    del size
    return next((chunks for most, chunks in _WANTED.items() if rows <= most), _WANTED_MOST)
