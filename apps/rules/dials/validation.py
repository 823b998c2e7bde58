"""Whether a set of dial changes may be made: each on its own, then all of them together (dials.md)."""

import difflib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from apps.rules.dials.declaration import Dial, InvalidValueError, Value, provider_of
from apps.rules.dials.registry import DIALS

Place = tuple[str, str | None]
"""A dial's key and, where the dial belongs to a space, the space's name."""

ORDERINGS: tuple[tuple[str, ...], ...] = (
    ("retrieval_floor_proven", "retrieval_floor_pattern", "retrieval_floor_candidate"),
    ("maturity_boost_candidate", "maturity_boost_pattern", "maturity_boost_proven"),
    ("band_moderate", "band_strong"),
    ("match_quality_unanchored", "match_quality_exact"),
)
"""Dials whose values may not fall from one to the next."""


@dataclass(frozen=True, slots=True)
class Change:
    """A value that somebody wants a dial to have; `space` names the space of a dial by space, else None."""

    key: str
    value: object
    space: str | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a change is refused: `wrong` is what is wrong with it, `right` what would be right."""

    key: str
    space: str | None
    wrong: str
    right: str


def validate(changes: Sequence[Change], current: Mapping[Place, Value]) -> list[Problem]:
    """Every reason to refuse `changes`, which are made together or not at all; empty where they may be made.

    `current` holds the stored values, as `resolve` takes them. Orders between dials are judged on what
    would be in force afterwards, and only where every single value is sound.
    """
    alone = [*_repeated(changes), *(problem for change in changes for problem in _problems_of(change))]
    if alone:
        return alone
    changed = {(change.key, change.space): DIALS[change.key].parse(change.value) for change in changes}
    return list(_disorders(changed, {**current, **changed}))


def _repeated(changes: Sequence[Change]) -> Iterable[Problem]:
    seen: set[Place] = set()
    for change in changes:
        place = (change.key, change.space)
        if place in seen:
            yield Problem(*place, "it is changed twice in one request", "give one value for it")
        seen.add(place)


def _problems_of(change: Change) -> Iterable[Problem]:
    dial = DIALS.get(change.key)
    if dial is None:
        yield Problem(change.key, change.space, "there is no such dial", _nearest_key(change.key))
        return
    yield from _space_problems(dial, change)
    try:
        dial.parse(change.value)
    except InvalidValueError as error:
        yield Problem(change.key, change.space, error.wrong, error.right)


def _nearest_key(key: str) -> str:
    near = difflib.get_close_matches(key, DIALS, n=1)
    return f"did you mean {near[0]}?" if near else "give a key that the list of dials has"


def _space_problems(dial: Dial, change: Change) -> Iterable[Problem]:
    if dial.by_space and change.space is None:
        yield Problem(dial.key, None, "it has a value for each space and none is named", "name the space")
    elif not dial.by_space and change.space is not None:
        yield Problem(dial.key, change.space, "it has one value for all spaces", "leave the space out")
    elif change.space is not None:
        try:
            provider_of(change.space)
        except ValueError as error:
            wrong, _, right = str(error).partition("; ")
            yield Problem(dial.key, change.space, wrong, right)


def _disorders(changed: Mapping[Place, Value], stored: Mapping[Place, Value]) -> Iterable[Problem]:
    spaces = dict.fromkeys(space for _, space in changed)
    pairs = [pair for ordering in ORDERINGS for pair in itertools.pairwise(ordering)]
    for space, (low, high) in itertools.product(spaces, pairs):
        touched = [key for key in (low, high) if (key, space) in changed]
        if touched and _in_force(low, space, stored) > _in_force(high, space, stored):
            yield _disorder(touched[0], low, high, space, stored)


def _in_force(key: str, space: str | None, stored: Mapping[Place, Value]) -> float | Decimal:
    place = (key, space)
    value = stored[place] if place in stored else DIALS[key].default(space)
    if isinstance(value, str):
        raise TypeError(f"the dial {key} holds a word and has no place in an order")
    return value


def _disorder(key: str, low: str, high: str, space: str | None, stored: Mapping[Place, Value]) -> Problem:
    lower, higher = _in_force(low, space, stored), _in_force(high, space, stored)
    return Problem(
        key,
        space,
        f"{low} {lower} would be above {high} {higher}",
        f"give {low} at most {higher}" if key == low else f"give {high} at least {lower}",
    )
