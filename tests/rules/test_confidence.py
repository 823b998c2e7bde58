"""rules.md 4, 8 and 10: floors, initial confidence, the author's lift, the ledger."""

import dataclasses
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.rules.confidence import (
    BrokenLedgerError,
    LedgerStep,
    floor,
    initial_confidence,
    lifted,
    passes_floor,
    replay,
    required_confidence,
    rounded,
)
from apps.rules.edges import observed_confidence
from apps.rules.words import Maturity
from tests.rules.strategies import DEFAULTS, confidences

maturities = st.sampled_from([*Maturity, "retired"])
D = Decimal


@given(st.integers(0, 10**9))
def test_rounding_is_half_up_at_the_sixth_decimal(billionths: int) -> None:
    value = D(billionths).scaleb(-9)
    assert rounded(value) == D((billionths + 500) // 1000).scaleb(-6)


def test_half_a_millionth_goes_up_also_beside_an_even_digit() -> None:
    assert rounded(D("0.0000025")) == D("0.000003")
    assert rounded(D("0.0000005")) == D("0.000001")


@pytest.mark.parametrize(
    ("provenance", "step", "confidence"),
    [
        ("seed", "exact", "0.80"),
        ("seed", "unanchored", "0.80"),
        ("enriched", "exact", "0.50"),
        ("learned", "exact", "0.50"),
        ("learned", "unanchored", "0.25"),
    ],
)
def test_the_ladder_step_scales_what_was_observed_and_not_what_was_authored(
    provenance: str, step: str, confidence: str
) -> None:
    assert initial_confidence(provenance=provenance, step=step, dials=DEFAULTS) == D(confidence)


def test_an_initial_confidence_is_rounded() -> None:
    dials = dataclasses.replace(
        DEFAULTS, entry_initial_confidence=D("0.333333"), match_quality_unanchored=D("0.5")
    )
    assert initial_confidence(provenance="learned", step="unanchored", dials=dials) == D("0.166667")


def test_a_step_without_a_quality_is_an_error() -> None:
    with pytest.raises(ValueError, match="'similar' has no match quality"):
        initial_confidence(provenance="learned", step="similar", dials=DEFAULTS)


def test_each_maturity_has_its_floor_and_the_rest_are_locked_out() -> None:
    floors = [floor(maturity, DEFAULTS) for maturity in ("proven", "pattern", "candidate", "archived", "")]
    assert floors == [D("0.30"), D("0.40"), D("0.70"), None, None]


@given(maturities, confidences, st.none() | confidences)
def test_a_row_passes_from_the_greater_of_minimum_and_floor_on(
    maturity: str, confidence: Decimal, minimum: Decimal | None
) -> None:
    lowest = floor(maturity, DEFAULTS)
    expected = (
        lowest is not None
        and confidence >= lowest
        and confidence >= (D("0.40") if minimum is None else minimum)
    )
    assert passes_floor(confidence, maturity=maturity, min_confidence=minimum, dials=DEFAULTS) == expected


def test_the_proven_floor_acts_only_where_a_caller_lowers_the_minimum() -> None:
    assert required_confidence("proven", None, DEFAULTS) == D("0.40")
    assert required_confidence("proven", D(0), DEFAULTS) == D("0.30")


def test_eight_weakenings_of_0_75_are_not_below_0_35() -> None:
    confidence = D("0.75")
    for _ in range(8):
        confidence = rounded(confidence - D("0.05"))
    assert confidence == D("0.35")


@given(maturities, confidences, confidences)
def test_a_lift_ends_at_the_floor_and_only_lifts_what_once_stood_there(
    maturity: str, confidence: Decimal, other: Decimal
) -> None:
    highest = max(confidence, other)
    after = lifted(confidence, maturity=maturity, highest=highest, dials=DEFAULTS)
    lowest = floor(maturity, DEFAULTS)
    if lowest is None or confidence >= lowest or highest < lowest:
        assert after == confidence
    else:
        assert after == lowest
    assert lifted(after, maturity=maturity, highest=highest, dials=DEFAULTS) == after


def test_a_row_that_stood_just_at_its_floor_is_lifted_and_one_just_below_is_not() -> None:
    for highest, after in (("0.70", "0.70"), ("0.699999", "0.5")):
        assert lifted(D("0.5"), maturity="candidate", highest=D(highest), dials=DEFAULTS) == D(after)


@st.composite
def ledgers(draw: st.DrawFn) -> list[LedgerStep]:
    """What an edge goes through: it begins, sessions show it, people set it."""
    first = draw(confidences)
    steps = [LedgerStep("initial", None, first)]
    hits = 1
    for _ in range(draw(st.integers(0, 8))):
        before = steps[-1].after
        if draw(st.booleans()):
            steps.append(LedgerStep("set", before, draw(confidences)))
            continue
        hits += 1
        after = observed_confidence(before, hits, DEFAULTS)
        lift = D("0.60") if hits >= 3 else D("0.30")
        steps.append(LedgerStep("observation", before, after, step=lift))
    return steps


@given(ledgers())
def test_replaying_a_ledger_gives_the_last_confidence(steps: list[LedgerStep]) -> None:
    assert replay(steps) == steps[-1].after


@given(ledgers(), st.integers(0, 8))
def test_a_changed_number_breaks_a_ledger_where_it_stands(steps: list[LedgerStep], anywhere: int) -> None:
    position = anywhere % len(steps)
    steps[position] = dataclasses.replace(steps[position], before=D("1.000001"))
    with pytest.raises(BrokenLedgerError) as caught:
        replay(steps)
    assert caught.value.position == position


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([], "there is none"),
        ([LedgerStep("set", None, D("0.5"))], "row 0: is of kind set"),
        (
            [LedgerStep("initial", None, D("0.5")), LedgerStep("initial", D("0.5"), D("0.5"))],
            "row 1: is of kind",
        ),
        (
            [LedgerStep("initial", None, D("0.5")), LedgerStep("observation", D("0.5"), D("0.6"))],
            "without the numbers",
        ),
        ([LedgerStep("initial", None, D("0.5")), LedgerStep("guess", D("0.5"), D("0.6"))], "kind guess"),
        (
            [LedgerStep("initial", None, D("0.5")), LedgerStep("observation", D("0.5"), D("0.7"), D("0.6"))],
            "row 1: says 0.7 where 0.6",
        ),
    ],
)
def test_a_ledger_that_does_not_add_up_is_an_error(steps: list[LedgerStep], message: str) -> None:
    with pytest.raises(BrokenLedgerError, match=message):
        replay(steps)
