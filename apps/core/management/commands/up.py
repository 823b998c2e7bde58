"""``manage.py up``: all of Lode, until Ctrl-C."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.core.embedded import EmbeddedError
from apps.core.supervisor import Options, SupervisorError, run


class Command(BaseCommand):
    help = "Run Lode: database and broker (embedded unless named), web, worker and beat, until Ctrl-C."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--host", default="127.0.0.1", help="address to listen on (127.0.0.1: this machine)"
        )
        parser.add_argument("--port", type=int, default=8000, help="port to listen on (8000)")
        parser.add_argument("--no-demo", action="store_true", help="load no demo curriculum and make no key")

    def handle(self, *args: Any, host: str, port: int, no_demo: bool, **options: Any) -> None:
        if not 1 <= port <= 65535:
            raise CommandError(f"--port {port} is no port: choose one from 1 to 65535.")
        try:
            run(Options(host, port, demo=not no_demo), self._write)
        except (EmbeddedError, SupervisorError) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"Lode cannot use {error.filename or 'a file'}: {error.strerror}.") from error

    def _write(self, text: str) -> None:
        self.stdout.write(text, ending="")
        self.stdout.flush()
