"""``manage.py export_curriculum FILE``: the curriculum, or one topic of it, as a bundle."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.core.errors import Missing
from apps.curriculum.bundle.writing import Format
from apps.curriculum.queries import export_curriculum


class Command(BaseCommand):
    help = "Export the curriculum, or one topic of it: a JSON bundle, or a zip of CSV sheets."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="where to; an existing file is replaced")
        parser.add_argument("--topic", metavar="SLUG", help="only what belongs to that topic")
        parser.add_argument(
            "--format",
            dest="form",
            choices=list(Format),
            help="without it: zip where FILE ends so, else json",
        )

    def handle(
        self,
        *args: Any,
        file: Path,
        topic: str | None,
        form: str | None,
        **options: Any,
    ) -> None:
        chosen = Format(form or ("zip" if file.suffix.lower() == ".zip" else "json"))
        try:
            size = _write(file, chosen, topic)
        except Missing as refusal:
            raise CommandError(refusal.detail) from refusal
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror or error}") from error
        self.stdout.write(f"{file}: {size:,} bytes")


def _write(file: Path, form: Format, topic: str | None) -> int:
    """Write beside ``file`` and put it in its place when it is whole; gives its size."""
    beside = file.with_name(f".{file.name}.part")
    try:
        with beside.open("wb") as stream:
            export_curriculum(stream=stream, form=form, topics=None if topic is None else [topic])
            size = stream.tell()
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)
    return size
