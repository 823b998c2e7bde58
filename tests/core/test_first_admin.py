"""The login of a new installation."""

import stat
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from apps.core.first_admin import ensure_admin

pytestmark = pytest.mark.django_db


def test_a_first_admin_can_log_in_with_the_password_that_is_kept(tmp_path: Path) -> None:
    admin = ensure_admin(tmp_path / "admin_password")
    user = User.objects.get(username=admin.name)
    assert admin.made
    assert user.is_superuser
    assert user.check_password((tmp_path / "admin_password").read_text())
    assert stat.S_IMODE((tmp_path / "admin_password").stat().st_mode) == 0o600


def test_a_second_call_makes_nothing_and_tells_nothing(tmp_path: Path) -> None:
    first = ensure_admin(tmp_path / "admin_password")
    second = ensure_admin(tmp_path / "admin_password")
    assert (second.name, second.made, second.password) == (first.name, False, None)
    assert User.objects.count() == 1


def test_a_password_written_before_a_crash_is_the_one_that_counts(tmp_path: Path) -> None:
    (tmp_path / "admin_password").write_text("written-before")
    assert ensure_admin(tmp_path / "admin_password").password == "written-before"


def test_another_superuser_is_enough(tmp_path: Path) -> None:
    User.objects.create_superuser("ada")
    assert ensure_admin(tmp_path / "admin_password").name == "ada"
    assert not (tmp_path / "admin_password").exists()


def test_the_command_prints_the_password_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "LODE_VAR", tmp_path)
    first, second = StringIO(), StringIO()
    call_command("ensure_admin", stdout=first)
    call_command("ensure_admin", stdout=second)
    password = (tmp_path / "admin_password").read_text()
    assert f"admin, password {password}" in first.getvalue()
    assert second.getvalue() == "admin is there already\n"


def test_the_command_refuses_where_the_name_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "LODE_VAR", tmp_path)
    User.objects.create_user("admin")
    with pytest.raises(CommandError, match="the user admin is none: make one with createsuperuser"):
        call_command("ensure_admin")
