"""Where the embedded servers of one ``var`` folder are reached.

Settings load before any server runs, and every process must come to the same answer, so all of it
follows from the path of ``var`` and the user alone: no file is read, and no variable of the
environment (``TMPDIR`` and ``XDG_RUNTIME_DIR`` differ from shell to shell).
"""

import hashlib
import os
import re
from pathlib import Path
from typing import Any

DATABASE = "lode"
ROLE = "lode"
# Named even for a unix socket, of whose name it is a part: a PGPORT in someone's shell must not change it.
PORT = "5432"

# A socket's path holds 107 bytes on Linux and 103 on macOS, its own name (.s.PGSQL.5432) included.
_LONGEST_FOLDER = 103 - len("/.s.PGSQL.5432")
# libpq splits a host at commas, and broker URLs give meaning to more signs still.
_PLAIN = re.compile(r"[A-Za-z0-9/._-]+")


def database_settings(var: Path) -> dict[str, Any]:
    """The Django database entry of the embedded PostgreSQL, which knows its users by their sockets."""
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": DATABASE,
        "USER": ROLE,
        "PASSWORD": "",
        "HOST": str(socket_folder(var)),
        "PORT": PORT,
    }


def broker_socket(var: Path) -> Path:
    """The unix socket of the embedded Valkey."""
    return socket_folder(var) / "valkey.sock"


def socket_folder(var: Path) -> Path:
    """The private folder of both sockets.

    For root it lies under ``/run``, where only root makes folders, since the servers' own account has
    to reach it. For everyone else it lies in ``var``, or, where that path is too long for a socket or
    holds signs that connection strings give a meaning, under ``/tmp`` (see ``folders``, which refuses
    one that another user made there).
    """
    if os.geteuid() == 0:
        return Path("/run/lode") / fingerprint(var)
    inside = var.resolve() / "run"
    if len(os.fsencode(inside)) <= _LONGEST_FOLDER and _PLAIN.fullmatch(str(inside)):
        return inside
    return Path("/tmp") / f"lode-{os.geteuid()}-{fingerprint(var)}"  # noqa: S108 - checked in folders


def fingerprint(var: Path) -> str:
    """Twelve hexadecimal digits that tell this ``var`` from every other."""
    return hashlib.sha256(os.fsencode(var.resolve())).hexdigest()[:12]
