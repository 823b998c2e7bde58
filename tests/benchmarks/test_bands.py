"""The thresholds of bands are what their words say."""

import numpy as np
import pytest

from benchmarks.bands import Scores, moderate_threshold, strong_threshold


def _scores(*, wrong: object = (0.1,), first: object = (0.5,), right: object = (True,)) -> Scores:
    return Scores("x", np.array(wrong), np.array([0.5]), np.array(first), np.array(right))


def test_ninety_nine_of_a_hundred_wrong_pairs_stay_below_moderate() -> None:
    wrong = np.linspace(0, 0.5, 1000)
    threshold = moderate_threshold(_scores(wrong=wrong))
    assert np.mean(wrong < threshold) >= 0.99 > np.mean(wrong < threshold - 0.01)


def test_half_are_right_from_strong_upwards() -> None:
    first, right = np.linspace(0, 1, 200), np.arange(200) >= 140
    threshold = strong_threshold(_scores(first=first, right=right))
    assert right[first >= threshold].mean() >= 0.5 > right[first >= threshold - 0.01].mean()


@pytest.mark.parametrize("right", [np.zeros(200, bool), np.arange(200) >= 195])
def test_nothing_is_strong_where_no_score_says_so(right: object) -> None:
    assert strong_threshold(_scores(first=np.linspace(0, 1, 200), right=right)) == 1
