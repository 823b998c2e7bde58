"""dials.md: the registry, one value, and several changes together."""

import dataclasses
import json
import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.rules.dials import (
    DIALS,
    PROVIDERS,
    Change,
    Dial,
    DialValues,
    InvalidValueError,
    Place,
    Value,
    resolve,
    validate,
)

numeric = [dial for dial in DIALS.values() if dial.type in {int, float, Decimal}]
D = Decimal


@pytest.mark.parametrize("dial", DIALS.values(), ids=DIALS)
class TestEveryDial:
    def test_says_in_one_sentence_what_turning_it_does(self, dial: Dial) -> None:
        assert dial.help.endswith(".")
        assert ". " not in dial.help
        assert dial.group
        assert dial.section

    def test_takes_its_own_default(self, dial: Dial) -> None:
        for provider in PROVIDERS:
            value = dial.default(provider)
            assert type(value) is dial.type
            assert dial.parse(dial.to_json(value)) == value

    def test_takes_its_bounds(self, dial: Dial) -> None:
        for bound in (dial.least, dial.most):
            assert bound is None or dial.parse(bound) == bound

    def test_is_bounded_or_a_choice(self, dial: Dial) -> None:
        assert (dial.least is not None and dial.most is not None) == (dial.type in {int, float, Decimal})
        assert bool(dial.choices) == (dial.type is str)


def test_the_registry_and_its_values_have_the_same_keys() -> None:
    assert list(DIALS) == [field.name for field in dataclasses.fields(DialValues)]


def test_an_unknown_key_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError):
        resolve({}, "local").retrieval_topk  # type: ignore[attr-defined] # noqa: B018 # what is tested


def acceptable(dial: Dial, raw: float | Decimal) -> bool:
    """Whether a numeric dial should take `raw`, said in another way than the code says it."""
    exact = D(repr(raw)) if isinstance(raw, float) else D(raw)
    within = exact.is_finite() and dial.least <= exact <= dial.most  # type: ignore[operator] # numeric dials are bounded
    if dial.type is int:
        return within and isinstance(raw, int)
    return within and (dial.type is float or exact == exact.quantize(D("0.000001")))


class TestOneValue:
    @given(st.sampled_from(numeric), st.floats() | st.integers() | st.decimals())
    def test_is_taken_within_the_bounds_and_refused_elsewhere(self, dial: Dial, raw: float | Decimal) -> None:
        if acceptable(dial, raw):
            value = dial.parse(raw)
            assert float(value) == float(raw)
            assert type(value) is dial.type
        else:
            with pytest.raises(InvalidValueError, match="; give a "):
                dial.parse(raw)

    @given(st.sampled_from([d for d in numeric if d.type is D]), st.integers(0, 10**6))
    def test_survives_json(self, dial: Dial, millionths: int) -> None:
        value = D(millionths).scaleb(-6)
        if dial.least <= value <= dial.most:  # type: ignore[operator] # numeric dials are bounded
            parsed = dial.parse(value)
            assert parsed == value
            assert dial.parse(json.loads(json.dumps(dial.to_json(parsed)))) == value

    @pytest.mark.parametrize(
        ("key", "raw", "wrong"),
        [
            ("retrieval_top_k", True, "True is no number"),
            ("retrieval_top_k", "5", "'5' is no number"),
            ("retrieval_top_k", None, "None is no number"),
            ("retrieval_top_k", 5.0, "5.0 is no whole number"),
            ("retrieval_top_k", 0, "0 is too small"),
            ("retrieval_top_k", 51, "51 is too large"),
            ("retrieval_top_k", 10**400, "is too large"),
            ("band_strong", math.nan, "nan is not finite"),
            ("band_strong", math.inf, "inf is not finite"),
            ("retrieval_min_confidence", D("sNaN"), "sNaN is not finite"),
            ("retrieval_min_confidence", math.nan, "nan is not finite"),
            ("retrieval_min_confidence", 0.1234567, "0.1234567 has too many decimals"),
            ("retrieval_min_confidence", -0.000001, "is too small"),
            ("edge_include_candidate_targets", 1, "1 is neither on nor off"),
            ("concept_collision", "Named", "'Named' is no choice"),
            ("concept_collision", 1, "1 is no choice"),
            ("concept_collision", "x" * 1000, "'x{50,60}… is no choice"),
        ],
    )
    def test_is_refused_with_what_is_wrong_and_what_would_be_right(
        self, key: str, raw: object, wrong: str
    ) -> None:
        with pytest.raises(InvalidValueError, match=wrong) as caught:
            DIALS[key].parse(raw)
        assert caught.value.right == f"give {DIALS[key].bounds}"

    def test_is_what_the_operator_typed(self) -> None:
        assert DIALS["retrieval_min_confidence"].parse(0.1) == D("0.1")
        assert DIALS["entry_initial_confidence"].parse(0.01) == D("0.01")

    def test_is_described_in_words(self) -> None:
        assert DIALS["retrieval_top_k"].bounds == "a whole number from 1 to 50"
        assert DIALS["maturity_boost_proven"].bounds == "a number from 0.5 to 2"
        assert DIALS["entry_initial_confidence"].bounds == "a number from 0.01 to 0.99 and at most 6 decimals"
        assert DIALS["concept_collision"].bounds == "one of named, semantic"
        assert DIALS["edge_include_candidate_targets"].bounds == "true (on) or false (off)"


class TestResolve:
    def test_gives_defaults_of_the_space_where_nothing_is_stored(self) -> None:
        assert resolve({}, "openai/text-embedding-3-small").band_strong == 0.60
        assert resolve({}, "openai").retrieval_floor_candidate == D("0.70")
        assert resolve({}, "hash/hash").band_strong != resolve({}, "openai").band_strong

    def test_gives_what_is_stored_for_all_spaces_and_for_this_one(self) -> None:
        stored = {
            ("retrieval_top_k", None): 9,
            ("band_strong", "local/a"): 0.5,
            ("band_strong", "local/b"): 0.7,
        }
        values = resolve(stored, "local/a")
        assert (values.retrieval_top_k, values.band_strong) == (9, 0.5)
        assert resolve(stored, "local/c").band_strong == resolve({}, "local").band_strong

    def test_refuses_a_space_of_no_known_provider(self) -> None:
        with pytest.raises(
            ValueError, match="'other/x' names no known provider; give one of openai, local, hash"
        ):
            resolve({}, "other/x")

    def test_a_dial_by_space_has_no_default_without_one(self) -> None:
        with pytest.raises(ValueError, match="name a space"):
            DIALS["band_strong"].default()


class TestValidate:
    def test_takes_sound_changes(self) -> None:
        assert validate([Change("retrieval_top_k", 9), Change("band_strong", 0.9, "local/a")], {}) == []

    @pytest.mark.parametrize(
        ("change", "wrong", "right"),
        [
            (Change("retrieval_topk", 1), "there is no such dial", "did you mean retrieval_top_k?"),
            (Change("zzz", 1), "there is no such dial", "give a key that the list of dials has"),
            (Change("retrieval_top_k", 99), "99 is too large", "give a whole number from 1 to 50"),
            (Change("band_strong", 0.5), "none is named", "name the space"),
            (Change("retrieval_top_k", 5, "local"), "one value for all spaces", "leave the space out"),
            (
                Change("band_strong", 0.5, "x/y"),
                "'x/y' names no known provider",
                "give one of openai, local, hash",
            ),
        ],
    )
    def test_says_what_is_wrong_and_what_would_be_right(self, change: Change, wrong: str, right: str) -> None:
        [problem] = validate([change], {})
        assert (problem.key, problem.space) == (change.key, change.space)
        assert wrong in problem.wrong
        assert problem.right == right

    def test_reports_every_problem_at_once(self) -> None:
        changes = [Change("retrieval_top_k", 0), Change("nope", 0), Change("tutor_top_k", math.nan)]
        assert [problem.key for problem in validate(changes, {})] == [
            "retrieval_top_k",
            "nope",
            "tutor_top_k",
        ]

    def test_refuses_one_dial_twice(self) -> None:
        [problem] = validate([Change("tutor_top_k", 1), Change("tutor_top_k", 2)], {})
        assert problem.wrong == "it is changed twice in one request"

    def test_one_dial_in_two_spaces_is_two_changes(self) -> None:
        assert (
            validate([Change("band_strong", 0.9, "local/a"), Change("band_strong", 0.8, "local/b")], {}) == []
        )

    @given(*[st.integers(0, 10).map(lambda n: n / 10)] * 3)
    def test_floors_may_not_fall_with_doubt(self, proven: float, pattern: float, candidate: float) -> None:
        changes = [
            Change("retrieval_floor_proven", proven),
            Change("retrieval_floor_pattern", pattern),
            Change("retrieval_floor_candidate", candidate),
        ]
        assert (validate(changes, {}) == []) == (proven <= pattern <= candidate)

    @pytest.mark.parametrize(
        ("change", "right"),
        [
            (Change("retrieval_floor_pattern", 0.71), "give retrieval_floor_pattern at most 0.70"),
            (Change("retrieval_floor_pattern", 0.2), "give retrieval_floor_pattern at least 0.3"),
            (Change("maturity_boost_candidate", 1.2), "give maturity_boost_candidate at most 1.05"),
            (Change("maturity_boost_proven", 1.0), "give maturity_boost_proven at least 1.05"),
            (Change("band_moderate", 0.61, "openai"), "give band_moderate at most 0.6"),
            (Change("match_quality_exact", 0.4), "give match_quality_exact at least 0.5"),
        ],
    )
    def test_an_order_that_a_change_breaks_is_a_problem_of_that_change(
        self, change: Change, right: str
    ) -> None:
        [problem] = validate([change], {})
        assert problem.key == change.key
        assert problem.right.startswith(right[:-1])

    def test_orders_are_judged_on_what_would_be_in_force_together(self) -> None:
        changes = [Change("retrieval_floor_candidate", 0.2), Change("retrieval_floor_pattern", 0.1)]
        [problem] = validate(changes, {})
        assert problem.wrong.startswith("retrieval_floor_proven 0.3")
        assert validate([*changes, Change("retrieval_floor_proven", 0.1)], {}) == []
        assert validate(changes, {("retrieval_floor_proven", None): D("0.05")}) == []

    def test_bands_of_different_spaces_have_no_order(self) -> None:
        stored: dict[Place, Value] = {("band_strong", "local/a"): 0.9}
        assert validate([Change("band_moderate", 0.8, "local/a")], stored) == []
        assert validate([Change("band_moderate", 0.8, "local/b")], stored) != []
