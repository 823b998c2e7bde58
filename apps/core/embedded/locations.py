"""Where the embedded servers of one ``var`` folder are reached."""

from pathlib import Path
from typing import Any


def database_settings(var: Path) -> dict[str, Any]:
    """The Django database entry of the embedded PostgreSQL."""
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "lode",
        "USER": "postgres",
        "HOST": str(var / "pg"),
    }


def broker_socket(var: Path) -> Path:
    """The unix socket of the embedded Valkey."""
    return var / "valkey.sock"
