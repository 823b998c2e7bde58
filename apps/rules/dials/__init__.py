"""The dials: every threshold of the rules, with its bounds, its default and what it does (dials.md)."""

from apps.rules.dials.declaration import PROVIDERS, Dial, InvalidValueError, Value, provider_of
from apps.rules.dials.registry import DIALS, DialValues, resolve
from apps.rules.dials.validation import Change, Place, Problem, validate

__all__ = [
    "DIALS",
    "PROVIDERS",
    "Change",
    "Dial",
    "DialValues",
    "InvalidValueError",
    "Place",
    "Problem",
    "Value",
    "provider_of",
    "resolve",
    "validate",
]
