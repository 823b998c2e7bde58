"""ETags: a row's version, so that nobody overwrites what they have not seen (api.md, Writing twice)."""

from typing import Protocol

from django.utils.http import parse_etags
from rest_framework.request import Request

from apps.core.errors import Stale


class Versioned(Protocol):
    """Whatever counts its versions."""

    @property
    def version(self) -> int: ...


def etag(row: Versioned) -> str:
    """The ETag of a row as it stands."""
    return f'"{row.version}"'


def refuse_stale(request: Request, row: Versioned) -> None:
    """Raise Stale where the caller's ``If-Match`` names another version than ``row``'s.

    The caller of this holds the row's lock: a version that is compared without it can change before the write.
    """
    wanted = request.headers.get("If-Match")
    if wanted is None or wanted.strip() == "*" or etag(row) in parse_etags(wanted):
        return
    detail = f"this was changed since; it is at {etag(row)} now, and the request is for {wanted}"
    raise Stale("stale", detail, extra={"etag": etag(row)})
