"""The embedded servers around one ``manage.py`` command, where that command needs them.

So every command works whether or not `up` runs: it joins the servers of `up`, or has its own run for
as long as it takes.
"""

import contextlib
import signal
import threading
import warnings
from argparse import Namespace
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

import django
from django.conf import settings
from django.core.management import get_commands
from django.core.management.base import CommandParser, handle_default_options

from apps.core.embedded.errors import EmbeddedError
from apps.core.embedded.locations import broker_socket, socket_folder
from apps.core.embedded.stack import running

# `up` starts them itself and says so step by step; the others read nothing but code and files.
WITHOUT_SERVERS = frozenset(
    {
        "check", "collectstatic", "compilemessages", "diffsettings", "findstatic", "help", "makemessages",
        "spectacular", "startapp", "startproject", "test", "up", "version",
    }
)  # fmt: skip


def is_embedded_database() -> bool:
    """Whether the settings name the embedded PostgreSQL (DATABASE_URL names another one)."""
    return bool(settings.DATABASES["default"].get("HOST") == str(socket_folder(settings.LODE_VAR)))


def is_embedded_broker() -> bool:
    """Whether the settings name the embedded Valkey (REDIS_URL names another one)."""
    return str(broker_socket(settings.LODE_VAR)) in str(settings.CELERY_BROKER_URL)


def needs_servers(argv: list[str]) -> bool:
    """Whether the command line ``argv`` (the program first) is of a command that uses the servers."""
    name, arguments = (argv[1] if len(argv) > 1 else "help"), argv[2:]
    if name in WITHOUT_SERVERS:
        return name == "check" and "--database" in arguments
    only_looks = {"--help", "-h", "--version"} & set(arguments) or (
        name == "makemigrations" and "--check" in arguments
    )
    return not only_looks and _exists(name)


def _exists(name: str) -> bool:
    # Before the set-up Django knows its own commands alone, and would remember only those.
    django.setup()
    return name in get_commands()


@contextlib.contextmanager
def servers_for(argv: list[str]) -> Iterator[None]:
    """Have the embedded servers that the settings name run around the command, if it needs any.

    Ends the process with one sentence where they cannot run or the settings cannot be read.
    """
    handle_default_options(_default_options(argv))
    _load_settings()
    try:
        if not needs_servers(argv):
            # `makemigrations --check` compares models with files, and warns that it cannot ask a database too.
            warnings.filterwarnings("ignore", "Got an error checking a consistent migration history")
            yield
            return
        database, broker = is_embedded_database(), is_embedded_broker()
        with _stopped_in_order(), running(settings.LODE_VAR, database=database, broker=broker):
            yield
    except EmbeddedError as error:
        raise SystemExit(str(error)) from error


def _load_settings() -> None:
    """Read the settings, which keep a secret in ``var``."""
    try:
        _ = settings.LODE_VAR
    except OSError as error:
        raise SystemExit(f"The file {error.filename} cannot be used: {error.strerror}.") from error


def _default_options(argv: list[str]) -> Namespace:
    parser = CommandParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--settings")
    parser.add_argument("--pythonpath")
    return parser.parse_known_args(argv[2:])[0]


@contextlib.contextmanager
def _stopped_in_order() -> Iterator[None]:
    """Let SIGTERM and SIGHUP (a closed terminal) end the command by an exception, so that servers stop."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = {number: signal.signal(number, _exit) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _exit(number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
