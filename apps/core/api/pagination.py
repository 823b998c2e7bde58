"""Pages by cursor: stable while rows come and go, and as quick at the end as at the beginning (api.md, Lists)."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.core.signing import BadSignature, Signer
from django.db.models import Field, Model, Q, QuerySet

from apps.core.api.problems import Malformed

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """The rows of one page, and the cursor of the next one (None on the last)."""

    rows: list[Row]
    next: str | None


def paginate(
    rows: "QuerySet[Row]", *, order: Sequence[str], cursor: str | None, limit: int, path: str
) -> Page[Row]:
    """At most ``limit`` of ``rows`` after ``cursor``, in ``order``.

    ``order`` names columns that are never null, ``-`` first for falling ones, and ends in a unique one. A
    cursor belongs to ``path``. Raises Malformed ``bad_cursor`` for one that this list did not give.
    """
    signer = Signer(salt=f"cursor:{path}")
    if cursor is not None:
        rows = rows.filter(_after(rows.model, order, _opened(signer, cursor)))
    found = list(rows.order_by(*order)[: limit + 1])
    if len(found) <= limit:
        return Page(found, None)
    last = [_plain(getattr(found[limit - 1], name.removeprefix("-"))) for name in order]
    return Page(found[:limit], signer.sign_object(last))


def _opened(signer: Signer, cursor: str) -> list[Any]:
    try:
        values: list[Any] = signer.unsign_object(cursor)
    except BadSignature as error:
        raise Malformed(
            "bad_cursor", "this cursor was not given by this list; begin without one", "?cursor"
        ) from error
    return values


def _after(model: type[Model], order: Sequence[str], values: Sequence[Any]) -> Q:
    """Rows that come after ``values``: greater in one column, and equal in all before it."""
    after, equal = Q(), Q()
    for name, value in zip(order, values, strict=True):
        column = name.removeprefix("-")
        read = _column(model, column).to_python(value)
        after |= equal & Q(**{f"{column}__{'lt' if name.startswith('-') else 'gt'}": read})
        equal &= Q(**{column: read})
    return after


def _column(model: type[Model], name: str) -> "Field[Any, Any]":
    found = model._meta.get_field(name)
    if not isinstance(found, Field):
        raise TypeError(f"{name} is no column of {model.__name__}")
    return found


def _plain(value: Any) -> Any:
    return (
        value.isoformat()
        if isinstance(value, dt.datetime)
        else str(value)
        if isinstance(value, UUID)
        else value
    )
