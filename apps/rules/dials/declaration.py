"""What a dial is: its declaration, and the check of one value against it (dials.md)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

PROVIDERS = ("openai", "local", "hash")
CONFIDENCE_PLACES = 6
_SHOWN_CHARS = 60

Value = bool | int | float | Decimal | str
Kind = type[bool] | type[int] | type[float] | type[Decimal] | type[str]


class InvalidValueError(ValueError):
    """A value that a dial refuses: `wrong` says what is wrong with it, `right` what would be right."""

    def __init__(self, wrong: str, right: str) -> None:
        super().__init__(f"{wrong}; {right}")
        self.wrong = wrong
        self.right = right


@dataclass(frozen=True, slots=True)
class Declared:
    """What the registry says of a dial beside its key, its type and its help.

    `default` is one value, or for a dial that belongs to a space a value for each provider. Numbers are
    written as plain literals and become the dial's type. `section` is that of rules.md.
    """

    group: str
    default: bool | float | str | Mapping[str, float]
    least: float | None
    most: float | None
    unit: str
    section: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dial:
    """One threshold that an operator may turn at runtime.

    `defaults` holds a value for each provider; they differ where `by_space`, since cosines of two models
    are not on one scale. `least` and `most` are inclusive and None where `choices` or on/off bound the value.
    """

    key: str
    group: str
    type: Kind
    defaults: Mapping[str, Value]
    by_space: bool
    least: Decimal | float | None
    most: Decimal | float | None
    choices: tuple[str, ...]
    unit: str
    section: str
    help: str

    def default(self, space: str | None = None) -> Value:
        """The default, for a dial by space that of the provider of `space` (`local/all-MiniLM-L6-v2`)."""
        if not self.by_space:
            return self.defaults[PROVIDERS[0]]
        if space is None:
            raise ValueError(f"the dial {self.key} has a default for each provider; name a space")
        return self.defaults[provider_of(space)]

    def parse(self, raw: object) -> Value:
        """The value that `raw` (as JSON or a form gives it) stands for, in this dial's type.

        Raises InvalidValueError where it is of another type, not finite, or out of bounds.
        """
        if self.type is bool:
            return self._parse_switch(raw)
        if self.type is str:
            return self._parse_choice(raw)
        return self._parse_number(raw)

    def to_json(self, value: Value) -> bool | int | float | str:
        """`value` as JSON carries it; `parse` gives the same value back."""
        return float(value) if isinstance(value, Decimal) else value

    @property
    def bounds(self) -> str:
        """What this dial takes, in words."""
        if self.type is bool:
            return "true (on) or false (off)"
        if self.choices:
            return "one of " + ", ".join(self.choices)
        noun = "a whole number" if self.type is int else "a number"
        places = f" and at most {CONFIDENCE_PLACES} decimals" if self.type is Decimal else ""
        return f"{noun} from {self.least} to {self.most}{places}"

    def _parse_switch(self, raw: object) -> bool:
        if not isinstance(raw, bool):
            raise self._refusal(raw, "is neither on nor off")
        return raw

    def _parse_choice(self, raw: object) -> str:
        if not isinstance(raw, str) or raw not in self.choices:
            raise self._refusal(raw, "is no choice")
        return raw

    def _parse_number(self, raw: object) -> Value:
        if isinstance(raw, bool) or not isinstance(raw, int | float | Decimal):
            raise self._refusal(raw, "is no number")
        if not math.isfinite(raw) if isinstance(raw, float) else not Decimal(raw).is_finite():
            raise self._refusal(raw, "is not finite")
        if self.type is int and not isinstance(raw, int):
            raise self._refusal(raw, "is no whole number")
        self._check_bounds(raw)
        return self._convert(raw)

    def _check_bounds(self, raw: float | Decimal) -> None:
        if self.least is not None and raw < self.least:
            raise self._refusal(raw, "is too small")
        if self.most is not None and raw > self.most:
            raise self._refusal(raw, "is too large")

    def _convert(self, raw: float | Decimal) -> Value:
        if self.type is not Decimal:
            return self.type(raw)
        # repr() gives the shortest decimal that reads back as the same float: what the operator typed.
        exact = Decimal(repr(raw)) if isinstance(raw, float) else Decimal(raw)
        rounded = round(exact, CONFIDENCE_PLACES)
        if rounded != exact:
            raise self._refusal(raw, "has too many decimals")
        return rounded

    def _refusal(self, raw: object, wrong: str) -> InvalidValueError:
        shown = str(raw) if isinstance(raw, float | Decimal) else repr(raw)
        cut = shown if len(shown) <= _SHOWN_CHARS else shown[:_SHOWN_CHARS] + "…"
        return InvalidValueError(f"{cut} {wrong}", f"give {self.bounds}")


def provider_of(space: str) -> str:
    """The provider of a space's name (`openai/text-embedding-3-small`), or of a bare provider's name.

    Raises ValueError where it is none that the registry knows.
    """
    provider = space.partition("/")[0]
    if provider not in PROVIDERS:
        raise ValueError(f"{space!r} names no known provider; give one of {', '.join(PROVIDERS)}")
    return provider
