"""Writing twice: a retried POST gets the first answer again (api.md, Writing twice).

One transaction holds the lock of the key, the effect, and the answer that is kept: the kept answer
exists if and only if the effect does. A process that dies takes its lock and its effect with it, and the
next try begins anew. A refused or failed request leaves nothing, so its key is free again.
"""

import datetime as dt
import functools
import hashlib
import json
import re
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.db import transaction
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from apps.clients.models import IdempotencyRecord
from apps.core.api.problems import Malformed
from apps.core.api.views import ApiView
from apps.core.database import try_hold
from apps.core.errors import Conflict, Invalid

HEADER = "Idempotency-Key"

_SHAPE = re.compile(r"[\x21-\x7e]{1,200}")
_KEPT_HEADERS = ("ETag", "Location")

View = TypeVar("View", bound=ApiView)
Given = ParamSpec("Given")
Handler = Callable[Concatenate[View, Request, Given], Response]


def idempotent(handler: "Handler[View, Given]") -> "Handler[View, Given]":
    """Let a handler that writes be retried under an ``Idempotency-Key``; without one nothing changes.

    With one, the handler runs inside a transaction: it must not wait for another service.
    """

    @functools.wraps(handler)
    def once(view: View, request: Request, /, *args: Given.args, **kwargs: Given.kwargs) -> Response:
        key = request.headers.get(HEADER)
        if key is None:
            return handler(view, request, *args, **kwargs)
        if not _SHAPE.fullmatch(key):
            raise Malformed("invalid_idempotency_key", f"{HEADER} is 1 to 200 visible ASCII characters")
        with transaction.atomic():
            return _once(view, key, lambda: handler(view, request, *args, **kwargs))

    once.is_idempotent = True  # type: ignore[attr-defined]  # read by the schema
    return once


def _once(view: ApiView, key: str, answer: Callable[[], Response]) -> Response:
    key_id = view.access.key_id
    if not try_hold(f"idempotency:{key_id}:{key}"):
        detail = "a request with this idempotency key is still running; ask again for its answer"
        raise Conflict("idempotency_in_flight", detail, extra={"retry_after": 1})
    fingerprint = _fingerprint(view.request)
    kept = IdempotencyRecord.objects.filter(api_key_id=key_id, key=key).first()
    if kept is not None:
        return _replayed(kept, fingerprint)
    response = answer()
    if response.status_code < 300:
        _keep(response, key_id=key_id, key=key, fingerprint=fingerprint, now=view.now)
    return response


def _fingerprint(request: Request) -> str:
    """What makes two requests the same: method, address and body (as JSON: its spacing and order are no matter)."""
    body = request.data if isinstance(request.data, dict) else bytes(request.data)
    said = json.dumps(body, sort_keys=True).encode() if isinstance(body, dict) else body
    return hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode() + said).hexdigest()


def _replayed(kept: IdempotencyRecord, fingerprint: str) -> Response:
    if kept.request_hash != fingerprint:
        detail = "this idempotency key stands for another request; a new request takes a new key"
        raise Invalid("idempotency_key_reused", detail)
    headers: dict[str, Any] = {**kept.headers, "Idempotency-Replayed": "true"}
    data = json.loads(kept.response) if kept.response else None
    return Response(data, status=kept.status, headers=headers)


def _keep(response: Response, *, key_id: int, key: str, fingerprint: str, now: dt.datetime) -> None:
    IdempotencyRecord.objects.create(
        api_key_id=key_id,
        key=key,
        request_hash=fingerprint,
        status=response.status_code,
        response=JSONRenderer().render(response.data).decode(),
        headers={name: response[name] for name in _KEPT_HEADERS if name in response},
        created_at=now,
    )
