"""What a field may hold: each reader gives the value, or raises UnfitError with what would be right."""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from enum import StrEnum
from itertools import islice
from typing import Any
from uuid import UUID

from apps.core.svg import UnsafeDrawingError, sanitised
from apps.rules.scopes import PUBLIC, SHARED_SCOPES, is_scope
from apps.rules.slugs import UNANCHORED, is_slug, slugify

MAX_NAME_CHARS = 300
MAX_TEXT_CHARS = 10_000_000
# Faults of one value that are told; a hostile one could have millions.
MAX_FAULTS = 20
END_FIELDS = ("id", "scope", "topic", "concept")
_SURROGATE = re.compile("[\ud800-\udfff]")

Read = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a value; ``path`` leads from its field to the part that is wrong."""

    code: str
    message: str
    path: tuple[str, ...] = ()

    def under(self, step: str) -> "Fault":
        """The same fault, seen from one level higher."""
        return Fault(self.code, self.message, (step, *self.path))


class UnfitError(ValueError):
    """A value that its field does not take, with everything that is wrong with it."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__(*faults)
        self.faults = faults


@dataclass(frozen=True, slots=True)
class DuplicateKey:
    """Stands where a JSON object says one key twice."""

    key: str

    @property
    def fault(self) -> Fault:
        """What is wrong with that object."""
        return Fault("duplicate_key", f"the key {shortened(self.key)} stands twice in this object; keep one")


def number(text: str) -> Decimal:
    """The number that ``text`` writes; infinity where it has more digits in its exponent than any number."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return Decimal("Infinity")


def read_text(value: Any) -> str:
    """Any text that a database can hold, as it is."""
    if isinstance(value, DuplicateKey):
        raise UnfitError(value.fault)
    if not isinstance(value, str):
        raise _unfit("invalid", "this is no text; write it between quotation marks")
    if "\0" in value:
        raise _unfit("null_character", "a text holds no NUL character; take it out")
    if not value.isascii() and _SURROGATE.search(value):
        raise _unfit("surrogate", "a text holds no lone surrogate; take it out")
    if len(value) > MAX_TEXT_CHARS:
        raise _unfit("too_long", f"a text has at most {MAX_TEXT_CHARS:,} characters; split it")
    return value


def read_written(value: Any) -> str:
    """A text in which something can be seen."""
    text = read_text(value)
    if not text.strip():
        raise _unfit("blank", "this text holds nothing that can be seen; write something or leave it out")
    return text


def read_name(value: Any) -> str:
    """A title or an alias."""
    text = read_written(value)
    if len(text) > MAX_NAME_CHARS:
        raise _unfit("too_long", f"at most {MAX_NAME_CHARS} characters fit here; this has {len(text)}")
    return text


def read_slug(value: Any) -> str:
    """A slug as it must be sent (rules.md 2)."""
    text = read_text(value)
    if text == UNANCHORED:
        raise _unfit("reserved_slug", f"{text!r} is reserved; leave the concept out (null) instead")
    if not is_slug(text):
        nearest = slugify(text)
        hint = f"{nearest!r} would be one" if nearest else "give it a letter or digit"
        raise _unfit("invalid_slug", f"{shortened(text)} is no slug; {hint}")
    return text


def read_id(value: Any) -> UUID:
    """An entry's id: a UUID with its hyphens."""
    text = read_text(value)
    try:
        found = UUID(text)
    except ValueError:
        found = None
    if found is None or str(found) != text.lower():
        raise _unfit("invalid", f"{shortened(text)} is no UUID; leave it out for a new entry")
    return found


def share(quantum: Decimal) -> Read:
    """A reader of numbers from 0 to 1, rounded half up to ``quantum``."""

    def read(value: Any) -> Decimal:
        if not isinstance(value, Decimal):
            raise _unfit("invalid", "this is no number; write one such as 0.8")
        if not value.is_finite() or not 0 <= value <= 1:
            raise _unfit("out_of_range", f"{shortened(str(value))} lies outside 0 to 1")
        return abs(value.quantize(quantum, rounding=ROUND_HALF_UP))

    return read


def read_flag(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise _unfit("invalid", "this is neither true nor false")
    return value


def choice(words: type[StrEnum]) -> Read:
    """A reader of one of a closed set of words."""

    def read(value: Any) -> str:
        text = read_text(value)
        if text not in set(words):
            raise _unfit("invalid_choice", f"{shortened(text)} is none of {', '.join(words)}")
        return text

    return read


def read_scope(value: Any) -> str:
    """One of the shared scopes."""
    text = read_text(value)
    if text in SHARED_SCOPES:
        return text
    if is_scope(text):
        words = "a student's scope is no part of a curriculum; take the row out"
        raise _unfit("student_scope", words)
    raise _unfit("invalid_scope", f"{shortened(text)} is no scope; write {', '.join(SHARED_SCOPES)}")


def read_drawing(value: Any) -> str:
    """An SVG, sanitised."""
    try:
        return sanitised(read_text(value))
    except UnsafeDrawingError as error:
        raise _unfit("unsafe_drawing", str(error)) from error


def read_aliases(value: Any) -> dict[str, str]:
    """Alias slugs with the alias as written; a name that is written twice counts once, the first time."""
    if not isinstance(value, list):
        raise _unfit("invalid", 'this is no list; write one such as ["IV reuse"]')
    named: dict[str, str] = {}
    faults: list[Fault] = []
    for index, item in enumerate(value):
        if len(faults) >= MAX_FAULTS:
            break
        try:
            slug, alias = _read_alias(item)
            named.setdefault(slug, alias)
        except UnfitError as error:
            faults += [fault.under(str(index)) for fault in error.faults]
    if faults:
        raise UnfitError(*faults)
    return named


def _read_alias(value: Any) -> tuple[str, str]:
    alias = read_name(value)
    slug = slugify(alias)
    if slug is None:
        raise _unfit("no_usable_name", f"{shortened(alias)} holds no letter or digit; take it out")
    return slug, alias


_END_READERS: dict[str, Read] = {
    "id": read_id,
    "scope": read_scope,
    "topic": read_text,
    "concept": read_written,
}


def read_end(value: Any) -> dict[str, Any]:
    """An edge's end: an entry by its id, or by scope (public where absent), topic and concept."""
    if isinstance(value, DuplicateKey):
        raise UnfitError(value.fault)
    if not isinstance(value, dict):
        raise _unfit("invalid", 'this is no entry; write {"topic": …, "concept": …} or {"id": …}')
    end: dict[str, Any] = {"scope": PUBLIC}
    faults = unknown_fields(value, END_FIELDS)
    for name in END_FIELDS:
        try:
            if value.get(name) is not None:
                end[name] = _END_READERS[name](value[name])
        except UnfitError as error:
            faults += [fault.under(name) for fault in error.faults]
    faults = faults or list(_end_faults(end))
    if faults:
        raise UnfitError(*faults)
    return {name: end.get(name) for name in END_FIELDS}


def _end_faults(end: dict[str, Any]) -> Iterator[Fault]:
    if "id" not in end and "concept" not in end:
        words = "name the entry by its concept, or by its id where it has none"
        yield Fault("required", words, ("concept",))
    if "id" in end and "concept" in end:
        words = "an end is named by its id or by its concept; leave one out"
        yield Fault("ambiguous", words, ("id",))
    if "concept" in end and end["scope"] == PUBLIC and "topic" not in end:
        yield Fault("required", "a public entry is named by its topic and its concept", ("topic",))


def unknown_fields(given: Iterable[str], known: Sequence[str]) -> list[Fault]:
    """That there are no fields of these names, and which were probably meant."""
    unknown = (name for name in given if name not in known)
    return [_unknown_field(name, known).under(name) for name in islice(unknown, MAX_FAULTS)]


def _unknown_field(name: str, names: Sequence[str]) -> Fault:
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
    return Fault("unknown_field", f"there is no field {shortened(name)}; {hint}")


def shortened(text: str) -> str:
    """A text quoted in a message: its beginning, with what cannot be seen spelled out."""
    return repr(text if len(text) <= 60 else f"{text[:59]}…")


def _unfit(code: str, message: str) -> UnfitError:
    return UnfitError(Fault(code, message))
