"""The web worker: gunicorn's, which answers what is no HTTP request with a problem too (api.md, Errors)."""

import http
import re
import socket
from typing import Any

from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]  # it has no types

_STATUS_LINE = re.compile(rb"HTTP/1\.1 (\d{3}) ")


class ProblemWorker(ThreadWorker):  # type: ignore[misc]  # its base has no types
    """Threads. What cannot be read as a request reaches no middleware, and no answer to a program is HTML."""

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """As gunicorn's, with a problem for a body."""
        super().handle_error(req, _Speaker(client), addr, exc)


class _Speaker:
    """A socket on which gunicorn says its error, and a problem of the same status is sent."""

    def __init__(self, client: socket.socket) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def sendall(self, said: bytes) -> None:
        found = _STATUS_LINE.match(said)
        self._client.sendall(answer(int(found[1])) if found else said)


def answer(status: int) -> bytes:
    """The whole response for what could not be read; a coding that is not known is the caller's mistake: 400."""
    # Gunicorn loads this module before Django is set up.
    from apps.core.api.problems import CONTENT_TYPE, plain_body  # noqa: PLC0415
    from apps.core.api.requests import choose_id, current_id  # noqa: PLC0415

    known = (
        http.HTTPStatus.BAD_REQUEST if status == http.HTTPStatus.NOT_IMPLEMENTED else http.HTTPStatus(status)
    )
    current_id.set(choose_id(None))
    body = plain_body(known).encode()
    head = (
        f"HTTP/1.1 {known} {known.phrase}\r\nConnection: close\r\nContent-Type: {CONTENT_TYPE}\r\n"
        f"Content-Length: {len(body)}\r\nX-Request-Id: {current_id.get()}\r\n\r\n"
    )
    return head.encode("latin-1") + body
