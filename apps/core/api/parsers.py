"""A strict JSON parser: what a lenient one lets through is what breaks the database later (api.md, Errors)."""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

from rest_framework.parsers import BaseParser

from apps.core.api.problems import Malformed, TooLarge, escaped
from apps.core.errors import Invalid, Refusal

MAX_BODY_BYTES = 1024 * 1024
MAX_DEPTH = 20
_MAX_DIGITS = 19
_BIGINT = range(-(2**63), 2**63)
_SURROGATE = re.compile("[\ud800-\udfff]")


class StrictJSONParser(BaseParser):
    """A JSON object of at most ``max_body_bytes`` of the view (1 MiB), in UTF-8 without a byte-order mark."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        view = (parser_context or {}).get("view")
        return parse_object(read_bounded(stream, getattr(view, "max_body_bytes", MAX_BODY_BYTES)))


def read_bounded(stream: IO[bytes], limit: int) -> bytes:
    """All of ``stream``; raises TooLarge once it is longer than ``limit`` bytes."""
    body = stream.read(limit + 1)
    if len(body) > limit:
        raise TooLarge("body_too_large", f"the body is larger than the {limit} bytes that this address takes")
    return body


def parse_object(body: bytes) -> dict[str, Any]:
    """The JSON object in ``body``. Raises Malformed or Invalid with a pointer to what is wrong."""
    data = _loaded(_decoded(body))
    refusal = _first_refusal(data, "", 1)
    if refusal is not None:
        raise refusal
    if not isinstance(data, dict):
        raise Malformed("object_expected", "the body is a JSON object")
    return data


def _decoded(body: bytes) -> str:
    if body.startswith(b"\xef\xbb\xbf"):
        raise Malformed("malformed_json", "the body begins with a byte-order mark; send UTF-8 without one")
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise Malformed("malformed_json", f"byte {error.start} of the body is no UTF-8") from error


@dataclass(frozen=True, slots=True)
class _Wrong:
    """Stands in the parsed value where something is wrong that only the parser could see."""

    kind: type[Refusal]
    code: str
    detail: str
    key: str = ""


def _loaded(text: str) -> Any:
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant
        )
    except json.JSONDecodeError as error:
        raise Malformed("malformed_json", f"{error.msg} at character {error.pos} of the body") from error
    except RecursionError as error:
        raise _too_deep("") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Wrong:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
    return _Wrong(Malformed, "duplicate_key", f"the key {twice!r} stands twice in one object", twice)


def _integer(digits: str) -> int | _Wrong:
    if len(digits.lstrip("-")) <= _MAX_DIGITS and (number := int(digits)) in _BIGINT:
        return number
    return _Wrong(Invalid, "out_of_range", "an integer lies between -2^63 and 2^63 - 1")


def _float(text: str) -> float | _Wrong:
    number = float(text)
    return number if math.isfinite(number) else _not_finite(text[:40])


def _constant(name: str) -> _Wrong:
    return _not_finite(name)


def _not_finite(text: str) -> _Wrong:
    return _Wrong(Invalid, "not_finite", f"{text} is no finite number")


def _first_refusal(value: Any, pointer: str, depth: int) -> Refusal | None:
    """The first thing that is wrong with a parsed value, in the order of the body."""
    if isinstance(value, str):
        return _text_refusal(value, pointer)
    if isinstance(value, _Wrong):
        where = f"{pointer}/{escaped(value.key)}" if value.key else pointer
        return _refusal(value.kind, value.code, value.detail, where)
    if not isinstance(value, dict | list):
        return None
    if depth > MAX_DEPTH:
        return _too_deep(pointer)
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        where = f"{pointer}/{escaped(key)}"
        found = isinstance(key, str) and _text_refusal(key, where)
        if found := found or _first_refusal(inner, where, depth + 1):
            return found
    return None


def _text_refusal(text: str, pointer: str) -> Refusal | None:
    if "\0" in text:
        return _refusal(Invalid, "null_character", "a text holds no NUL character", pointer)
    if not text.isascii() and _SURROGATE.search(text):
        return _refusal(Invalid, "surrogate", "a text holds no lone surrogate", pointer)
    return None


def _too_deep(pointer: str) -> Refusal:
    return _refusal(Malformed, "too_deep", f"the body nests deeper than {MAX_DEPTH} levels", pointer)


def _refusal(kind: type[Refusal], code: str, detail: str, pointer: str) -> Refusal:
    clean = pointer.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
    return kind(code, detail, clean)
