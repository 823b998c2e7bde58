"""Databases that hold a corpus: made once for each size, kept on the embedded server of the benchmarks.

A million entries take minutes to write and to index, so a database is made under a draft's name, named for
all that it follows from once it is whole, and found under that name by the next run.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, LiteralString
from urllib.parse import quote

import psycopg
from django.conf import settings
from django.db import connection
from psycopg import sql

from apps.core.embedded import locations
from apps.core.embedded.postgres import SUPERUSER
from apps.embeddings import indexes
from apps.embeddings.indexes import VectorIndex
from apps.embeddings.models import EmbeddingSpace, SpaceState
from apps.embeddings.registry import get_provider
from benchmarks import corpus
from benchmarks.corpus import Size, Texts

Connection = psycopg.Connection[tuple[Any, ...]]

ROOT = Path(__file__).resolve().parent.parent
# What an index over a million vectors of 384 half floats needs to be built in memory.
_BUILDING = ("SET maintenance_work_mem = '2GB'", "SET max_parallel_maintenance_workers = 2")


def texts() -> Texts:
    """The sentences of the corpus with their embeddings in the local space, embedded once."""
    return _embedded(corpus.sentences(settings.LODE_DATA_DIR))


def questions(count: int) -> Texts:
    """What learners ask of it, with the embeddings of the bare texts."""
    return _embedded(corpus.questions(settings.LODE_DATA_DIR)[:count])


def corpus_database(size: Size, *, for_turns: bool = False) -> str:
    """The name of a database with the corpus of ``size`` and its vector indexes; made where there is none yet.

    ``for_turns`` leaves out the vector index of the public rows, which no turn's retrieval uses, and which
    takes most of the time that a million entries take.
    """
    kind = "turns" if for_turns else "corpus"
    scopes = ("tutor",) if for_turns else ("tutor", "public")
    name = _kept(f"{kind}_{size.entries}", repr(size), lambda draft: _make(draft, size))
    _build_indexes(name, scopes)
    return name


def fresh_database(name: str) -> str:
    """The database ``name``, made anew: its tables, and nothing in them."""
    _drop(name)
    _create(name, template="template1")
    _migrate(name)
    return name


def derived_database(name: str, template: str, change: Callable[[Connection], None], *follows: str) -> str:
    """A copy of the database ``template``, once changed; ``follows`` are the texts that the change follows from."""

    def make(draft: str) -> None:
        _create(draft, template=template)
        with superuser(draft) as opened:
            change(opened)
        _quiet(draft)

    return _kept(name, repr((template, follows)), make)


def use(name: str) -> None:
    """Have this process's Django work on the database ``name`` from now on."""
    connection.close()
    connection.settings_dict["NAME"] = name


def environment(name: str) -> dict[str, str]:
    """What makes another process of Lode work on it."""
    host = quote(str(locations.socket_folder(settings.LODE_VAR)), safe="")
    return {"DATABASE_URL": f"postgres://{locations.ROLE}@{host}:{locations.PORT}/{name}"}


def connect(name: str) -> Connection:
    """An open connection with the product's own settings."""
    parameters = {**connection.get_connection_params(), "dbname": name}
    for djangos in ("context", "cursor_factory"):
        parameters.pop(djangos, None)
    return psycopg.connect(**parameters, autocommit=True)


def superuser(name: str) -> Connection:
    """A connection that may do everything."""
    host = str(locations.socket_folder(settings.LODE_VAR))
    return psycopg.connect(host=host, port=locations.PORT, user=SUPERUSER, dbname=name, autocommit=True)


def _embedded(sentences: Sequence[str]) -> Texts:
    provider = get_provider("local")
    cache = settings.LODE_VAR / "embedded"
    return corpus.embedded(sentences, space=provider.space, embed=provider.embed, cache_dir=cache)


def _kept(name: str, follows: str, make: Callable[[str], None]) -> str:
    """The database of that name for what it follows from: found, or made anew in the place of an older one."""
    whole = f"{name}_{_fingerprint(follows)}"
    names = _names()
    if whole in names:
        _migrate(whole)
    else:
        for old in names:
            if old.startswith(f"{name}_"):
                _drop(old)
        draft = f"draft_{name}"
        _drop(draft)
        make(draft)
        with superuser("postgres") as server:
            server.execute(_named("ALTER DATABASE {} RENAME TO {}", draft, whole))
    return whole


def _fingerprint(follows: str) -> str:
    """Changes with the corpus too. Tables may change: what is kept is migrated."""
    return hashlib.sha256(follows.encode() + Path(corpus.__file__).read_bytes()).hexdigest()[:12]


def _names() -> list[str]:
    with superuser("postgres") as server:
        return [str(name) for (name,) in server.execute("SELECT datname FROM pg_database").fetchall()]


def _migrate(name: str) -> None:
    migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(migrate, cwd=ROOT, env={**os.environ, **environment(name)}, check=True)


def _make(name: str, size: Size) -> None:
    fresh_database(name)
    with superuser(name) as filled:
        # Millions of foreign keys hold by the way they are made, and are not looked up.
        filled.execute("SET session_replication_role = replica")
        filled.autocommit = False
        corpus.fill(filled, size=size, texts=texts())
    _quiet(name)


def _build_indexes(name: str, scopes: Sequence[str]) -> None:
    """Build the vector indexes of those scopes, unless they stand as they are defined now."""
    use(name)
    space = EmbeddingSpace.objects.get(state=SpaceState.SERVING)
    wanted = [one for one in indexes.indexes_of(space) if any(f"_{scope}_" in one.name for scope in scopes)]
    connection.close()
    with superuser(name) as building:
        for statement in _BUILDING:
            building.execute(statement)
        for index in wanted:
            _build_index(building, index)


def _build_index(building: Connection, index: VectorIndex) -> None:
    (built,) = building.execute("SELECT obj_description(to_regclass(%s))", [index.name]).fetchone() or (None,)
    if built != index.definition:
        building.execute(f"DROP INDEX IF EXISTS {index.name}".encode())
        building.execute(f"CREATE INDEX {index.name} {index.definition}".encode())
        building.execute(
            sql.SQL("COMMENT ON INDEX {} IS {}").format(sql.Identifier(index.name), index.definition)
        )


def _quiet(name: str) -> None:
    """Have done what the server would else do while something is measured."""
    with superuser(name) as done:
        done.execute("VACUUM ANALYZE")
        done.execute("CHECKPOINT")


def _create(name: str, *, template: str) -> None:
    with superuser("postgres") as server:
        server.execute(_named("CREATE DATABASE {} TEMPLATE {} OWNER {}", name, template, locations.ROLE))


def _drop(name: str) -> None:
    with superuser("postgres") as server:
        server.execute(_named("DROP DATABASE IF EXISTS {} WITH (FORCE)", name))


def _named(statement: LiteralString, *names: str) -> sql.Composed:
    return sql.SQL(statement).format(*map(sql.Identifier, names))
