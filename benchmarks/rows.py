"""What a benchmark gives: rows of name, value, unit and goal."""

import operator
from dataclasses import asdict, dataclass
from typing import Any

_COMPARE = {"<=": operator.le, ">=": operator.ge, "==": operator.eq, "<": operator.lt}


@dataclass(frozen=True, slots=True)
class Row:
    """One measured figure. ``goal`` is a comparison such as ``<= 2.5``, or empty where there is none."""

    name: str
    value: float
    unit: str
    goal: str = ""

    @property
    def reached(self) -> bool | None:
        """Whether the value meets the goal; None where there is no goal. Raises ValueError for no comparison."""
        if not self.goal:
            return None
        sign, _, bound = self.goal.partition(" ")
        if sign not in _COMPARE:
            raise ValueError(f"{self.name}: {self.goal!r} is no comparison; write it as '<= 2.5'")
        return bool(_COMPARE[sign](self.value, float(bound)))

    def as_json(self) -> dict[str, Any]:
        """The row for a file, with whether it met its goal."""
        return {**asdict(self), "reached": self.reached}
