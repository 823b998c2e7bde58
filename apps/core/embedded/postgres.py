"""The embedded PostgreSQL: one database on one unix socket, for one user."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import LiteralString

import psycopg
from psycopg import sql

from apps.core.embedded import binaries, folders, locations, memory
from apps.core.embedded.errors import EmbeddedError
from apps.core.embedded.folders import Places
from apps.core.embedded.server import Server, surroundings
from apps.core.embedded.users import person

SUPERUSER = "postgres"
_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "port": locations.PORT,
    "max_connections": "100",
    "jit": "off",
    "random_page_cost": "1.1",
    "log_timezone": "UTC",
    "timezone": "UTC",
}
# A crash of the machine may harm it, a crash of PostgreSQL may not: for clusters that hold nothing but tests.
_FAST = {
    "fsync": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "shared_buffers": "128MB",
}
_BOOTSTRAP_LOCK = 5_018_734


class Postgres(Server):
    """The server over ``home/postgres``; ``fast`` gives up safety against a crash of the machine."""

    title = "PostgreSQL"
    slug = "postgres"
    stop_signal = signal.SIGINT  # "fast": open transactions are rolled back
    alarm = re.compile("PANIC|FATAL:  (?!the database system is)")

    def __init__(self, places: Places, say: Callable[[str], None], *, fast: bool = False) -> None:
        super().__init__(places, say)
        self.data = places.home / "postgres"
        self.fast = fast

    def command(self) -> list[str]:
        sockets = str(self.places.sockets).replace('"', '""')
        settings = {
            **_SETTINGS,
            **memory.settings(),
            **(_FAST if self.fast else {}),
            "cluster_name": self.places.name,
            "unix_socket_directories": f'"{sockets}"',
            "hba_file": str(self.places.home / "pg_hba.conf"),
            "ident_file": str(self.places.home / "pg_ident.conf"),
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [str(binaries.postgres(self.places) / "postgres"), "-D", str(self.data), *options]

    def install(self, descriptor: int) -> None:
        self._write("pg_hba.conf", "local all all peer map=lode\n")
        name = person().replace('"', '""')
        roles = (locations.ROLE, SUPERUSER)
        self._write("pg_ident.conf", "".join(f'lode "{name}" {role}\n' for role in roles))
        if not self.data.exists():
            self._make_cluster(descriptor)
        elif (found := (self.data / "PG_VERSION").read_text().strip()) != binaries.POSTGRES_MAJOR:
            raise EmbeddedError(
                f"The data in {self.data} is of PostgreSQL {found}, and this Lode brings "
                f"{binaries.POSTGRES_MAJOR}: dump it with the Lode that made it, and load it into a new one."
            )

    def mend(self) -> None:
        leftovers = [self.data / "postmaster.pid", *self.places.sockets.glob(".s.PGSQL.*")]
        for file in leftovers:
            file.unlink(missing_ok=True)

    def answers(self) -> bool:
        try:
            with self._connect("postgres"):
                return True
        except psycopg.OperationalError as error:
            if "authentication failed" in str(error):
                raise EmbeddedError(f"PostgreSQL does not know {person()}: {error}") from error
            return False

    def is_main(self, command_line: str) -> bool:
        return f"/postgres -D {self.data} -c " in command_line

    def is_child(self, command_line: str) -> bool:
        return command_line.startswith(f"postgres: {self.places.name}: ")

    def finish(self) -> None:
        super().finish()
        try:
            if not self._is_complete():
                self._complete()
        except psycopg.Error as error:
            raise EmbeddedError(f"The database cannot be made in {self.data}: {error}") from error

    def _write(self, name: str, text: str) -> None:
        """Put a configuration file into the home, for the servers' account to read."""
        file = self.places.home / name
        draft = file.with_suffix(".draft")
        draft.write_text(text)
        draft.chmod(0o640)
        if self.places.account.assumed:
            os.chown(draft, -1, self.places.account.gid)
        draft.replace(file)

    def _make_cluster(self, descriptor: int) -> None:
        """Make the cluster beside its place, and move it there whole: a kill half-way leaves no half of one."""
        draft = self.data.with_name("postgres.draft")
        shutil.rmtree(draft, ignore_errors=True)
        folders.make_private(draft, self.places.account)
        self._run_initdb(draft, descriptor)
        draft.rename(self.data)

    def _run_initdb(self, folder: Path, descriptor: int) -> None:
        # The built-in locale orders alike on every machine, and no upgrade of the C library breaks an index.
        locale = ["--encoding=UTF8", "--locale-provider=builtin", "--locale=C.UTF-8"]
        where = ["-D", str(folder), "-U", SUPERUSER, "--auth=peer", "--no-instructions"]
        haste = ["--no-sync"] if self.fast else []
        command = [str(binaries.postgres(self.places) / "initdb"), *where, *locale, *haste]
        launched = self.places.account.popen(
            command, log=subprocess.PIPE, pass_fds=(descriptor,), environment=surroundings()
        )
        with launched as process:
            said = process.communicate()[0].decode(errors="replace").strip().splitlines()
        if process.returncode:
            telling = [line for line in said if "error" in line or "FATAL" in line] or said or ["no reason"]
            raise EmbeddedError(f"PostgreSQL's data cannot be made in {folder.parent}: {telling[0]}")

    def _connect(self, database: str) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(
            host=str(self.places.sockets),
            port=locations.PORT,
            user=SUPERUSER,
            dbname=database,
            autocommit=True,
            connect_timeout=5,
        )

    def _is_complete(self) -> bool:
        """Whether database, role and a current vector extension are there."""
        with self._connect("postgres") as connection:
            if not _any(connection, "SELECT 1 FROM pg_database WHERE datname = %s", locations.DATABASE):
                return False
        with self._connect(locations.DATABASE) as connection:
            current = "SELECT 1 FROM pg_available_extensions WHERE name = %s AND installed_version = default_version"
            return _any(connection, current, "vector")

    def _complete(self) -> None:
        """Make what is missing. The role is no superuser, so new databases bring the extension along."""
        with self._connect("postgres") as connection:
            connection.execute("SELECT pg_advisory_lock(%s)", [_BOOTSTRAP_LOCK])
            self._extend("template1")
            role, database = sql.Identifier(locations.ROLE), sql.Identifier(locations.DATABASE)
            if not _any(connection, "SELECT 1 FROM pg_roles WHERE rolname = %s", locations.ROLE):
                connection.execute(sql.SQL("CREATE ROLE {} LOGIN CREATEDB").format(role))
            if not _any(connection, "SELECT 1 FROM pg_database WHERE datname = %s", locations.DATABASE):
                connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(database, role))
            self._extend(locations.DATABASE)

    def _extend(self, database: str) -> None:
        with self._connect(database) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            connection.execute("ALTER EXTENSION vector UPDATE")


def _any(connection: psycopg.Connection[tuple[object, ...]], query: LiteralString, value: str) -> bool:
    return connection.execute(query, [value]).fetchone() is not None
