"""How one settings module builds on another without a star import."""

from types import ModuleType
from typing import Any


def settings_of(module: ModuleType) -> dict[str, Any]:
    """The settings (upper-case names) of ``module``, to be laid into another module's globals."""
    return {name: value for name, value in vars(module).items() if name.isupper()}
