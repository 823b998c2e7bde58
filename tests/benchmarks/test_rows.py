"""Rows of benchmarks judge themselves by their goal."""

import pytest

from benchmarks.rows import Row


@pytest.mark.parametrize(
    ("value", "goal", "reached"),
    [
        (2.5, "<= 2.5", True),
        (2.6, "<= 2.5", False),
        (0.99, ">= 0.99", True),
        (1, "== 1", True),
        (3, "", None),
    ],
)
def test_goal(value: float, goal: str, reached: bool | None) -> None:
    assert Row("x", value, "ms", goal).reached is reached


def test_a_goal_that_is_no_comparison_is_refused() -> None:
    with pytest.raises(ValueError, match="no comparison"):
        assert Row("x", 1, "ms", "fast").reached
