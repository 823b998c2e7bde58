"""Which commands of `manage.py` bring their own servers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import get_commands

from apps.core.embedded import commands
from apps.core.embedded.commands import is_embedded_broker, is_embedded_database, needs_servers
from tests.core.conftest import PROJECT, cleared


@pytest.mark.parametrize(
    ("line", "needs"),
    [
        ("", False),
        ("help", False),
        ("--version", False),
        ("no_such_command", False),
        ("up --port 8001", False),
        ("check --deploy --fail-level WARNING", False),
        ("check --database default", True),
        ("collectstatic --noinput", False),
        ("makemigrations --check --dry-run", False),
        ("makemigrations", True),
        ("migrate", True),
        ("migrate --help", False),
        ("shell -c pass", True),
        ("verify_invariants", True),
    ],
)
def test_only_commands_that_use_a_server_bring_one(line: str, *, needs: bool) -> None:
    assert needs_servers(["manage.py", *line.split()]) is needs


def test_a_fresh_process_knows_the_commands_of_lode() -> None:
    asked = "from apps.core.embedded.commands import needs_servers as n; print(n(['manage.py', 'verify_invariants']))"
    ran = subprocess.run(
        [sys.executable, "-c", asked], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "True"


def test_every_command_named_as_needing_none_exists() -> None:
    known = get_commands()
    special = {"help", "version"}
    assert {name for name in commands.WITHOUT_SERVERS if name not in known} == special


def test_named_servers_are_not_embedded_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_embedded_database()
    assert is_embedded_broker()
    monkeypatch.setitem(settings.DATABASES["default"], "HOST", "db.example.org")
    monkeypatch.setattr(settings, "CELERY_BROKER_URL", "redis://example.org/1")
    assert not is_embedded_database()
    assert not is_embedded_broker()


def manage(var: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "LODE_VAR": str(var),
        "DJANGO_SETTINGS_MODULE": "config.settings.development",
    }
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)


def test_a_command_alone_has_its_own_servers_and_leaves_none(seasoned: Path) -> None:
    asked = "from django.db import connection as c; c.ensure_connection(); print(c.pg_version // 10000)"
    ran = manage(seasoned, "shell", "--no-imports", "-c", asked)
    assert (ran.returncode, ran.stdout.strip()) == (0, "18"), ran.stderr


def test_a_command_whose_servers_cannot_run_says_so_in_one_sentence(ground: Path) -> None:
    with cleared(ground / "other-version") as var:
        (var / "servers" / "postgres").mkdir(parents=True)
        (var / "servers" / "postgres" / "PG_VERSION").write_text("16\n")
        ran = manage(var, "migrate")
    assert ran.returncode == 1
    assert len(ran.stderr.splitlines()) == 1
    assert "is of PostgreSQL 16" in ran.stderr


def test_settings_that_cannot_keep_their_secret_say_so_in_one_sentence() -> None:
    ran = manage(Path("/proc/var"), "up")
    assert ran.returncode == 1
    assert ran.stderr.startswith("The file /proc/var cannot be used: ")
    assert len(ran.stderr.splitlines()) == 1
