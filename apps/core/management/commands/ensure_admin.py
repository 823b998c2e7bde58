"""``manage.py ensure_admin``: a login for a new installation."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.core.first_admin import ensure_admin


class Command(BaseCommand):
    help = "Make an administrator with a random password, printed once and kept in var/, if there is none."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            admin = ensure_admin(settings.LODE_VAR / "admin_password")
        except ValueError as error:
            raise CommandError(str(error)) from error
        if admin.made:
            self.stdout.write(f"{admin.name}, password {admin.password} (kept in {admin.file})")
        else:
            self.stdout.write(f"{admin.name} is there already")
