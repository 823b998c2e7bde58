"""``manage.py import_curriculum FILE``: a bundle into the database, all of it or nothing."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.core.actors import Actor
from apps.core.errors import Invalid
from apps.core.ids import uuid7
from apps.curriculum.actions import import_curriculum
from apps.curriculum.bundle.sources import Source
from apps.curriculum.converting.conversion import UnfitFolderError
from apps.curriculum.converting.shapes import CONVERTERS
from apps.curriculum.management.terminal import Output, Steps
from apps.dials.queries import get_dials


class Command(BaseCommand):
    help = "Import a curriculum: a JSON bundle, or a zip of topics.csv, concepts.csv, entries.csv, edges.csv."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the bundle, JSON or zip; a folder with --from")
        parser.add_argument("--dry-run", action="store_true", help="say what would change, and write nothing")
        parser.add_argument(
            "--from",
            dest="shape",
            choices=CONVERTERS,
            help="FILE is a folder of that other shape; what cannot be converted is left out and listed",
        )

    def handle(self, *args: Any, file: Path, dry_run: bool, shape: str | None, **options: Any) -> None:
        output = Output(self.stdout)
        try:
            with Steps().shown() as steps:
                source = steps.file(file) if shape is None else _converted(file, shape, output)
                report = import_curriculum(
                    sources=[source],
                    dials=get_dials("hash"),
                    actor=Actor("system", "import_curriculum"),
                    now=timezone.now(),
                    run=uuid7(),
                    dry_run=dry_run,
                    say=steps.say,
                )
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror or error}") from error
        except UnfitFolderError as error:
            raise CommandError(str(error)) from error
        except Invalid as refusal:
            output.problems(refusal.errors)
            raise CommandError(refusal.detail) from refusal
        output.report(report, steps.seconds)


def _converted(folder: Path, shape: str, output: Output) -> Source:
    """The bundle that a folder becomes; what is left out of it is listed."""
    conversion = CONVERTERS[shape](folder)
    if conversion.left_out:
        output.table(("left out", "why"), ((left.what, left.why) for left in conversion.left_out))
    output.line(f"left out: {len(conversion.left_out)}")
    return conversion.source(folder.name)
