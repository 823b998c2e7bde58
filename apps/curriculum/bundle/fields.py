"""The fields of each kind of record, checked one by one (curriculum.md).

Only what can be seen in the record itself is checked here; what needs other records or the database
(unknown references, taken names, cycles) is checked once everything stands side by side.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from apps.curriculum.bundle import values
from apps.curriculum.bundle.cells import join_list, split_list
from apps.curriculum.bundle.records import BundleProblem, Kind, Place, RawRecord
from apps.curriculum.bundle.values import DuplicateKey, Fault, Read, UnfitError
from apps.rules.confidence import QUANTUM
from apps.rules.scopes import PUBLIC, TUTOR, VISUAL
from apps.rules.words import EdgeType, Maturity, Provenance

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_IMPORTANCE_QUANTUM = Decimal("0.001")

Report = Callable[[BundleProblem], None]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a record.

    ``read`` gives the value or raises UnfitError; ``from_cell`` and ``to_cell`` translate between a cell
    and the JSON value. ``needed`` fields are part of what the record is, and never left out.
    """

    name: str
    read: Read
    from_cell: Callable[[str], Any] = str
    to_cell: Callable[[Any], str] = str
    needed: bool = False


@dataclass(frozen=True, slots=True)
class CheckedRecord:
    """A record whose fields are sound, but for those in ``bad``, which are null here and reported."""

    place: Place
    values: Mapping[str, Any]
    bad: frozenset[str]


class _Status(StrEnum):
    APPROVED = "approved"
    PROPOSED = "proposed"


def cell_or_nothing(cell: str) -> str | None:
    """An empty cell says nothing where an empty text would be no value."""
    return cell or None


def _cell_number(cell: str) -> Decimal | str | None:
    return values.number(cell) if _NUMBER.fullmatch(cell) else cell_or_nothing(cell)


def _cell_flag(cell: str) -> bool | str | None:
    return {"true": True, "false": False}.get(cell.lower(), cell_or_nothing(cell))


def _flag_cell(value: bool) -> str:
    return "true" if value else "false"


_SLUG = Field("slug", values.read_slug, needed=True)
_TITLE = Field("title", values.read_name)
_ARCHIVED = Field("archived", values.read_flag, _cell_flag, _flag_cell)
_CONFIDENCE = Field("confidence", values.share(QUANTUM), _cell_number)

FIELDS: dict[Kind, tuple[Field, ...]] = {
    Kind.TOPIC: (_SLUG, _TITLE, Field("description", values.read_text), _ARCHIVED),
    Kind.CONCEPT: (
        _SLUG,
        _TITLE,
        Field("definition", values.read_text),
        Field("aliases", values.read_aliases, split_list, join_list),
        Field("status", values.choice(_Status), cell_or_nothing),
        _ARCHIVED,
    ),
    Kind.ENTRY: (
        Field("id", values.read_id, cell_or_nothing),
        Field("topic", values.read_text, cell_or_nothing),
        Field("concept", values.read_written, cell_or_nothing),
        Field("scope", values.read_scope, cell_or_nothing),
        _TITLE,
        Field("instruction", values.read_written),
        Field("detail", values.read_text),
        Field("visual", values.read_drawing, cell_or_nothing),
        _CONFIDENCE,
        Field("maturity", values.choice(Maturity), cell_or_nothing),
        Field("importance", values.share(_IMPORTANCE_QUANTUM), _cell_number),
    ),
    Kind.EDGE: (
        Field("source", values.read_end, needed=True),
        Field("target", values.read_end, needed=True),
        Field("type", values.choice(EdgeType), cell_or_nothing, needed=True),
        Field("provenance", values.choice(Provenance), cell_or_nothing),
        _CONFIDENCE,
        Field("condition", values.read_text),
        Field("rationale", values.read_text),
    ),
}


def check(record: RawRecord, report: Report) -> CheckedRecord | None:
    """The record with every field read, its problems handed to ``report``; None where it is no record."""
    place, given = record.place, record.values
    if not isinstance(given, dict):
        report(_no_record(place, given))
        return None
    read, faults = _read_fields(FIELDS[place.kind], given)
    if place.kind is Kind.ENTRY:
        faults += _entry_faults(read, [fault.path[0] for fault in faults])
    for fault in faults:
        report(place.problem(fault.code, fault.message, *fault.path))
    bad = frozenset(fault.path[0] for fault in faults) & read.keys()
    return CheckedRecord(place, {**read, **dict.fromkeys(bad)}, bad)


def _no_record(place: Place, given: Any) -> BundleProblem:
    if isinstance(given, DuplicateKey):
        return place.problem(given.fault.code, given.fault.message)
    return place.problem("invalid", "this is no object; write {…} with the fields of the record")


def _read_fields(fields: Sequence[Field], given: Mapping[str, Any]) -> tuple[dict[str, Any], list[Fault]]:
    names = [field.name for field in fields]
    faults = values.unknown_fields(given, names)
    read: dict[str, Any] = dict.fromkeys(names)
    for field in fields:
        try:
            if given.get(field.name) is not None:
                read[field.name] = field.read(given[field.name])
            elif field.needed:
                raise UnfitError(Fault("required", "this is part of what the row is; write it"))
        except UnfitError as error:
            faults += [fault.under(field.name) for fault in error.faults]
    return read, faults


def _entry_faults(read: dict[str, Any], bad: Sequence[str]) -> Iterator[Fault]:
    """What the fields of one entry say together (rules.md 1 and 2); an absent scope is public."""
    if "scope" in bad:
        return
    read["scope"] = read["scope"] or PUBLIC
    if read["visual"] is not None and read["scope"] != VISUAL:
        words = "a drawing stands in scope visual, and only there; take it out or change the scope"
        yield Fault("scope_combination", words, ("visual",))
    if read["concept"] is not None and read["scope"] == TUTOR:
        try:
            values.read_slug(read["concept"])
        except UnfitError as error:
            yield from (fault.under("concept") for fault in error.faults)
