"""Calling the API in tests: a client with a key, and what every problem must look like."""

import json
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.test import Client

from apps.clients.actions import KeyDraft, create_key
from apps.clients.models import ApiKey, Scope
from tests.factories import ACTOR, NOW

ALL_SCOPES = tuple(Scope.values)


def make_key(**given: Any) -> tuple[ApiKey, str]:
    """A key with every scope unless others are named, and its text."""
    return create_key(draft=KeyDraft(**{"name": "test", "scopes": ALL_SCOPES, **given}), actor=ACTOR, now=NOW)


class Caller:
    """A client of the API: JSON out, JSON in, with one key."""

    def __init__(self, key: str | None = None, **given: Any) -> None:
        self.key = key if key is not None else make_key(**given)[1]
        self._client = Client(raise_request_exception=False)

    def __call__(
        self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, **headers: Any
    ) -> HttpResponse:
        answer = self._send(method, path, body, raw, headers)
        assert isinstance(answer, HttpResponse)
        return answer

    def stream(self, path: str, **headers: Any) -> StreamingHttpResponse:
        """The answer of an address that streams; reading it to the end closes it."""
        answer = self._send("GET", path, None, None, headers)
        assert isinstance(answer, StreamingHttpResponse)
        return answer

    def _send(
        self, method: str, path: str, body: Any, raw: bytes | None, headers: dict[str, Any]
    ) -> HttpResponseBase:
        sent = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        content_type = named.pop("content-type", "application/json")
        if self.key:
            named.setdefault("authorization", f"Bearer {self.key}")
        answer: HttpResponseBase = self._client.generic(
            method, path, sent, content_type=content_type, headers=named
        )
        return answer

    def get(self, path: str, **headers: Any) -> HttpResponse:
        return self("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: Any) -> HttpResponse:
        return self("POST", path, body, **headers)

    def patch(self, path: str, body: Any = None, **headers: Any) -> HttpResponse:
        return self("PATCH", path, body, **headers)

    def delete(self, path: str, **headers: Any) -> HttpResponse:
        return self("DELETE", path, **headers)


def problem(response: Any, status: int, code: str, pointer: str | None = None) -> dict[str, Any]:
    """The problem in ``response``, held to its contract."""
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = json.loads(response.content)
    assert {"type", "title", "status", "detail", "code", "errors", "request_id"} <= set(body)
    assert body["status"] == status
    assert body["code"] == code, body
    assert body["request_id"] == response["X-Request-Id"]
    assert body["detail"]
    assert all(set(error) == {"pointer", "code", "message"} for error in body["errors"])
    if pointer is not None:
        assert pointer in [error["pointer"] for error in body["errors"]], body
    return body
