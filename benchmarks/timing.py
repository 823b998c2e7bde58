"""Arms that are measured side by side: interleaved in random order, so that what disturbs one disturbs all."""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from benchmarks.rows import Row

Case = TypeVar("Case")
Times = dict[str, list[float]]


def interleaved(
    arms: Mapping[str, Callable[[Case], object]], cases: Sequence[Case], *, rounds: int, warm: int = 1
) -> Times:
    """Milliseconds of every arm over every case, ``rounds`` times over; the first ``warm`` rounds count not.

    The order is random, and the same in every run.
    """
    times: Times = {name: [] for name in arms}
    order = [(name, case) for name in arms for case in cases]
    shuffled = random.Random(1)
    for number in range(-warm, rounds):
        shuffled.shuffle(order)
        for name, case in order:
            began = time.perf_counter()
            arms[name](case)
            if number >= 0:
                times[name].append((time.perf_counter() - began) * 1000)
    return times


def quantiles(name: str, times: Sequence[float], goal: str = "") -> list[Row]:
    """The rows ``name p50``, which has the goal, and ``name p95``."""
    return [
        Row(f"{name} p50", float(np.quantile(times, 0.5)), "ms", goal),
        Row(f"{name} p95", float(np.quantile(times, 0.95)), "ms"),
    ]


def ratio(times: Times, above: str, below: str) -> float:
    """How many times the median of one arm is that of another."""
    return float(np.median(times[above]) / np.median(times[below]))
