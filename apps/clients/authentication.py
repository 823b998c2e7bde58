"""Who calls: ``Authorization: Bearer <key>`` (api.md, Who calls)."""

import re
from collections.abc import Callable
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from apps.clients import queries, secrets
from apps.core.api.access import Access
from apps.core.api.problems import Malformed

FindAccess = Callable[[str, Request], Access | None]

_CREDENTIAL_PARAMETER = re.compile(r"(?:^|[&;])(?:access_token|api_key|apikey)=", re.IGNORECASE)


class KeyAuthentication(BaseAuthentication):
    """Knows a caller by its API key; a key that is unknown, revoked or expired is refused alike."""

    def authenticate(self, request: Request) -> tuple[None, Access] | None:
        """The key's access as ``request.auth``, None where no key was sent.

        Raises AuthenticationFailed (401), and Malformed ``credential_in_url``: an address is logged.
        """
        _refuse_credential_in_url(request.META.get("QUERY_STRING", ""), request.path_info)
        kind, _, key = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        if kind.lower() != "bearer":
            return None
        access = _access(key.strip(), request)
        if access is None:
            raise AuthenticationFailed("this key is unknown, revoked or expired")
        return None, access

    def authenticate_header(self, request: Request) -> str:
        """What a 401 asks for."""
        return 'Bearer realm="lode"'


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # registers itself, untyped
    """How keys are sent, for the schema."""

    target_class = KeyAuthentication
    name = "key"

    def get_security_definition(self, auto_schema: object) -> dict[str, Any]:
        """An HTTP bearer token."""
        return {"type": "http", "scheme": "bearer", "description": "An API key."}


def _access(key: str, request: Request) -> Access | None:
    """What ``key`` may do and see. A view with a ``find_access`` reads more in the same round trip."""
    find: FindAccess | None = getattr((request.parser_context or {}).get("view"), "find_access", None)
    return queries.access_by_key(key) if find is None else find(key, request)


def _refuse_credential_in_url(query: str, path: str) -> None:
    if _CREDENTIAL_PARAMETER.search(query) or secrets.SHAPE.search(query) or secrets.SHAPE.search(path):
        detail = (
            "a key in an address ends up in logs: revoke this one, and send keys as Authorization: Bearer"
        )
        raise Malformed("credential_in_url", detail)
