"""The folders of the embedded servers, open to their owner and to the servers' account alone.

Under ``var``, or where the servers' account cannot reach it:

========================  =====================================================================
``var/lease.lock``        held by everyone who uses the servers (``leases``)
``var/log/``              what the servers write to their standard output
``var/servers/``          their home: data, configuration, locks; a link where it lies elsewhere
``var/run/``              their sockets, for an ordinary user with a short path (``locations``)
========================  =====================================================================

No folder outside ``var`` is ever opened: where root's checkout lies in a private folder, the home
moves to ``/var/lib/lode`` instead, and ``var/servers`` becomes a link to it.
"""

import os
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from apps.core.embedded import locations, locks
from apps.core.embedded.errors import EmbeddedError
from apps.core.embedded.users import Account, server_account

ELSEWHERE = Path("/var/lib/lode")
PROJECT = Path(__file__).resolve().parents[3]
# PostgreSQL takes paths of up to 1,023 bytes and makes longer ones from that of its data.
_LONGEST_HOME = 900
_FREE_AT_FIRST = 200 << 20
_FREE_AT_START = 32 << 20


@dataclass(frozen=True, slots=True)
class Places:
    """Where the servers of one ``var`` keep things, and the account they run as."""

    var: Path
    home: Path
    sockets: Path
    logs: Path
    account: Account

    @property
    def lease_file(self) -> Path:
        """The lock that every user of the servers shares (see ``leases``)."""
        return self.var / "lease.lock"

    @property
    def name(self) -> str:
        """What the servers' processes are called in a list of processes."""
        return f"lode-{locations.fingerprint(self.var)}"


def prepare(var: Path, say: Callable[[str], None]) -> Places:
    """Make what is missing, check what is there, and say so where the home lies outside ``var``.

    Raises EmbeddedError where a folder belongs to someone else or its path is too long.
    """
    var = var.resolve()
    try:
        account = server_account(say)
        _make_own(var, account)
        with locks.turn(var / "folders.lock"):
            home = _home(var, account, say)
            sockets = locations.socket_folder(var)
            _make_sockets(sockets, account)
            (var / "log").mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise EmbeddedError(
            f"The folder {error.filename or var} cannot be used: {error.strerror}."
        ) from error
    return Places(var=var, home=home, sockets=sockets, logs=var / "log", account=account)


def make_private(folder: Path, account: Account) -> None:
    """Make ``folder`` for the account alone, if it is not there yet."""
    if not folder.exists():
        folder.mkdir(mode=0o700)
        if account.assumed:
            os.chown(folder, account.uid, account.gid)


def make_shared(folder: Path, account: Account) -> None:
    """Make ``folder`` for us alone, if it is not there yet; the account may pass through it."""
    if not folder.exists():
        folder.mkdir(mode=0o700)
        _let_pass(folder, account)


def _let_pass(folder: Path, account: Account) -> None:
    if account.assumed:
        os.chown(folder, -1, account.gid)
        folder.chmod(stat.S_IMODE(folder.stat().st_mode) | stat.S_IXGRP)


def _make_own(var: Path, account: Account) -> None:
    for folder in _down_to(var):
        make_shared(folder, account)
    owner = var.stat().st_uid
    if owner != os.geteuid():
        raise EmbeddedError(f"The folder {var} belongs to another user (id {owner}): run Lode as that user.")


def _home(var: Path, account: Account, say: Callable[[str], None]) -> Path:
    link = var / "servers"
    if not link.exists():
        _make_home(var, link, account, say)
    home = link.resolve()
    if not account.reaches(home):
        raise EmbeddedError(
            f"The account {account.name}, which runs the servers, can no longer reach {home}: let it pass "
            "through the folders above, or move the data and the link var/servers to another place."
        )
    if len(os.fsencode(home)) > _LONGEST_HOME:
        raise EmbeddedError(f"The path of {home} is too long for PostgreSQL: move Lode to a shorter one.")
    _keep_to_one(var, home)
    return home


def _keep_to_one(var: Path, home: Path) -> None:
    """Refuse a home that a copied ``var`` links to: its servers listen where the original looks for them."""
    note = home / "belongs_to"
    other = Path(note.read_text()) if note.exists() else var
    if other != var and (other / "servers").resolve() == home:
        raise EmbeddedError(
            f"The data in {home} belong to {other}, of which {var} is a copy: remove {var}/servers."
        )
    note.touch(mode=0o600)
    note.write_text(str(var))


def _make_home(var: Path, link: Path, account: Account, say: Callable[[str], None]) -> None:
    link.unlink(missing_ok=True)
    if _can_be_reached(var, account):
        make_shared(link, account)
        return
    make_shared(ELSEWHERE, account)
    home = ELSEWHERE / locations.fingerprint(var)
    make_shared(home, account)
    link.symlink_to(home)
    say(f"The account {account.name} cannot pass through the private folders above {var}: data is in {home}.")


def _can_be_reached(var: Path, account: Account) -> bool:
    """Whether the account gets to ``var``, once it may pass through those of Lode's own folders on the way."""
    for folder in _down_to(var):
        if not account.reaches(folder):
            if folder != var and PROJECT not in folder.parents:
                return False
            _let_pass(folder, account)
    return account.reaches(var)


def _down_to(folder: Path) -> list[Path]:
    return [*reversed(folder.parents), folder]


def _make_sockets(folder: Path, account: Account) -> None:
    if account.assumed:
        make_shared(folder.parent, account)
    make_private(folder, account)
    found = folder.lstat()
    private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
    if found.st_uid != account.uid or not private:
        raise EmbeddedError(
            f"The folder {folder} is not a private one of {account.name}, so no socket is put there: remove it."
        )


def require_room(home: Path) -> None:
    """Raise EmbeddedError where the disk is too full to launch a server; those that run may be used."""
    free = shutil.disk_usage(home).free
    needed = _FREE_AT_START if (home / "postgres").exists() else _FREE_AT_FIRST
    if free < needed:
        raise EmbeddedError(
            f"The disk is full: {free >> 20} MB are free for {home}, and the servers need {needed >> 20} MB."
        )
