"""Data that others wrote, read from where it lies and never copied into the project."""

import json
import os
from typing import Any

import pytest
from django.conf import settings


def load(name: str) -> Any:
    """The JSON file of that name under ``LODE_DATA_DIR``; a test without it is skipped, and fails where CI runs."""
    path = settings.LODE_DATA_DIR / name
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    message = f"there is no {path}; LODE_DATA_DIR says where the real data lies"
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)
