"""What has to be in the database before Lode serves: tables, a curriculum to try, a login, a key.

The supervisor stands low in the import ladder, so what belongs to other apps is called by the name of
its management command. Each does nothing where its work is done.
"""

import io
from dataclasses import dataclass

from django.conf import settings
from django.core.management import CommandError, call_command, get_commands
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from apps.core.first_admin import FirstAdmin, ensure_admin
from apps.core.supervisor.errors import SupervisorError
from apps.core.supervisor.terminal import Step, Terminal

_EMBEDDED_AT_START = 2000


@dataclass(frozen=True, slots=True)
class Access:
    """How to get in: the first administrator, and a key for tutor clients (None without the demo)."""

    admin: FirstAdmin
    key: str | None


def prepare(terminal: Terminal, *, demo: bool) -> Access:
    """Bring the database up to date, one line of progress for each step.

    Raises SupervisorError, or the CommandError of a step, where that fails.
    """
    try:
        return _prepare(terminal, demo=demo)
    except (DatabaseError, ValueError) as error:
        raise SupervisorError(
            f"The database cannot be prepared: {str(error).strip().splitlines()[0]}"
        ) from error
    finally:
        connection.close()


def _prepare(terminal: Terminal, *, demo: bool) -> Access:
    with terminal.step("Migrations") as step:
        step.note = _migrate()
    if demo:
        with terminal.step("Demo curriculum", has_own_progress=True) as step:
            step.note = _called("load_demo")
    with terminal.step("Embeddings", has_own_progress=True) as step:
        step.note = _embed()
    with terminal.step("Login") as step:
        admin = ensure_admin(settings.LODE_VAR / "admin_password")
        key = _demo_key(step) if demo else None
    return Access(admin, key)


def _migrate() -> str:
    executor = MigrationExecutor(connection)
    pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if not pending:
        return "up to date"
    call_command("migrate", interactive=False, verbosity=0)
    return f"{len(pending)} applied"


def _demo_key(step: Step) -> str | None:
    """A key to try Lode with; None, with a note, where it was revoked."""
    try:
        return _called("ensure_demo_key") or None
    except CommandError as error:
        step.note = str(error)
        return None


def _embed() -> str:
    """Embed a few texts here, so that the first retrieval finds them; many are left to the worker."""
    try:
        return _called("embeddings", "fill", f"--at-most={_EMBEDDED_AT_START}")
    except CommandError as error:  # a provider that fails costs retrieval its semantic pass, and no start
        return str(error)


def _called(command: str, *arguments: str) -> str:
    """What a management command writes to its output, on one line; nothing where no app brings it."""
    output = io.StringIO()
    if command in get_commands():
        call_command(command, *arguments, stdout=output, no_color=True)
    return " ".join(output.getvalue().split())
