"""A dial that nothing reads is a promise that nothing keeps (dials.md)."""

import ast
from pathlib import Path

from django.conf import settings

from apps.rules.dials import DIALS

APPS = Path(settings.BASE_DIR) / "apps"


def attributes_read() -> set[str]:
    """The names of all attributes that the product reads, outside the registry and the migrations."""
    names: set[str] = set()
    for file in APPS.rglob("*.py"):
        if "migrations" not in file.parts and file.parent != APPS / "rules" / "dials":
            nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            names.update(node.attr for node in nodes if isinstance(node, ast.Attribute))
    return names


def test_every_dial_has_a_call_site() -> None:
    assert sorted(set(DIALS) - attributes_read()) == []
