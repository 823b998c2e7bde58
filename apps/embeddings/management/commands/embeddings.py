"""``manage.py embeddings status | fill | build SPACE | switch SPACE | rebuild [--snapshot FILE]``."""

from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from apps.core.actors import Actor
from apps.core.errors import Refusal
from apps.embeddings import actions, queries
from apps.embeddings.embedder import Outcome
from apps.embeddings.errors import EmbeddingError
from apps.embeddings.inventory import Inventory
from apps.embeddings.models import EmbeddingSpace
from apps.embeddings.registry import SpaceName

_ACTOR = Actor("system", "manage.py")
_SPACE_HELP = "provider/model, e.g. local/all-MiniLM-L6-v2; with @dimensions where a model has several"


class Command(BaseCommand):
    help = "See, build and switch embedding spaces."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        verbs.add_parser("status", help="every space, and how far it has come")
        fill = verbs.add_parser("fill", help="embed whatever lacks a vector in the space that serves")
        fill.add_argument("--at-most", type=int, help="leave it to the workers where more texts lack one")
        build = verbs.add_parser("build", help="embed in a space whatever lacks a current vector there")
        build.add_argument("space", help=_SPACE_HELP)
        switch = verbs.add_parser("switch", help="let a built space serve")
        switch.add_argument("space", help=_SPACE_HELP)
        rebuild = verbs.add_parser("rebuild", help="make every vector of the serving space anew")
        rebuild.add_argument("--snapshot", type=Path, help="write what is read to this file, as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        verb: Callable[[dict[str, Any]], None] = getattr(self, f"_{options['verb']}")
        try:
            verb(options)
        except (EmbeddingError, Refusal) as error:
            raise CommandError(str(error)) from error

    def _status(self, options: dict[str, Any]) -> None:
        table = Table("space", "dimensions", "state", "texts", "indexes")
        for status in queries.statuses():
            state = (
                f"{status.space.state}, rebuilding" if status.space.rebuilding_since else status.space.state
            )
            kinds = "\n".join(f"{kind.current} of {kind.texts} {kind.kind}" for kind in status.kinds)
            states = "\n".join(f"{name} {state}" for name, state in status.indexes.items())
            table.add_row(status.space.name, str(status.space.dimensions), state, kinds, states)
        console = Console(width=120)
        with console.capture() as shown:
            console.print(table)
        self.stdout.write(shown.get())
        self.stdout.write(f"a new database would begin with the provider {settings.LODE_EMBEDDING_PROVIDER}")

    def _fill(self, options: dict[str, Any]) -> None:
        now, limit = timezone.now(), options["at_most"]
        space = actions.ensure_serving_space(actor=_ACTOR, now=now)
        missing = sum(queries.missing_counts(space).values())
        if missing == 0 or (limit is not None and missing > limit):
            self.stdout.write(f"{missing} texts lack a vector in {space.name}")
            return
        with self._bar(space) as progress:
            outcome = actions.fill(space=space, now=now, progress=progress)
        self._report(space, outcome)

    def _build(self, options: dict[str, Any]) -> None:
        now = timezone.now()
        space = actions.begin_building(name=SpaceName.parse(options["space"]), actor=_ACTOR, now=now)
        with self._bar(space) as progress:
            outcome = actions.fill(space=space, now=now, progress=progress)
        self._report(space, outcome)

    def _switch(self, options: dict[str, Any]) -> None:
        space = actions.switch(name=SpaceName.parse(options["space"]), actor=_ACTOR, now=timezone.now())
        self.stdout.write(self.style.SUCCESS(f"{space.name} serves"))

    def _rebuild(self, options: dict[str, Any]) -> None:
        snapshot: Path | None = options["snapshot"]
        bar = self._progress()

        def on_read(inventory: Inventory) -> None:
            if snapshot is not None:
                inventory.write(snapshot)
            total = sum(queries.missing_counts(inventory.space).values())
            bar.add_task(inventory.space.name, total=total)

        with bar:
            outcome = actions.rebuild(
                actor=_ACTOR,
                now=timezone.now(),
                on_read=on_read,
                progress=lambda done: bar.advance(bar.task_ids[0], done),
            )
        self._report(None, outcome)

    def _report(self, space: EmbeddingSpace | None, outcome: Outcome) -> None:
        where = f" in {space.name}" if space else ""
        for (kind, owner), problem in outcome.refused.items():
            self.stderr.write(f"{kind} {owner}: {problem}")
        if outcome.refused:
            raise CommandError(f"{len(outcome.refused)} texts have no vector{where}")
        self.stdout.write(self.style.SUCCESS(f"{outcome.stored} texts embedded{where}"))

    @contextmanager
    def _bar(self, space: EmbeddingSpace) -> Iterator[Callable[[int], None]]:
        total = sum(queries.missing_counts(space).values())
        with self._progress() as bar:
            task = bar.add_task(space.name, total=total)
            yield lambda done: bar.advance(task, done)

    def _progress(self) -> Progress:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        return Progress(*columns, console=Console(stderr=True))
