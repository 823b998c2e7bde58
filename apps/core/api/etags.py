"""ETags: a row's version, so that nobody overwrites what they have not seen (api.md, Writing twice)."""

from typing import Protocol

from django.utils.http import parse_etags
from rest_framework.request import Request

_NO_VERSION = -1


class Versioned(Protocol):
    """Whatever counts its versions."""

    @property
    def version(self) -> int: ...


def etag(row: Versioned) -> str:
    """The ETag of a row as it stands."""
    return f'"{row.version}"'


def expected_version(request: Request, row: Versioned) -> int | None:
    """The version that the caller's ``If-Match`` asks for, for an action to compare under the row's lock.

    None where any will do. Of several that it names, the one that ``row`` was read at; where it names
    none of those, a version that no row has.
    """
    wanted = request.headers.get("If-Match")
    if wanted is None or wanted.strip() == "*":
        return None
    return row.version if etag(row) in parse_etags(wanted) else _NO_VERSION
