"""The commands that make keys."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.clients import queries
from apps.clients.actions import revoke_key
from apps.clients.models import ApiKey
from tests.factories import ACTOR, NOW

pytestmark = pytest.mark.django_db


def run(name: str, *args: str) -> str:
    out = StringIO()
    call_command(name, *args, stdout=out)
    return out.getvalue().strip()


def test_a_key_is_made_as_it_was_asked_for() -> None:
    text = run(
        "create_api_key", "tutor", "--scope", "retrieve", "--scope", "write", "--source", "assistant",
        "--topic", "cryptography", "--learner-prefix", "school-", "--expires", "1.5", "--rate", "7",
    )  # fmt: skip
    access = queries.access_by_key(text)
    assert access is not None
    assert access.scopes == {"retrieve", "write"}
    assert access.sources == {"assistant"}
    assert access.topics == ("cryptography",)
    assert access.learner_prefix == "school-"
    assert access.rate_per_minute == 7
    expires_at = ApiKey.objects.get().expires_at
    assert expires_at is not None
    assert 1.4 < (expires_at - timezone.now()).total_seconds() / 86400 < 1.5


@pytest.mark.parametrize(
    "args",
    [
        ["--rate=0"],
        ["--rate=99999999999999999999"],
        ["--learner-prefix=%"],
        *([f"--expires={days}"] for days in ("-1", "0", "nan", "inf", "1e12", "soon")),
    ],
)
def test_a_key_that_makes_no_sense_is_refused(args: list[str]) -> None:
    with pytest.raises(CommandError):
        run("create_api_key", "tutor", "--scope", "write", *args)
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize("name", ["", " ", "x" * 101, "a\nb", "a\u202eb"])
def test_a_key_has_a_name_that_a_list_can_show(name: str) -> None:
    with pytest.raises(CommandError, match="name"):
        run("create_api_key", name, "--scope", "write")
    assert not ApiKey.objects.exists()


def test_the_demo_key_is_made_once_and_kept(tmp_path: Path, settings: Any) -> None:
    settings.LODE_VAR = tmp_path
    first, second = run("ensure_demo_key"), run("ensure_demo_key")
    assert first == second
    assert (tmp_path / "demo_key").stat().st_mode & 0o777 == 0o600
    access = queries.access_by_key(first)
    assert access is not None
    assert access.scopes == {"retrieve", "write", "author"}


def test_the_demo_key_comes_back_with_an_emptied_database(tmp_path: Path, settings: Any) -> None:
    settings.LODE_VAR = tmp_path
    first = run("ensure_demo_key")
    ApiKey.objects.all().delete()
    assert run("ensure_demo_key") == first
    assert queries.access_by_key(first) is not None


def test_a_revoked_demo_key_stays_revoked(tmp_path: Path, settings: Any) -> None:
    settings.LODE_VAR = tmp_path
    text = run("ensure_demo_key")
    revoke_key(key=ApiKey.objects.get(), actor=ACTOR, now=NOW)
    with pytest.raises(CommandError, match="revoked"):
        run("ensure_demo_key")
    assert queries.access_by_key(text) is None
