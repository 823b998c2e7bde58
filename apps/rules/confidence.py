"""Confidence of entries: how it begins, the floors, an author's lift, and the replay of a ledger (rules.md 4, 8, 10).

Confidences are NUMERIC(7,6), rounded half up at every step: in binary 0.75 - 8 x 0.05 is below 0.35.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from apps.rules.dials import DialValues
from apps.rules.words import LadderStep, LedgerKind, Maturity, Provenance

QUANTUM = Decimal("0.000001")
"""The smallest step between two confidences."""


def rounded(value: Decimal) -> Decimal:
    """`value` as a confidence is stored: six decimals, half up."""
    return value.quantize(QUANTUM, rounding=ROUND_HALF_UP)


def match_quality(step: str, dials: DialValues) -> Decimal:
    """How far the ladder step that found an entry's concept is trusted (rules.md 9).

    Raises ValueError for a step that has no quality yet.
    """
    match step:
        case LadderStep.EXACT:
            return dials.match_quality_exact
        case LadderStep.UNANCHORED:
            return dials.match_quality_unanchored
    raise ValueError(f"the ladder step {step!r} has no match quality; give exact or unanchored")


def initial_confidence(*, provenance: str, step: str, dials: DialValues) -> Decimal:
    """The confidence of a new entry (rules.md 8); `step` is the ladder's and scales only what was observed."""
    if provenance == Provenance.SEED:
        return rounded(dials.entry_initial_confidence_seed)
    return rounded(dials.entry_initial_confidence * match_quality(step, dials))


def floor(maturity: str, dials: DialValues) -> Decimal | None:
    """The confidence below which a row of this maturity is never retrieved (rules.md 4); None locks it out."""
    match maturity:
        case Maturity.PROVEN:
            return dials.retrieval_floor_proven
        case Maturity.PATTERN:
            return dials.retrieval_floor_pattern
        case Maturity.CANDIDATE:
            return dials.retrieval_floor_candidate
    return None


def required_confidence(maturity: str, min_confidence: Decimal | None, dials: DialValues) -> Decimal | None:
    """The least confidence with which a row of this maturity competes (rules.md 4); None where none does.

    `min_confidence` is the caller's, or None for the dial's.
    """
    lowest = floor(maturity, dials)
    if lowest is None:
        return None
    return max(lowest, dials.retrieval_min_confidence if min_confidence is None else min_confidence)


def passes_floor(
    confidence: Decimal, *, maturity: str, min_confidence: Decimal | None, dials: DialValues
) -> bool:
    """Whether a row may compete for a place in an answer (rules.md 4)."""
    required = required_confidence(maturity, min_confidence, dials)
    return required is not None and confidence >= required


def lifted(confidence: Decimal, *, maturity: str, highest: Decimal, dials: DialValues) -> Decimal:
    """The confidence after an author's edit or a re-observation (rules.md 8).

    A row that once stood at or above its floor (`highest` is the greatest confidence its ledger shows) and has
    fallen below it is lifted back to the floor; every other keeps what it has.
    """
    lowest = floor(maturity, dials)
    if lowest is None or highest < lowest:
        return confidence
    return max(confidence, rounded(lowest))


@dataclass(frozen=True, slots=True)
class LedgerStep:
    """One row of a ledger: a confidence before (None at the beginning) and after, and why it moved.

    `step` is the confidence that an observation lifts to where the row stands lower.
    """

    kind: str
    before: Decimal | None
    after: Decimal
    step: Decimal | None = None


class BrokenLedgerError(ValueError):
    """A ledger that does not lead from its beginning to its end; `position` counts its rows from 0."""

    def __init__(self, position: int, wrong: str) -> None:
        super().__init__(f"ledger row {position}: {wrong}")
        self.position = position


def replay(steps: Iterable[LedgerStep]) -> Decimal:
    """The confidence that a ledger, oldest row first, leads to: what must be stored (rules.md 10).

    Raises BrokenLedgerError where the ledger is empty, or a row does not follow from the one before it.
    """
    confidence: Decimal | None = None
    for position, step in enumerate(steps):
        if step.before != confidence:
            raise BrokenLedgerError(position, f"begins at {step.before} where {confidence} was reached")
        confidence = _outcome(position, step)
        if step.after != confidence:
            raise BrokenLedgerError(position, f"says {step.after} where {confidence} follows")
    if confidence is None:
        raise BrokenLedgerError(0, "there is none; a ledger begins with its initial confidence")
    return confidence


def _outcome(position: int, step: LedgerStep) -> Decimal:
    if (step.before is None) != (step.kind == LedgerKind.INITIAL):
        raise BrokenLedgerError(position, f"is of kind {step.kind}; the first, and only it, is initial")
    if step.kind in {LedgerKind.INITIAL, LedgerKind.SET}:
        return step.after
    if step.kind == LedgerKind.OBSERVATION and step.before is not None and step.step is not None:
        return max(step.before, rounded(step.step))
    raise BrokenLedgerError(position, f"is of kind {step.kind} without the numbers that such a step needs")
