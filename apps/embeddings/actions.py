"""Spaces: made, filled, switched to, filled anew; and the vectors of what was just written.

A space is filled outside any transaction, batch by batch; only making it and switching to it are one.
"""

import datetime as dt
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from django.db import OperationalError, connection, transaction
from psycopg.errors import LockNotAvailable

from apps.audit.context import audited_as
from apps.core.actors import Actor
from apps.core.database import Lock, claimed, hold
from apps.core.errors import Conflict
from apps.embeddings import indexes, queries, registry
from apps.embeddings.embedder import Embedder, Outcome, Progress
from apps.embeddings.inventory import Inventory
from apps.embeddings.models import EmbeddingSpace, SpaceState
from apps.embeddings.registry import SpaceName
from apps.embeddings.sources import Owner, TextSource, source, sources

# How long a switch waits for writers that are under way, before it says no and lets others write.
_SWITCH_LOCK_TIMEOUT = "5s"
_CLAIM_POLL_SECONDS = 0.5
# Owners without a vector that one search finds: it reads every hash, 2 s over a million texts.
_OWNERS_AT_ONCE = 10_000


def _silent(_: int) -> None:
    """No progress is shown."""


def ensure_serving_space(*, actor: Actor, now: dt.datetime) -> EmbeddingSpace:
    """The space that serves; in a database without one, the space of the settings serves from now on."""
    serving = queries.serving_space()
    if serving is not None:
        return serving
    provider = registry.default_provider()
    name = SpaceName(provider.name, provider.model, provider.dimensions)
    with audited_as(actor=actor, verb="space.serve", now=now):
        hold(Lock.SPACES)
        serving = EmbeddingSpace.objects.filter(state=SpaceState.SERVING).first()
        if serving is None:
            serving = _space(name, now)
            _serve(serving, now)
            indexes.create(serving, concurrently=False)
    return serving


def begin_building(*, name: SpaceName, actor: Actor, now: dt.datetime) -> EmbeddingSpace:
    """The space of that name, being built unless it serves: from now on every write is embedded in it too.

    Raises an EmbeddingError where the settings cannot make its provider.
    """
    provider = registry.get_provider(name)
    full = SpaceName(provider.name, provider.model, provider.dimensions)
    with audited_as(actor=actor, verb="space.build", now=now):
        hold(Lock.SPACES)
        space = _space(full, now)
        if space.state == SpaceState.RETIRED:
            space.state = SpaceState.BUILDING
            space.save(update_fields=["state"])
    return space


def fill(*, space: EmbeddingSpace, now: dt.datetime, progress: Progress = _silent) -> Outcome:
    """Embed every text that lacks a current vector in ``space``, then make its vector indexes.

    It goes on where a killed run ended. While another process fills the same space, it waits.
    """
    embedder = Embedder(space, now=now, progress=progress)
    with _only_one(space):
        _embed_missing(embedder, lambda: False)
        indexes.create(space, concurrently=True)
    return embedder.outcome


def switch(*, name: SpaceName, actor: Actor, now: dt.datetime) -> EmbeddingSpace:
    """Let a built space serve and retire the one that did. Embeds nothing (rules.md 3).

    Raises Missing for an unknown space, and Conflict: ``space_incomplete`` with the count, unless every
    row and concept name has a current vector in it; ``space_index_missing``; ``space_busy`` where
    writers would have to be waited for too long.
    """
    space = queries.find_space(name)
    with _lock_timeout_is_a_conflict(), audited_as(actor=actor, verb="space.switch", now=now):
        hold(Lock.SPACES)
        space.refresh_from_db()
        if space.state != SpaceState.SERVING:
            _hold_writes()
            _refuse_incomplete(space)
            EmbeddingSpace.objects.filter(state=SpaceState.SERVING).update(state=SpaceState.RETIRED)
            _serve(space, now)
    queries.forget_serving_space()
    return space


def rebuild(
    *,
    now: dt.datetime,
    actor: Actor,
    on_read: Callable[[Inventory], None] = lambda _: None,
    progress: Progress = _silent,
) -> Outcome:
    """Make every vector of the serving space anew, each replaced as it is made; the old ones serve till then.

    What is embedded is what one read found, and ``on_read`` is given that read first. A run that was
    killed is gone on with: what it made is not made again. Raises Conflict where no space serves.
    """
    space = _serving_for_rebuild(actor=actor, now=now)
    inventory = Inventory.read(space, now=now)
    on_read(inventory)
    embedder = Embedder(space, now=now, progress=progress)
    with _only_one(space):
        for kind, identities in inventory.texts.items():
            _embed_owners(embedder, source(kind), [owner for owner, _ in identities])
        if not any(queries.missing_counts(space).values()):
            _end_rebuild(space, actor=actor, now=now)
    return embedder.outcome


def embed_written(*, texts: Mapping[str, Sequence[Owner]], now: dt.datetime) -> None:
    """Embed what was just written, by kind and owner, in every live space where it lacks a current vector."""
    for space in queries.live_spaces():
        embedder = Embedder(space, now=now)
        for kind, owners in texts.items():
            _embed_owners(embedder, source(kind), owners)


def sweep(*, now: dt.datetime, is_over: Callable[[], bool]) -> None:
    """Embed whatever lacks a current vector, in every live space that no other process fills, until over."""
    for space in queries.live_spaces():
        with claimed(Lock.EMBEDDING, space.pk) as ours:
            if ours:
                _embed_missing(Embedder(space, now=now), is_over)


def _space(name: SpaceName, now: dt.datetime) -> EmbeddingSpace:
    identity = {"provider": name.provider, "model": name.model, "dimensions": name.dimensions}
    return EmbeddingSpace.objects.get_or_create(**identity, defaults={"created_at": now})[0]


def _serve(space: EmbeddingSpace, now: dt.datetime) -> None:
    space.state, space.served_at = SpaceState.SERVING, now
    space.save(update_fields=["state", "served_at"])
    transaction.on_commit(queries.forget_serving_space)


def _embed_missing(embedder: Embedder, is_over: Callable[[], bool]) -> None:
    """Pass over all texts until a pass finds nothing more that it can store."""
    while sum(_one_pass(embedder, found, is_over) for found in sources()):
        pass


def _one_pass(embedder: Embedder, texts_of: TextSource, is_over: Callable[[], bool]) -> int:
    stored = 0
    after: Owner | None = None
    while not is_over():
        owners = texts_of.missing_owners(embedder.space, after=after, limit=_OWNERS_AT_ONCE)
        if not owners:
            break
        stored += _embed_owners(embedder, texts_of, owners, is_over)
        after = owners[-1]
    return stored


def _embed_owners(
    embedder: Embedder,
    texts_of: TextSource,
    owners: Sequence[Owner],
    is_over: Callable[[], bool] = lambda: False,
) -> int:
    stored = 0
    for start in range(0, len(owners), embedder.batch_size):
        if is_over():
            break
        texts = texts_of.read(embedder.space, owners[start : start + embedder.batch_size])
        stored += embedder.embed(texts_of, texts) if texts else 0
    return stored


@contextmanager
def _only_one(space: EmbeddingSpace) -> Iterator[None]:
    """The claim to fill ``space``, waited for."""
    while True:
        with claimed(Lock.EMBEDDING, space.pk) as ours:
            if ours:
                yield
                return
        time.sleep(_CLAIM_POLL_SECONDS)


def _hold_writes() -> None:
    """Let no entry or name be written until the switch is done, so that its count is true when it counts."""
    tables = ", ".join(found.texts().model._meta.db_table for found in sources())
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [_SWITCH_LOCK_TIMEOUT])
        cursor.execute(f"LOCK TABLE {tables} IN SHARE MODE")


@contextmanager
def _lock_timeout_is_a_conflict() -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable):
            raise
        detail = "entries or concepts are being written just now; try the switch again in a moment"
        raise Conflict("space_busy", detail) from error


def _refuse_incomplete(space: EmbeddingSpace) -> None:
    missing = {kind: count for kind, count in queries.missing_counts(space).items() if count}
    build = f"run `manage.py embeddings build {space.name}`"
    if missing:
        counts = " and ".join(f"{count} {kind}" for kind, count in missing.items())
        detail = f"{counts} lack a current vector in {space.name}: {build}"
        raise Conflict("space_incomplete", detail, extra={"missing": missing})
    absent = [
        index.name
        for index in indexes.indexes_of(space)
        if indexes.state_of(index) is not indexes.IndexState.VALID
    ]
    if absent:
        raise Conflict("space_index_missing", f"{space.name} lacks {', '.join(absent)}: {build}")


def _serving_for_rebuild(*, actor: Actor, now: dt.datetime) -> EmbeddingSpace:
    with audited_as(actor=actor, verb="space.rebuild", now=now):
        hold(Lock.SPACES)
        space = EmbeddingSpace.objects.filter(state=SpaceState.SERVING).first()
        if space is None:
            raise Conflict("no_space", "no space serves yet: there is nothing to rebuild")
        if space.rebuilding_since is None:
            space.rebuilding_since = now
            space.save(update_fields=["rebuilding_since"])
    return space


def _end_rebuild(space: EmbeddingSpace, *, actor: Actor, now: dt.datetime) -> None:
    with audited_as(actor=actor, verb="space.rebuilt", now=now):
        space.rebuilding_since = None
        space.save(update_fields=["rebuilding_since"])
