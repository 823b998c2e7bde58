"""Every error as ``application/problem+json`` (RFC 9457; api.md, Errors).

A pointer names the place: a JSON pointer into the body, ``?name`` for a query parameter.
"""

import http
import json
import logging
from collections.abc import Iterable, Iterator
from typing import Any

from django.core.exceptions import (
    ObjectDoesNotExist,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.db import DatabaseError, DataError, IntegrityError, InterfaceError, OperationalError
from django.http import Http404, UnreadablePostError
from psycopg.errors import CheckViolation
from rest_framework import exceptions
from rest_framework.response import Response

from apps.core.api.requests import current_id
from apps.core.errors import Conflict, Forbidden, Invalid, Missing, Problem, Refusal, Stale

logger = logging.getLogger(__name__)

CONTENT_TYPE = "application/problem+json"
LISTED = 100
"""How many errors of a request's fields one problem lists; its detail counts them all."""


class Malformed(Refusal):
    """The request cannot be read: 400. Only the API raises it; an action never sees such a request."""


class TooLarge(Refusal):
    """The body is larger than this address takes: 413."""


class LengthRequired(Refusal):
    """The body comes without its length: 411."""


class Unavailable(Refusal):
    """Something that the answer needs does not answer now: 503."""


_STATUS: dict[type[Refusal], int] = {
    Malformed: 400,
    Forbidden: 403,
    Missing: 404,
    Conflict: 409,
    LengthRequired: 411,
    Stale: 412,
    TooLarge: 413,
    Invalid: 422,
    Unavailable: 503,
}

# DRF's words for what its fields refuse, where the contract's are clearer.
_CODES = {
    "max_length": "too_long",
    "min_length": "too_short",
    "max_value": "out_of_range",
    "min_value": "out_of_range",
    "max_digits": "out_of_range",
    "max_whole_digits": "out_of_range",
    "max_decimal_places": "out_of_range",
    "max_string_length": "out_of_range",
    "overflow": "out_of_range",
    "null_characters_not_allowed": "null_character",
    "surrogate_characters_not_allowed": "surrogate",
    "does_not_exist": "unknown",
    "permission_denied": "forbidden",
    "error": "malformed",
    "authentication_failed": "invalid_key",
}

_DETAILS = {
    404: "there is nothing at this address, or nothing that this key may see",
    500: "something went wrong here; the request's id finds it in the log",
}


def document(
    status: int, code: str, detail: str, errors: Iterable[Problem] = (), **extra: Any
) -> dict[str, Any]:
    """One problem as it is sent. ``extra`` members stand beside the standard ones."""
    listed = [{"pointer": error.pointer, "code": error.code, "message": error.message} for error in errors]
    return {
        "type": f"urn:lode:problem:{code}",
        "title": http.HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
        "errors": listed,
        "request_id": current_id.get(),
        **extra,
    }


def plain_body(status: int) -> str:
    """A problem for an error that no view answered: an unknown address, a refused host, a defect."""
    phrase = http.HTTPStatus(status).phrase
    return json.dumps(document(status, code_of(status), _DETAILS.get(status, phrase.lower())))


def missing() -> Missing:
    """The one refusal for what is not there and for what a key may not see: nothing tells the two apart."""
    return Missing("not_found", _DETAILS[404])


def code_of(status: int) -> str:
    """The code of a bare status: ``not_found`` for 404."""
    if status == http.HTTPStatus.INTERNAL_SERVER_ERROR:
        return "internal_error"
    return http.HTTPStatus(status).phrase.lower().replace(" ", "_").replace("-", "_")


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's way in: a problem for every error that is a caller's or a dependency's; None for a defect."""
    refusal = _as_refusal(error)
    if refusal is not None:
        return _response(_status(refusal), refusal)
    if isinstance(error, exceptions.APIException):
        return _drf_response(error)
    return None


def _status(refusal: Refusal) -> int:
    return next(_STATUS[kind] for kind in type(refusal).__mro__ if kind in _STATUS)


def _response(status: int, refusal: Refusal) -> Response:
    body = document(status, refusal.code, refusal.detail, refusal.errors, **refusal.extra)
    wait = refusal.extra.get("retry_after")
    headers = {} if wait is None else {"Retry-After": str(wait)}
    return Response(body, status=status, headers=headers, content_type=CONTENT_TYPE)


def _as_refusal(error: Exception) -> Refusal | None:
    if isinstance(error, Refusal):
        return error
    if isinstance(error, Http404 | ObjectDoesNotExist):  # the latter where a row went while it was asked for
        return missing()
    if isinstance(error, PermissionDenied):
        return Forbidden("forbidden", "this key may not do this")
    if isinstance(error, RequestDataTooBig):
        return TooLarge("body_too_large", "the body is larger than this address takes")
    if isinstance(error, SuspiciousOperation | UnreadablePostError):
        return Malformed("malformed_request", "the request cannot be read")
    return _of_database(error) if isinstance(error, DatabaseError | InterfaceError) else None


def _of_database(error: Exception) -> Refusal | None:
    """What the database refused although every check before it said yes: a race, an outage, or a missing check."""
    if isinstance(error, OperationalError | InterfaceError):
        logger.warning("the database does not answer: %s", error, exc_info=error)
        return Unavailable("database_unavailable", "the database does not answer", extra={"retry_after": 1})
    if isinstance(error, DataError) or isinstance(error.__cause__, CheckViolation):
        logger.error("the database refused a value that the API let through", exc_info=error)
        return Invalid("unstorable", "a value of this request cannot be stored")
    if isinstance(error, IntegrityError):
        logger.warning("a write lost a race", exc_info=error)
        return Conflict(
            "changed_meanwhile", "something this request relies on was changed meanwhile; try again"
        )
    return None


def _drf_response(error: exceptions.APIException) -> Response:
    if isinstance(error, exceptions.ValidationError):
        return _response(422, validation_refusal(error))
    found = list(_flatten(error.get_full_details(), ""))
    refusal = Refusal(found[0].code, found[0].message)
    response = _response(error.status_code, refusal)
    for header, attribute in (("WWW-Authenticate", "auth_header"), ("Retry-After", "wait")):
        if (value := getattr(error, attribute, None)) is not None:
            response[header] = str(value)
    return response


def validation_refusal(error: exceptions.ValidationError) -> Invalid:
    """A serializer's errors as one refusal with a pointer for each of the first ``LISTED``.

    Its code is that of the errors where they share one, else ``invalid``.
    """
    problems = list(_flatten(error.get_full_details(), ""))
    codes = {problem.code for problem in problems}
    first = problems[0]
    where = f"{first.pointer}: " if first.pointer else ""
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    code = codes.pop() if len(codes) == 1 else "invalid"
    # The rest is counted: listing all would answer a small body with one ten times its size.
    return Invalid(code, f"{where}{first.message}{more}", first.pointer, problems=problems[:LISTED])


def _flatten(detail: Any, pointer: str) -> Iterator[Problem]:
    """DRF's nested errors (``{message, code}`` at the leaves) one by one, each with its place."""
    if isinstance(detail, dict) and set(detail) == {"message", "code"} and isinstance(detail["code"], str):
        code = str(detail["code"])
        yield Problem(_CODES.get(code, code), str(detail["message"]), pointer)
    elif isinstance(detail, dict):
        for name, inner in detail.items():
            yield from _flatten(
                inner, pointer if name == "non_field_errors" else f"{pointer}/{escaped(name)}"
            )
    elif detail and all(_is_leaf(inner) for inner in detail):
        for inner in detail:
            yield from _flatten(inner, pointer)
    else:
        for index, inner in enumerate(detail):
            yield from _flatten(inner, f"{pointer}/{index}")


def _is_leaf(detail: Any) -> bool:
    return isinstance(detail, dict) and isinstance(detail.get("code"), str)


def escaped(name: object) -> str:
    """One step of a JSON pointer (RFC 6901)."""
    return str(name).replace("~", "~0").replace("/", "~1")
