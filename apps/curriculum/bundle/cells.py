"""Cells of a sheet: any text survives a spreadsheet, and none is run by one.

A cell that begins with a sign that spreadsheets take for a formula is written with an apostrophe before
it, which they read as "this is text"; on import one apostrophe is taken away there. What began with
apostrophes before such a sign gets one more, so that every text comes back as it was. The full-width
signs are among them because some programs narrow them (CWE-1236).
"""

import re
from collections.abc import Sequence

_RUN_AS_FORMULA = re.compile("'*[=+\\-@\t\r\n＝＋－＠]")
_PIECE = re.compile(r"\\.?|\||[^\\|]+", re.DOTALL)


def neutralised(text: str) -> str:
    """``text`` as it is written into a cell."""
    return f"'{text}" if _RUN_AS_FORMULA.match(text) else text


def restored(cell: str) -> str:
    """The text that ``neutralised`` made ``cell`` of; a cell that it did not touch stays as it is."""
    return cell[1:] if cell.startswith("'") and _RUN_AS_FORMULA.match(cell) else cell


def join_list(items: Sequence[str]) -> str:
    """A list in one cell, separated by ``|``; a bar or backslash in an item has a backslash before it.

    Items are not empty: an empty cell is the empty list.
    """
    return "|".join(re.sub(r"([\\|])", r"\\\1", item) for item in items)


def split_list(cell: str) -> list[str]:
    """The items of a cell that ``join_list`` wrote. A backslash at the very end stands for itself."""
    if not cell:
        return []
    items = [""]
    for piece in _PIECE.findall(cell):
        if piece == "|":
            items.append("")
        else:
            items[-1] += piece[1:] or piece if piece.startswith("\\") else piece
    return items
