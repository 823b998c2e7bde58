"""Which account runs the servers: one's own, or, for root, one that may do nothing else.

PostgreSQL refuses to run as root, and rightly: who owns the database could then own the machine.
"""

import os
import pwd
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from apps.core.embedded.errors import EmbeddedError

SERVICE_ACCOUNT = "_lode"


@dataclass(frozen=True, slots=True)
class Account:
    """A user of this machine; ``assumed`` where root has to take it on before it launches something."""

    name: str
    uid: int
    gid: int
    assumed: bool

    def popen(
        self, argv: list[str], *, log: int, pass_fds: tuple[int, ...] = (), environment: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        """Launch ``argv`` as this account, out of reach of the terminal's Ctrl-C, with files private to it."""
        return subprocess.Popen(  # noqa: S603 - our own commands, never a shell's
            argv,
            user=self.uid if self.assumed else None,
            group=self.gid if self.assumed else None,
            extra_groups=[] if self.assumed else None,
            umask=0o077,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            pass_fds=pass_fds,
            env=environment,
            cwd="/",
            start_new_session=True,
        )

    def reaches(self, path: Path) -> bool:
        """Whether this account can enter (a folder) or run (a file) at ``path``, asked of the kernel."""
        if not self.assumed:
            return os.access(path, os.X_OK)
        probe = ["/bin/sh", "-c", 'test -x "$1"', "sh", str(path)]
        process = self.popen(probe, log=subprocess.DEVNULL, environment={})
        return process.wait() == 0


def server_account(say: Callable[[str], None]) -> Account:
    """The account that runs the servers; root gets one made, and is told so."""
    if os.geteuid() != 0:
        return _own_account()
    try:
        entry = pwd.getpwnam(SERVICE_ACCOUNT)
    except KeyError:
        entry = _make_service_account()
        say(f"PostgreSQL refuses to run as root: made the system account {SERVICE_ACCOUNT} for the servers.")
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, assumed=True)


def person() -> str:
    """The name of the user who runs this process."""
    return _own_account().name


def _own_account() -> Account:
    try:
        entry = pwd.getpwuid(os.geteuid())
    except KeyError:
        raise EmbeddedError(
            f"The user id {os.geteuid()} has no account on this machine, and PostgreSQL needs one: "
            "add it to /etc/passwd, or name a server in DATABASE_URL."
        ) from None
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, assumed=False)


def _make_service_account() -> pwd.struct_passwd:
    useradd = shutil.which("useradd", path=f"{os.defpath}:/usr/sbin:/sbin")
    if useradd is not None:
        shell = ["--no-create-home", "--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin"]
        command = [useradd, "--system", "--user-group", *shell, SERVICE_ACCOUNT]
        # A second starter may have made it just before; whether it is there now is what counts.
        subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - a fixed command
    try:
        return pwd.getpwnam(SERVICE_ACCOUNT)
    except KeyError:
        raise EmbeddedError(
            "PostgreSQL refuses to run as root, and no account for it could be made: run Lode as an "
            f"ordinary user, or add a system account named {SERVICE_ACCOUNT}."
        ) from None
