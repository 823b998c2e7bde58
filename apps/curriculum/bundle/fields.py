"""The fields of each kind of record: what a file may say in them, checked one by one (curriculum.md).

Only what can be seen in the record itself is checked here; what needs other records or the database
(unknown references, taken names, cycles) is checked once everything stands side by side.
"""

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

from apps.core.svg import UnsafeDrawingError, sanitised
from apps.curriculum.bundle.cells import join_list, split_list
from apps.curriculum.bundle.records import BundleProblem, Kind, Place, RawRecord
from apps.rules.confidence import QUANTUM
from apps.rules.scopes import PUBLIC, SHARED_SCOPES, VISUAL, is_scope
from apps.rules.slugs import UNANCHORED, is_slug, slugify
from apps.rules.words import EdgeType, Maturity, Provenance

MAX_NAME_CHARS = 300
MAX_TEXT_CHARS = 10_000_000
_SURROGATE = re.compile("[\ud800-\udfff]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_IMPORTANCE_QUANTUM = Decimal("0.001")


class UnfitError(ValueError):
    """A value that its field does not take. ``path`` leads from the field to the part that is wrong."""

    def __init__(self, code: str, message: str, *path: str) -> None:
        super().__init__(message)
        self.code, self.message, self.path = code, message, path


@dataclass(frozen=True, slots=True)
class DuplicateKey:
    """Stands where a JSON object says one key twice."""

    key: str


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a record.

    ``read`` gives the value or raises UnfitError; ``from_cell`` and ``to_cell`` translate between a cell
    and the JSON value. ``needed`` fields are part of what the record is, and never left out.
    """

    name: str
    read: Callable[[Any], Any]
    from_cell: Callable[[str], Any]
    to_cell: Callable[[Any], str] = str
    needed: bool = False


@dataclass(frozen=True, slots=True)
class CheckedRecord:
    """A record whose fields are sound, but for those in ``bad``, which are null here and reported."""

    place: Place
    values: Mapping[str, Any]
    bad: frozenset[str]


def _text(value: Any) -> str:
    if isinstance(value, DuplicateKey):
        raise UnfitError("duplicate_key", f"the key {value.key!r} stands twice in this object; keep one")
    if not isinstance(value, str):
        raise UnfitError("invalid", "this is no text; write it between quotation marks")
    if "\0" in value:
        raise UnfitError("null_character", "a text holds no NUL character; take it out")
    if not value.isascii() and _SURROGATE.search(value):
        raise UnfitError("surrogate", "a text holds no lone surrogate; take it out")
    if len(value) > MAX_TEXT_CHARS:
        raise UnfitError("too_long", f"a text has at most {MAX_TEXT_CHARS:,} characters; split it")
    return value


def _written(value: Any) -> str:
    text = _text(value)
    if not text.strip():
        raise UnfitError("blank", "this text holds nothing that can be seen; write something or leave it out")
    return text


def _name(value: Any) -> str:
    text = _written(value)
    if len(text) > MAX_NAME_CHARS:
        raise UnfitError("too_long", f"at most {MAX_NAME_CHARS} characters fit here; this has {len(text)}")
    return text


def _slug(value: Any) -> str:
    text = _text(value)
    if text == UNANCHORED:
        raise UnfitError("reserved_slug", f"{text!r} is reserved; leave the concept out (null) instead")
    if not is_slug(text):
        nearest = slugify(text)
        hint = f"; {nearest!r} would be one" if nearest else "; give it a letter or digit"
        raise UnfitError("invalid_slug", f"{_short(text)} is no slug{hint}")
    return text


def _id(value: Any) -> UUID:
    text = _text(value)
    try:
        if len(text) == len(str(UUID(text))):
            return UUID(text)
    except ValueError:
        pass
    raise UnfitError("invalid", f"{_short(text)} is no UUID; leave it out for a new entry")


def _share(quantum: Decimal) -> Callable[[Any], Decimal]:
    def read(value: Any) -> Decimal:
        if not isinstance(value, Decimal):
            raise UnfitError("invalid", "this is no number; write one such as 0.8")
        if not value.is_finite() or not 0 <= value <= 1:
            raise UnfitError("out_of_range", f"{_short(str(value))} lies outside 0 to 1")
        return abs(value.quantize(quantum, rounding=ROUND_HALF_UP))

    return read


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise UnfitError("invalid", "this is neither true nor false")
    return value


def _choice(words: type[StrEnum]) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        text = _text(value)
        if text not in set(words):
            raise UnfitError("invalid_choice", f"{_short(text)} is none of {', '.join(words)}")
        return text

    return read


class _Status(StrEnum):
    APPROVED = "approved"
    PROPOSED = "proposed"


def _scope(value: Any) -> str:
    text = _text(value)
    if text in SHARED_SCOPES:
        return text
    if is_scope(text):
        message = "a student's scope is no part of a curriculum; memories have their own address"
        raise UnfitError("student_scope", message)
    raise UnfitError("invalid_scope", f"{_short(text)} is no scope; write {', '.join(SHARED_SCOPES)}")


def _drawing(value: Any) -> str:
    try:
        return sanitised(_text(value))
    except UnsafeDrawingError as error:
        raise UnfitError("unsafe_drawing", str(error)) from error


def _aliases(value: Any) -> dict[str, str]:
    """Alias slugs with the alias as written; a name that is written twice counts once, the first time."""
    if not isinstance(value, list):
        raise UnfitError("invalid", 'this is no list; write one such as ["IV reuse"]')
    named: dict[str, str] = {}
    for index, item in enumerate(value):
        slug = slugify(_alias(item, str(index)))
        if slug is None:
            raise UnfitError("no_usable_name", f"{_short(item)} holds no letter or digit", str(index))
        named.setdefault(slug, item)
    return named


def _alias(item: Any, step: str) -> str:
    try:
        return _name(item)
    except UnfitError as error:
        raise UnfitError(error.code, error.message, step) from error


END_FIELDS = ("id", "scope", "topic", "concept")
_END_READERS: dict[str, Callable[[Any], Any]] = {
    "id": _id,
    "scope": _scope,
    "topic": _text,
    "concept": _written,
}


def _end(value: Any) -> dict[str, Any]:
    """An edge's end: an entry by its id, or by scope, topic and concept."""
    if isinstance(value, DuplicateKey):
        _text(value)
    if not isinstance(value, dict):
        raise UnfitError("invalid", 'this is no entry; write {"topic": …, "concept": …} or {"id": …}')
    for name in value:
        if name not in END_FIELDS:
            raise UnfitError("unknown_field", _unknown_field(name, END_FIELDS), name)
    end = {name: _end_part(name, value.get(name)) for name in END_FIELDS}
    end["scope"] = end["scope"] or PUBLIC
    return _whole_end(end)


def _end_part(name: str, value: Any) -> Any:
    try:
        return None if value is None else _END_READERS[name](value)
    except UnfitError as error:
        raise UnfitError(error.code, error.message, name) from error


def _whole_end(end: dict[str, Any]) -> dict[str, Any]:
    if end["id"] is None and end["concept"] is None:
        raise UnfitError(
            "required", "name the entry by its concept, or by its id where it has none", "concept"
        )
    if end["id"] is not None and end["concept"] is not None:
        raise UnfitError("ambiguous", "an end is named by its id or by its concept; leave one out", "id")
    if end["concept"] is not None and end["scope"] == PUBLIC and end["topic"] is None:
        raise UnfitError("required", "a public entry is named by its topic and concept", "topic")
    return end


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:59]}…")


def _unknown_field(name: str, known: Iterator[str] | tuple[str, ...]) -> str:
    names = tuple(known)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
    return f"there is no field {_short(name)}; {hint}"


def _cell_text(cell: str) -> str:
    return cell


def _cell_or_nothing(cell: str) -> str | None:
    return cell or None


def _cell_number(cell: str) -> Decimal | str | None:
    return Decimal(cell) if _NUMBER.fullmatch(cell) else _cell_or_nothing(cell)


def _cell_flag(cell: str) -> bool | str | None:
    return {"true": True, "false": False}.get(cell.lower(), _cell_or_nothing(cell))


def _flag_cell(value: bool) -> str:
    return "true" if value else "false"


def _no_cell(cell: str) -> None:  # pragma: no cover - an end stands in four columns of its own
    raise NotImplementedError(cell)


def _of_text(name: str, read: Callable[[Any], Any] = _text, *, needed: bool = False) -> Field:
    return Field(name, read, _cell_text, needed=needed)


def _optional(name: str, read: Callable[[Any], Any]) -> Field:
    return Field(name, read, _cell_or_nothing)


_ARCHIVED = Field("archived", _flag, _cell_flag, _flag_cell)
_CONFIDENCE = Field("confidence", _share(QUANTUM), _cell_number)

FIELDS: dict[Kind, tuple[Field, ...]] = {
    Kind.TOPIC: (
        _of_text("slug", _slug, needed=True),
        _of_text("title", _name),
        _of_text("description"),
        _ARCHIVED,
    ),
    Kind.CONCEPT: (
        _of_text("slug", _slug, needed=True),
        _of_text("title", _name),
        _of_text("definition"),
        Field("aliases", _aliases, split_list, join_list),
        _optional("status", _choice(_Status)),
        _ARCHIVED,
    ),
    Kind.ENTRY: (
        _optional("id", _id),
        _optional("topic", _text),
        _optional("concept", _written),
        _optional("scope", _scope),
        _of_text("title", _name),
        _of_text("instruction", _written),
        _of_text("detail"),
        _optional("visual", _drawing),
        _CONFIDENCE,
        _optional("maturity", _choice(Maturity)),
        Field("importance", _share(_IMPORTANCE_QUANTUM), _cell_number),
    ),
    Kind.EDGE: (
        Field("source", _end, _no_cell, needed=True),
        Field("target", _end, _no_cell, needed=True),
        Field("type", _choice(EdgeType), _cell_or_nothing, needed=True),
        _optional("provenance", _choice(Provenance)),
        _CONFIDENCE,
        _of_text("condition"),
        _of_text("rationale"),
    ),
}


def check(record: RawRecord, report: Callable[[BundleProblem], None]) -> CheckedRecord | None:
    """The record with every field read, its problems handed to ``report``; None where it is no record."""
    place, values = record.place, record.values
    if not isinstance(values, dict):
        report(_no_record(place, values))
        return None
    fields = FIELDS[place.kind]
    names = tuple(field.name for field in fields)
    for name in values:
        if name not in names:
            report(place.problem("unknown_field", _unknown_field(name, names), name))
    read: dict[str, Any] = {}
    bad: set[str] = set()
    for field in fields:
        try:
            read[field.name] = _read(field, values.get(field.name))
        except UnfitError as error:
            read[field.name] = None
            bad.add(field.name)
            report(place.problem(error.code, error.message, field.name, *error.path))
    if place.kind is Kind.ENTRY:
        _check_entry(place, read, bad, report)
    return CheckedRecord(place, read, frozenset(bad))


def _no_record(place: Place, value: Any) -> BundleProblem:
    if isinstance(value, DuplicateKey):
        message = f"the key {value.key!r} stands twice in this object; keep one"
        return place.problem("duplicate_key", message)
    return place.problem("invalid", "this is no object; write {…} with the fields of the record")


def _read(field: Field, value: Any) -> Any:
    if value is None:
        if field.needed:
            raise UnfitError("required", "this is part of what the row is; write it")
        return None
    return field.read(value)


def _check_entry(
    place: Place, values: dict[str, Any], bad: set[str], report: Callable[[BundleProblem], None]
) -> None:
    """What the fields of one entry say together (rules.md 1 and 2)."""
    if "scope" not in bad:
        values["scope"] = values["scope"] or PUBLIC
    scope, concept = values["scope"], values["concept"]
    if values["visual"] is not None and scope not in (VISUAL, None):
        bad.add("visual")
        message = "a drawing stands in scope visual, and only there; take it out or change the scope"
        report(place.problem("scope_combination", message, "visual"))
    if scope not in (PUBLIC, VISUAL) and concept is not None:
        try:
            _slug(concept)
        except UnfitError as error:
            values["concept"] = None
            bad.add("concept")
            report(place.problem(error.code, error.message, "concept"))
