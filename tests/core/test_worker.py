"""What is no HTTP request is answered with a problem too."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.core.conftest import PROJECT


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("web") / "socket"
    web = subprocess.Popen(
        [
            sys.executable, "-m", "gunicorn", "config.wsgi:application", "--bind", f"unix:{path}",
            "--worker-class", "apps.core.worker.ProblemWorker", "--threads", "2", "--no-control-socket",
        ],
        cwd=PROJECT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings.development"},
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 30
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        yield path
    finally:
        web.terminate()
        web.wait(10)


def exchange(address: Path, said: bytes) -> tuple[bytes, bytes]:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(str(address))
        client.sendall(said)
        answer = b""
        while received := client.recv(65536):
            answer += received
    head, _, body = answer.partition(b"\r\n\r\n")
    return head, body


HOST = b"Host: localhost\r\n"


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (b"get /api/v1/topics HTTP/1.1\r\n" + HOST, 400),
        (b"nonsense\r\n", 400),
        (b"\x16\x03\x01\x02\x00\r\n", 400),
        (b"GET /api/v1/topics HTTP/9.9\r\n" + HOST, 400),
        (b"GET /api/v1/topics HTTP/1.1\r\nX Y: 1\r\n" + HOST, 400),
        (b"GET /api/v1/topics HTTP/1.1\r\nX: a\0b\r\n" + HOST, 400),
        (b"POST /api/v1/retrieve HTTP/1.1\r\nContent-Length: -1\r\n" + HOST, 400),
        (b"POST /api/v1/retrieve HTTP/1.1\r\nTransfer-Encoding: odd\r\n" + HOST, 400),
        (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n" + HOST, 414),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 20000 + b"\r\n" + HOST, 431),
    ],
)
def test_what_cannot_be_read_is_a_problem(address: Path, said: bytes, status: int) -> None:
    head, body = exchange(address, said + b"\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert b"Content-Type: application/problem+json" in head
    refused = json.loads(body)
    assert refused["status"] == status
    assert refused["request_id"].encode() in head
