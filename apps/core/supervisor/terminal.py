"""What the person at the terminal reads."""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_WIDTH = 30


@dataclass
class Step:
    """One line of progress; ``note`` ends it."""

    note: str = ""


class Terminal:
    """Lines to ``write``; a terminal that has been closed is no reason to fall."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._title = ""

    def say(self, line: str) -> None:
        """One line, on a line of its own; a step that it comes into begins its line anew."""
        self._put(f"\n{line}\n{self._title}" if self._title else f"{line}\n")

    @contextlib.contextmanager
    def step(self, title: str, *, has_own_progress: bool = False) -> Iterator[Step]:
        """A line that names what is being done, and at its end how long it took.

        One whose work draws a bar of its own, and wipes that away, gets its line only then.
        """
        step, began = Step(), time.monotonic()
        line = f"{title} ".ljust(_WIDTH, ".")
        self._title = "" if has_own_progress else line
        self._put(self._title)
        try:
            yield step
        except BaseException:
            self._put("\n")
            raise
        finally:
            self._title = ""
        self._put(line if has_own_progress else "")
        self._put(f" {time.monotonic() - began:.1f} s{f', {step.note}' if step.note else ''}\n")

    def _put(self, text: str) -> None:
        with contextlib.suppress(OSError):
            self._write(text)
