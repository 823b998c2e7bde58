"""Who does something: every action is given an ``Actor``, and every audit event carries one."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Actor:
    """A person, an API key or the system itself, as the audit names it (``kind:name``)."""

    kind: Literal["user", "key", "system"]
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"
