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
from apps.embeddings.models import EmbeddingSpace
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


def corpus_database(size: Size) -> str:
    """The name of a database with the corpus of ``size`` and every index; made where there is none yet."""
    return _kept(f"corpus_{size.entries}", repr(size), lambda draft: _make(draft, size))


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
    if whole not in names:
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
    """Changes with the tables, the indexes and the corpus too."""
    files = [Path(corpus.__file__), Path(indexes.__file__), *sorted(ROOT.glob("apps/*/migrations/*.py"))]
    seen = hashlib.sha256(follows.encode())
    for file in files:
        seen.update(file.read_bytes())
    return seen.hexdigest()[:12]


def _names() -> list[str]:
    with superuser("postgres") as server:
        return [str(name) for (name,) in server.execute("SELECT datname FROM pg_database").fetchall()]


def _make(name: str, size: Size) -> None:
    _create(name, template="template1")
    migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(migrate, cwd=ROOT, env={**os.environ, **environment(name)}, check=True)
    with superuser(name) as filled:
        # Millions of foreign keys hold by the way they are made, and are not looked up.
        filled.execute("SET session_replication_role = replica")
        filled.autocommit = False
        space = corpus.fill(filled, size=size, texts=texts())
    use(name)
    with connection.cursor() as cursor:
        for statement in _BUILDING:
            cursor.execute(statement)
    indexes.create(EmbeddingSpace.objects.get(pk=space), concurrently=False)
    connection.close()
    _quiet(name)


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
