"""Statements put together from the parts in ``sql/``, with what must stand in their text.

The serving space stands in the text as literals, because a partial index over a cast to the space's
length serves only a statement that repeats both; so does the LIMIT under a vector index. Every value of a
request is a parameter: for each space, and each size of LIMIT, there is one statement to prepare.
"""

from functools import lru_cache
from pathlib import Path

from apps.core.sql import Statement, statements

_SQL = Path(__file__).parent / "sql"
_PARTS = statements(_SQL / "parts.sql")
# How many chunks one scan of a vector index takes, for the rows that are wanted of it. On sentences of
# real text over 10,000 tutor moves, 60 held the first 3 of the boosted order at a recall of 0.997, and the
# cut-off was proven for every one of 1,000 questions.
_NEAR = {3: 60, 8: 120, 20: 240}
_NEAR_MOST = 480
# Where no space serves, nothing has a vector; the statement still has to be one.
NO_SPACE = (0, 1)

Space = tuple[int, int]
"""The id and the dimensions of an embedding space."""


def statement(file: str, name: str) -> Statement:
    """A statement that is sent as it stands."""
    return statements(_SQL / file)[name]


@lru_cache(maxsize=64)
def retrieve(space: Space, *, near: int) -> str:
    """The statement of a retrieval; ``near`` is what the index over tutor moves is asked for."""
    return _composed("retrieve.sql", "retrieve", space, near, tutor_pass="tutor")


def near(rows: int) -> int:
    """How many chunks to take from a vector index of which ``rows`` entries are wanted."""
    return next((chunks for most, chunks in _NEAR.items() if rows <= most), _NEAR_MOST)


def _composed(file: str, name: str, space: Space, near: int, **scope_passes: str) -> str:
    """The named statement with its parts; ``scope_passes`` says which scope each ``*_pass`` part is of."""
    space_id, dimensions = space
    literals = {"space": space_id, "dimensions": dimensions, "near": near}
    similarity = _PARTS["similarity"].text.format(**literals)
    passes = {
        part: _PARTS["scope_pass"].text.format(scope=scope, similarity=similarity, **literals)
        for part, scope in scope_passes.items()
    }
    fixed = {part: _PARTS[part].text for part in ("rule_columns", "rule", "visible")}
    return statement(file, name).text.format(similarity=similarity, **literals, **fixed, **passes)
