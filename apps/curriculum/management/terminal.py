"""How the commands of a curriculum talk: progress on the error stream, tables on the output."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from django.core.management.base import OutputWrapper
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from apps.core.errors import Problem
from apps.curriculum.bundle.records import BundleProblem
from apps.curriculum.bundle.sources import Source
from apps.curriculum.importing.reporting import FieldChange, Report

SHOWN_CHARS = 240


class Steps:
    """A progress bar over the bytes of the files that are read, then a word for each further step."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task("reading", total=None)
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self._began

    def say(self, step: str) -> None:
        """Show what is being done now."""
        self._progress.update(self._task, description=step)

    @contextmanager
    def shown(self) -> Iterator["Steps"]:
        """Show the bar for the length of the block."""
        with self._progress:
            yield self

    def file(self, path: Path) -> Source:
        """The bundle in a file, read under the bar. Raises OSError where there is none."""
        size = path.stat().st_size

        def opened() -> IO[bytes]:
            self._progress.reset(self._task, total=size)
            stream = self._progress.wrap_file(path.open("rb"), task_id=self._task)
            return cast("IO[bytes]", stream)

        return Source(path.name, opened)


class Output:
    """The standard output of a command, for lines and tables. Stored texts are never read as markup."""

    def __init__(self, stream: OutputWrapper) -> None:
        width = None if stream.isatty() else 160
        self._console = Console(file=cast("IO[str]", stream), width=width, markup=False, highlight=False)

    def line(self, text: str) -> None:
        """One line as it is."""
        self._console.print(Text(text))

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Rows under a header; long cells are folded."""
        table = Table(*columns, expand=False)
        for row in rows:
            table.add_row(*(Text(_printable(cell), overflow="fold") for cell in row))
        self._console.print(table)

    def problems(self, problems: Iterable[Problem]) -> None:
        """Where each problem is, and what to do."""
        self.table(("where", "problem"), ((_place(problem), problem.message) for problem in problems))

    def report(self, report: Report, seconds: float) -> None:
        """What an import did or would do: changes field by field, counts by kind, and one line for all."""
        changed = [change for change in report.changes if not change.is_new]
        if changed:
            self.table(
                ("row", "field", "from", "to"),
                ((f"{row.kind} {row.what}", *_shown(field)) for row in changed for field in row.fields),
            )
        self.table(
            ("", "created", "changed", "unchanged"),
            ((kind, c.created, c.changed, c.unchanged) for kind, c in report.kinds.items()),
        )
        tense = "would be imported" if report.dry_run else "imported"
        counts = f"created: {report.created}, changed: {report.changed}, unchanged: {report.unchanged}"
        self.line(f"{tense} in {seconds:.1f} s; {counts}")


def _place(problem: Problem) -> str:
    return problem.place if isinstance(problem, BundleProblem) else problem.pointer


def _shown(change: FieldChange) -> tuple[str, object, object]:
    return change.field, change.before, change.after


def _printable(cell: object) -> str:
    """``cell`` on one line and without what a terminal would obey, clipped."""
    text = "".join(char if char.isprintable() else " " for char in str(cell))
    return text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 1]}…"
