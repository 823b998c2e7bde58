"""A retrieval's statement at 10,000, 100,000 and 1,000,000 entries: what grows, and what does not.

Topics keep their size, and there are more of them; a tenth of all entries are tutor moves, which one pass
searches as a whole. So everything but that pass should take as long as ever, and that pass is shown apart, with
its recall. The sizes are interleaved, and the statement is run as in the benchmark ``retrieve``.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np

from benchmarks import databases
from benchmarks.corpus import Size
from benchmarks.databases import Connection
from benchmarks.rows import Row
from benchmarks.timing import Times, interleaved, ratio
from benchmarks.turns import Turn, ask, turns, tutor_recall

_SIZES = [Size().times(factor) for factor in (0.1, 1, 10)]
_TURNS = 100
_ROUNDS = 5


def run() -> list[Row]:
    """Times and recall at each size, and how much the time without the tutor pass has grown."""
    with ExitStack() as exits:
        corpora = {_label(size): _Corpus(size, exits) for size in _SIZES}
        arms: dict[str, Callable[[int], object]] = {}
        for label, corpus in corpora.items():
            arms[label] = corpus.ask
            arms[f"{label} without"] = corpus.ask_without_tutor
        times = interleaved(arms, range(_TURNS), rounds=_ROUNDS)
        rows = [row for label, corpus in corpora.items() for row in _rows(label, times, corpus)]
    smallest, *_, largest = corpora
    grown = ratio(times, f"{largest} without", f"{smallest} without")
    return [*rows, Row("growth ratio", grown, "times", "<= 1.5")]


class _Corpus:
    """A database of one size, the turns that are asked of it, and an open connection."""

    def __init__(self, size: Size, exits: ExitStack) -> None:
        name = databases.corpus_database(size, for_turns=size is _SIZES[-1])
        databases.use(name)
        self.turns: list[Turn] = turns(size, _TURNS)
        self.connection: Connection = exits.enter_context(databases.connect(name))
        self._ask = ask(self.connection)
        self._without = [turn.without_tutor() for turn in self.turns]

    def ask(self, number: int) -> object:
        return self._ask(self.turns[number])

    def ask_without_tutor(self, number: int) -> object:
        return self._ask(self._without[number])


def _rows(label: str, times: Times, corpus: _Corpus) -> Iterator[Row]:
    without = float(np.median(times[f"{label} without"]))
    yield Row(f"{label} entries, all but the tutor pass p50", without, "ms")
    yield Row(f"{label} entries, the tutor pass p50", float(np.median(times[label])) - without, "ms")
    recall = tutor_recall(corpus.connection, corpus.turns)
    yield Row(f"{label} entries, recall of the tutor pass", recall, "share", ">= 0.99")


def _label(size: Size) -> str:
    return f"{size.entries:,}"
