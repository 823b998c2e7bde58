"""Pieces of pages. Everything stored passes through templates or ``format_html``, and so is escaped."""

import base64
import datetime as dt
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.admin.utils import quote
from django.db.models import Model
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import formats, timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

Key = int | str | UUID

NOTHING = "–"


def page_of(label: str, pk: Key) -> str:
    """The address of a row's page; ``label`` is ``app_model``."""
    return reverse(f"admin:{label}_change", args=[quote(pk)])


def list_of(label: str, **filters: object) -> str:
    """The address of a model's list, filtered."""
    query = f"?{urlencode(filters)}" if filters else ""
    return reverse(f"admin:{label}_changelist") + query


def link(address: str, text: object) -> SafeString:
    """A link, its text escaped."""
    return format_html('<a class="text-link" href="{}">{}</a>', address, text)


def link_to(row: Model | None, text: object = None) -> SafeString | str:
    """A link to a row's page, under its own name or ``text``; a dash where there is no row."""
    if row is None:
        return NOTHING
    return link(page_of(row._meta.label_lower.replace(".", "_"), row.pk), str(row) if text is None else text)


def link_to_id(label: str, pk: Key | None) -> SafeString | str:
    """A link to the row of a plain id, which may be gone; a dash where there is none."""
    return NOTHING if pk is None else link(page_of(label, pk), pk)


def moment(at: dt.datetime | None) -> str:
    """A time in the reader's format and zone; a dash where it has not come."""
    return NOTHING if at is None else str(formats.localize(timezone.localtime(at)))


def number(value: Decimal | None) -> str:
    """A confidence without idle zeros, two decimals at least; a dash where there is none."""
    if value is None:
        return NOTHING
    whole, _, decimals = f"{value:f}".partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(2, '0')}"


def decimals(value: object) -> str:
    """A number of an answer to three decimals; a dash where there is none."""
    return (
        f"{float(value):.3f}" if isinstance(value, int | float | str | Decimal) and value != "" else NOTHING
    )


def json_value(value: object) -> str:
    """A value of a JSON column: a text as it is, anything else as JSON; a dash for null."""
    if value is None:
        return NOTHING
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def shortened(text: str, chars: int = 120) -> str:
    """One line of ``text``, cut to ``chars`` for a list."""
    line = " ".join(text.split())
    return line if len(line) <= chars else line[: chars - 1].rstrip() + "…"


def confidence(value: Decimal, floor: Decimal | None, *, what: str = "floor") -> SafeString:
    """A confidence as a bar with its floor marked: a row below it is never retrieved.

    ``what`` names the floor. None says that the row competes nowhere, however high its confidence.
    """
    words = "competes nowhere" if floor is None else f"{what} {number(floor)}"
    below = floor is None or value < floor
    shown = {"at": f"{value:f}", "floor_at": None if floor is None else f"{floor:f}", "number": number(value)}
    words = f"below its {words}" if below and floor is not None else words
    return render_to_string("lode/confidence.html", {**shown, "below": below, "words": words})


def image(svg: str, title: str) -> SafeString:
    """A drawing as an image of its own: a browser runs no script and fetches nothing inside one."""
    data = base64.b64encode(svg.encode("utf-8", "replace")).decode()
    return format_html(
        '<img class="lode-drawing" alt="{}" src="data:image/svg+xml;base64,{}">', f"Drawing: {title}", data
    )


def preformatted(text: str) -> SafeString:
    """Text as it is, line by line."""
    return format_html('<pre class="lode-text">{}</pre>', text)


def strong(text: object) -> SafeString:
    """A name that a row is known by."""
    return format_html('<strong class="lode-name">{}</strong>', text)


def lines(pieces: Iterable[object]) -> SafeString:
    """Pieces below one another in one cell."""
    return format_html_join("", '<span class="lode-line">{}</span>', ((piece,) for piece in pieces))


def aside(pieces: Iterable[object]) -> SafeString:
    """Pieces beside one another."""
    return format_html_join("", '<span class="lode-aside">{}</span>', ((piece,) for piece in pieces))


@dataclass(frozen=True, slots=True)
class Panel:
    """A titled table below a page's own fields. Cells are text, which is escaped, or pieces from here."""

    title: str
    headers: Sequence[str]
    rows: Sequence[Sequence[object]]
    nothing: str
    more: SafeString | str = ""

    def as_table(self) -> dict[str, Any]:
        """The shape that the table component takes."""
        return {"headers": list(self.headers), "rows": [list(row) for row in self.rows]}
