"""Reading a bundle that is one JSON document, record by record.

The document is read in pieces and never held whole. The standard library decodes each record;
an event parser was rejected, since ijson (3.6, over yajl) turns a lone surrogate into a question mark and
lets the last of two equal keys win, where both must be refused; it was no faster and held no less.
"""

import codecs
import json
from collections.abc import Iterator
from typing import IO, Any

from apps.curriculum.bundle.records import FORMAT, BundleProblem, Kind, Place, RawRecord, escaped
from apps.curriculum.bundle.values import DuplicateKey, number

PIECE_BYTES = 1 << 18
_SPACE = " \t\r\n"


class MalformedError(ValueError):
    """The document is no JSON, or not of the bundle's shape; reading ends here."""

    def __init__(self, code: str, message: str, pointer: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.pointer = code, message, pointer


def read_json(stream: IO[bytes], file: str) -> Iterator[RawRecord | BundleProblem]:
    """The records of the document in ``stream`` in its order, and what is wrong with its frame."""
    try:
        yield from _document(_Window(stream), file)
    except MalformedError as error:
        yield BundleProblem(error.code, error.message, error.pointer, file)


def _document(window: "_Window", file: str) -> Iterator[RawRecord | BundleProblem]:
    window.take("{", "a bundle is one JSON object")
    seen: set[str] = set()
    while window.peek() != "}":
        name = window.key()
        if name in seen:
            message = f"{name!r} stands twice; put both into one"
            yield BundleProblem("duplicate_key", message, f"/{escaped(name)}", file)
        seen.add(name)
        yield from _section(window, name, file)
        if window.peek() != "}":
            window.take(",", "a comma or the closing brace of the bundle belongs here")
    window.take("}", "")
    window.end()
    if "format" not in seen:
        yield BundleProblem("required", f'say "format": "{FORMAT}"', "/format", file)


def _section(window: "_Window", name: str, file: str) -> Iterator[RawRecord | BundleProblem]:
    if name == "format":
        _refuse_other_format(window.value())
    elif name in set(Kind):
        yield from _records(window, Kind(name), file)
    else:
        window.value()
        message = f"there is no list {name!r} in a bundle; there are format, {', '.join(Kind)}"
        yield BundleProblem("unknown_field", message, f"/{escaped(name)}", file)


def _refuse_other_format(value: Any) -> None:
    if value != FORMAT:
        message = f'this is of another format; "format" is "{FORMAT}"'
        raise MalformedError("unknown_format", message, "/format")


def _records(window: "_Window", kind: Kind, file: str) -> Iterator[RawRecord]:
    window.take("[", f"{kind} is a list", f"/{kind}")
    row = 0
    while window.peek() != "]":
        yield RawRecord(Place(file, kind, row), window.value())
        row += 1
        if window.peek() != "]":
            window.take(",", f"a comma or the end of {kind} belongs after record {row - 1}")
    window.take("]", "")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | DuplicateKey:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    seen: set[str] = set()
    return DuplicateKey(next(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]  # add answers None, which is false


class _Window:
    """A piece of the document, moved on as values are taken from it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")()
        self._json = json.JSONDecoder(
            object_pairs_hook=_object, parse_float=number, parse_int=number, parse_constant=number
        )
        self._text = ""
        self._at = 0
        self._passed = 0
        self._ended = False

    def peek(self) -> str:
        """The next sign that is no white space; empty at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _SPACE:
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                return ""

    def take(self, sign: str, wanted: str, pointer: str = "") -> None:
        if self.peek() != sign:
            raise MalformedError("malformed_json", f"{wanted} ({self._where(self._at)})", pointer)
        self._at += 1

    def key(self) -> str:
        self.peek()
        name = self.value()
        if not isinstance(name, str):
            raise MalformedError(
                "malformed_json", f"a name in quotation marks belongs here ({self._where(self._at)})"
            )
        self.take(":", f"a colon belongs after {name!r}")
        return name

    def value(self) -> Any:
        """The next JSON value, however long it is."""
        self.peek()
        while True:
            try:
                value, end = self._json.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if not self._more():
                    raise MalformedError(
                        "malformed_json", f"{error.msg} ({self._where(error.pos)})"
                    ) from error
            except RecursionError as error:
                raise MalformedError("too_deep", f"nested too deeply ({self._where(self._at)})") from error
            else:
                # What ends with the piece may go on in the next: 0.8 of 0.85.
                if end < len(self._text) or not self._more():
                    self._at = end
                    return value

    def end(self) -> None:
        if self.peek():
            raise MalformedError(
                "malformed_json", f"nothing belongs after the bundle ({self._where(self._at)})"
            )

    def _more(self) -> bool:
        """Read on, at least as much as is still unread, so that a long value is tried few times."""
        if self._ended:
            return False
        rest = self._text[self._at :]
        piece = self._stream.read(max(PIECE_BYTES, len(rest)))
        self._ended = not piece
        try:
            decoded = self._utf8.decode(piece, self._ended)
        except UnicodeDecodeError as error:
            message = f"this is no UTF-8 (after {self._where(len(self._text))}); save the file as UTF-8"
            raise MalformedError("not_utf8", message) from error
        self._passed += self._at
        self._text, self._at = rest + decoded, 0
        return True

    def _where(self, at: int) -> str:
        return f"character {self._passed + at}"
