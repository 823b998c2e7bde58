"""The name that somebody probably meant, among many: for errors that help."""

import difflib
from collections import Counter, defaultdict
from collections.abc import Iterable

_SHORTLIST = 20


class Names:
    """Names by the groups of three letters that they hold, so that each look-up compares few of them."""

    def __init__(self, names: Iterable[str]) -> None:
        self._by_letters: dict[str, list[str]] = defaultdict(list)
        for name in names:
            for letters in _groups(name):
                self._by_letters[letters].append(name)

    def nearest(self, wanted: str) -> str | None:
        """The name spelled most like ``wanted``; None where none is like it."""
        shared = Counter(name for letters in _groups(wanted) for name in self._by_letters.get(letters, ()))
        shortlist = [name for name, _ in shared.most_common(_SHORTLIST)]
        return next(iter(difflib.get_close_matches(wanted, shortlist, n=1)), None)


def _groups(name: str) -> set[str]:
    padded = f" {name.lower()} "
    return {padded[at : at + 3] for at in range(len(padded) - 2)}
