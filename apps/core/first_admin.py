"""The first administrator, so that a new installation has a login."""

from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth import get_user_model
from django.db import transaction

from apps.core.secrets import kept_secret

NAME = "admin"


@dataclass(frozen=True, slots=True)
class FirstAdmin:
    """An administrator by ``name``. ``password`` is known only where the account was ``made`` just now."""

    name: str
    file: Path
    password: str | None = None

    @property
    def made(self) -> bool:
        """Whether this call made the account."""
        return self.password is not None


@transaction.atomic
def ensure_admin(file: Path) -> FirstAdmin:
    """See that an active superuser exists; a new one gets a random password, kept in ``file`` (mode 0600).

    The file is written first: where the process dies in between, the next call uses the same password.
    Raises ValueError where the name is taken by someone who is no active superuser.
    """
    users = get_user_model()._default_manager
    found = users.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if found is not None:
        return FirstAdmin(found.get_username(), file)
    if users.filter(username=NAME).exists():
        raise ValueError(
            f"No active superuser exists, and the user {NAME} is none: make one with createsuperuser."
        )
    password = kept_secret(file, length=12)
    get_user_model().objects.create_superuser(NAME, password=password)
    return FirstAdmin(NAME, file, password)
