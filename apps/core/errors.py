"""How an action says no.

Actions know nothing of HTTP: they raise one of these, and the API, the admin and the commands each
say it in their own way. Every refusal carries a machine's ``code``, a person's ``detail`` (what is
wrong and what would be right) and, where one field is to blame, a JSON ``pointer`` to it.
"""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with what was given, and where."""

    code: str
    message: str
    pointer: str = ""


@dataclass
class Refusal(Exception):
    """An action that will not be done; nothing was written."""

    code: str
    detail: str
    pointer: str = ""
    problems: list[Problem] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.detail

    @property
    def errors(self) -> list[Problem]:
        """Every problem: those listed, else the one that the refusal itself names."""
        return self.problems or [Problem(self.code, self.detail, self.pointer)]


class Invalid(Refusal):
    """What was given breaks a rule."""


class Conflict(Refusal):
    """What was given meets something that is already there."""


class Missing(Refusal):
    """There is no such thing, or none that the caller may see: the two are answered alike."""


class Forbidden(Refusal):
    """The caller is known and may not do this."""


class Stale(Refusal):
    """The caller decided on an older version than the current one."""


def refuse_stale(*, current: int, expected: int | None) -> None:
    """Raise Stale, with the current version, where a change was decided on another; None was decided on none.

    Called under the row's lock: what is asked for before it may be old when the row is written.
    """
    if expected is not None and expected != current:
        detail = f"it was changed meanwhile: its version is {current}, and another was decided on"
        raise Stale("stale", detail, extra={"version": current})
