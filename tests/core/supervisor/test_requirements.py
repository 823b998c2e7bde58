"""What Lode says of a server that does not suit it."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from apps.core.embedded import folders, locations, postgres, running
from apps.core.embedded.server import Server
from apps.core.supervisor import SupervisorError
from apps.core.supervisor.requirements import database_problem, require_broker, require_database
from config.settings import base
from tests.core.conftest import PROJECT


@pytest.mark.parametrize(
    ("server", "installed", "available", "problem"),
    [
        (140011, None, "0.8.5", "The database is PostgreSQL 14, and Lode needs 15 or later."),
        (
            150018,
            None,
            None,
            "The database has no pgvector: install version 0.8.4 or later of it on its server.",
        ),
        (180004, None, "0.7.0", "The database has pgvector 0.7.0, and Lode needs 0.8.4 or later."),
        (180004, "0.8.2", "0.8.2", "The database has pgvector 0.8.2, and Lode needs 0.8.4 or later."),
        (
            180004,
            "0.7.0",
            "0.8.5",
            "The database uses pgvector 0.7.0, and Lode needs 0.8.4 or later: run ALTER EXTENSION vector UPDATE in it.",
        ),
        (150000, "0.8.4", "0.8.4", None),
        (180004, None, "0.10.0", None),
        (180004, "0.8.5", "0.9.0", None),
    ],
)
def test_versions(server: int, installed: str | None, available: str | None, problem: str | None) -> None:
    assert database_problem(server, installed, available) == problem


@pytest.mark.django_db
def test_the_embedded_servers_have_what_it_takes() -> None:
    require_database()
    require_broker()


def test_a_server_without_pgvector_is_refused(
    seasoned: Path, ground: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real one, named by DATABASE_URL, whose path of extensions leads nowhere."""
    with running(seasoned, fast=True):
        pass
    monkeypatch.setitem(postgres._SETTINGS, "extension_control_path", "/nowhere")
    server = postgres.Postgres(folders.prepare(seasoned, print), print, fast=True)
    server.begin()
    Server.finish(server)
    try:
        ran = up(ground / "guest-without-pgvector", locations.socket_folder(seasoned))
    finally:
        server.stop()
    said = "CommandError: The database has no pgvector: install version 0.8.4 or later of it on its server."
    assert (ran.returncode, ran.stderr.strip()) == (1, said)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def up(var: Path, socket_folder: Path) -> subprocess.CompletedProcess[str]:
    """`manage.py up` over a named database."""
    url = f"postgres://lode@{str(socket_folder).replace('/', '%2F')}:5432/postgres"
    named = {"LODE_VAR": str(var), "DATABASE_URL": url, "REDIS_URL": "redis://127.0.0.1:1/0"}
    return subprocess.run(
        [sys.executable, "manage.py", "up", "--port", str(free_port())],
        cwd=PROJECT,
        env={**os.environ, **named, "DJANGO_SETTINGS_MODULE": "config.settings.development"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_broker_that_does_not_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "CELERY_BROKER_URL", "redis://127.0.0.1:1/0")
    with pytest.raises(SupervisorError, match=r"^The broker of REDIS_URL does not answer: .*refused"):
        require_broker()


@pytest.mark.parametrize(
    ("variable", "url"),
    [
        ("DATABASE_URL", "nonsense"),
        ("DATABASE_URL", ""),
        ("REDIS_URL", "nonsense"),
        ("REDIS_URL", "http://x"),
    ],
)
def test_an_address_that_is_none_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str, url: str
) -> None:
    monkeypatch.setenv(variable, url)
    read = {"DATABASE_URL": base.database, "REDIS_URL": base.cache_url}[variable]
    with pytest.raises(ImproperlyConfigured, match=f"^{variable} names no"):
        read(tmp_path)
