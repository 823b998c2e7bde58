"""A server on the loopback that speaks the OpenAI embeddings protocol, and misbehaves when told to."""

import json
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Answer = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Turn:
    """How one request is answered: by default as the protocol says."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    change: Callable[[Answer], Any] = lambda answer: answer
    raw: bytes | None = None
    content_type: str = "application/json"
    silent_for: float = 0.0
    drip: float = 0.0
    cut: bool = False


class OpenAIServer:
    """What the provider talks to. ``turns`` are used up one by one; then ``ever`` holds."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.turns: deque[Turn] = deque()
        self.ever = Turn()
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self._http = _Http(self)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def answers(self, *turns: Turn) -> None:
        self.turns.extend(turns)

    @contextmanager
    def running(self) -> Iterator["OpenAIServer"]:
        thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._http.shutdown()
            self._http.server_close()
            thread.join()

    def answer(self, request: dict[str, Any]) -> Answer:
        """The protocol's own answer: the vector of a text tells its characters apart."""
        data = [
            {"object": "embedding", "index": index, "embedding": self._vector(text)}
            for index, text in enumerate(request["input"])
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return {"object": "list", "data": data, "model": request["model"], "usage": usage}

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimensions
        for place, sign in enumerate(text):
            vector[(ord(sign) + place) % self.dimensions] += 1.5
        return vector


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, owner: OpenAIServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.owner = owner


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def do_POST(self) -> None:
        owner = self.server.owner
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        owner.requests.append(request)
        owner.keys.append(self.headers["Authorization"])
        turn = owner.turns.popleft() if owner.turns else owner.ever
        if turn.silent_for:
            time.sleep(turn.silent_for)
        try:
            self._send(turn, self._body(turn, request))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _body(self, turn: Turn, request: dict[str, Any]) -> bytes:
        if turn.raw is not None:
            return turn.raw
        if turn.status != 200:
            return json.dumps({"error": {"message": "told to fail", "type": "server_error"}}).encode()
        return json.dumps(turn.change(self.server.owner.answer(request))).encode()

    def _send(self, turn: Turn, body: bytes) -> None:
        self.send_response(turn.status)
        self.send_header("Content-Type", turn.content_type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in turn.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self._write(turn, body)

    def _write(self, turn: Turn, body: bytes) -> None:
        if turn.cut:
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
        elif turn.drip:
            for byte in body:
                self.wfile.write(bytes([byte]))
                time.sleep(turn.drip)
        else:
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as the base class has it
        """Say nothing: a test's requests are in ``requests``."""
