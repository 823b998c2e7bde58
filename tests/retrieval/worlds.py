"""The oracle's little worlds in the product's tables: every trigger and constraint looks at them as they come."""

import dataclasses
import datetime as dt
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.catalog import models as catalog
from apps.clients.actions import KeyDraft
from apps.core.api.access import Access
from apps.dials import queries as dial_queries
from apps.edges import models as edges
from apps.embeddings.models import EmbeddingSpace
from apps.entries import models as entries
from apps.rules.dials import DIALS
from apps.rules.dials.declaration import Value
from apps.rules.scopes import learner_of
from apps.tutoring import models as tutoring
from tests.factories import NOW
from tests.oracle.model import UNANCHORED, VISUAL, Dials, Entry, Key, Session, Vector, World
from tests.oracle.vectors import norm

DRAWING = "<svg xmlns='http://www.w3.org/2000/svg'/>"
STAMPS = {"created_at": NOW, "updated_at": NOW}


Asked = TypeVar("Asked")


def in_worlds(
    examples: int,
    worlds: st.SearchStrategy[World],
    space: EmbeddingSpace,
    asked: Callable[[World], st.SearchStrategy[Asked]],
    compare: Callable[[World, Asked], None],
) -> None:
    """Load so many worlds, each in a transaction of its own, and compare several things that are asked of each.

    The worlds are the same every time; with LODE_EXAMPLES=N in the environment they are N new ones.
    """
    wanted = int(os.environ.get("LODE_EXAMPLES", "0"))

    def with_asked(world: World) -> st.SearchStrategy[tuple[World, list[Asked]]]:
        return st.tuples(st.just(world), st.lists(asked(world), min_size=1, max_size=8))

    @settings(
        max_examples=wanted or examples,
        derandomize=not wanted,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(worlds.flatmap(with_asked))
    def every_world(world_and_asked: tuple[World, list[Asked]]) -> None:
        world, all_asked = world_and_asked
        with rolled_back():
            load(world, space)
            for each in all_asked:
                compare(world, each)

    every_world()


@contextmanager
def rolled_back() -> Iterator[None]:
    """A transaction that leaves nothing, marked as a test's own: what it holds may be embedded in it."""
    block = transaction.atomic()
    block._from_testcase = True  # type: ignore[attr-defined]  # as Django's TestCase marks its own
    with block:
        yield
        transaction.set_rollback(True)


def load(world: World, space: EmbeddingSpace) -> None:
    """Write the whole world, with its vectors in ``space``; constraints are checked at once, deferred ones too."""
    topics = _load_topics(world)
    _load_concepts(world)
    learners = _load_learners(world)
    _load_entries(world, topics)
    _load_vectors(world.entries, space)
    _load_edges(world)
    _load_sessions(world.sessions, topics, learners)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def _archived(flag: bool) -> dt.datetime | None:
    return NOW if flag else None


def _load_topics(world: World) -> dict[str, int]:
    rows = [
        catalog.Topic(slug=topic.slug, title=topic.title, archived_at=_archived(topic.archived), **STAMPS)
        for topic in world.topics
    ]
    return {row.slug: row.pk for row in catalog.Topic.objects.bulk_create(rows)}


def _load_concepts(world: World) -> None:
    """Concepts with their aliases; the canonical names are made by a trigger."""
    rows = catalog.Concept.objects.bulk_create(
        catalog.Concept(
            slug=concept.slug, title=concept.title, archived_at=_archived(concept.archived), **STAMPS
        )
        for concept in world.concepts
    )
    catalog.ConceptName.objects.bulk_create(
        catalog.ConceptName(concept=row, slug=alias, name=alias)
        for row, concept in zip(rows, world.concepts, strict=True)
        for alias in concept.aliases
    )


def _load_learners(world: World) -> dict[str, int]:
    scoped = [learner_of(entry.scope) for entry in world.entries]
    names = {name for name in (*scoped, *(session.learner for session in world.sessions)) if name}
    rows = tutoring.Learner.objects.bulk_create(
        tutoring.Learner(external_id=name, created_at=NOW) for name in sorted(names)
    )
    return {row.external_id: row.pk for row in rows}


def _load_entries(world: World, topics: dict[str, int]) -> None:
    entries.Entry.objects.bulk_create(_entry(entry, topics) for entry in world.entries)


def _entry(entry: Entry, topics: dict[str, int]) -> entries.Entry:
    unanchored = entry.concept_slug == UNANCHORED
    return entries.Entry(
        id=entry.id,
        topic_id=None if entry.topic is None else topics[entry.topic],
        concept_slug=entry.concept_slug,
        visibility_scope=entry.scope,
        fact_key=entry.fact_key,
        title=entry.title,
        instruction=entry.instruction,
        detail=entry.detail,
        visual=DRAWING if entry.scope == VISUAL else None,
        maturity="archived" if entry.archived else entry.maturity,
        confidence=entry.confidence,
        source_type="seed",
        ladder_step="unanchored" if unanchored else "exact",
        concept_match_quality="0.5" if unanchored else "1",
        last_matched_at=entry.last_matched_at,
        observed_at=NOW,
        archived_at=_archived(entry.archived),
        superseded_at=NOW if entry.superseded else None,
        **STAMPS,
    )


def _load_vectors(rows: Iterable[Entry], space: EmbeddingSpace) -> None:
    """Every chunk's vector; an outdated one carries the hash of an older text."""
    hashes = dict(entries.Entry.objects.values_list("id", "text_hash"))
    entries.EntryVector.objects.bulk_create(
        entries.EntryVector(
            entry_id=row.id,
            visibility_scope=row.scope,
            space=space,
            dimensions=space.dimensions,
            chunk=chunk,
            text_hash=hashes[row.id] if row.vector_current else "0" * 64,
            embedding=list(fitted(vector, space)),
            created_at=NOW,
        )
        for row in rows
        for chunk, vector in enumerate(row.vectors or ())
    )


def fitted(vector: Vector, space: EmbeddingSpace) -> Vector:
    """The vector at length 1, with zeros up to the space's length: its cosines stay what they are."""
    length = norm(vector)
    return (*(part / length for part in vector), *[0.0] * (space.dimensions - len(vector)))


def _load_edges(world: World) -> None:
    edges.Edge.objects.bulk_create(
        edges.Edge(
            id=edge.id,
            source_id=edge.source,
            target_id=edge.target,
            edge_type=edge.type,
            source_type=edge.provenance,
            confidence=edge.confidence,
            condition=edge.condition,
            **STAMPS,
        )
        for edge in world.edges
    )


def _load_sessions(sessions: Iterable[Session], topics: dict[str, int], learners: dict[str, int]) -> None:
    tutoring.TutoringSession.objects.bulk_create(
        tutoring.TutoringSession(
            id=session.id,
            topic_id=topics[session.topic],
            learner_id=learners[session.learner],
            started_at=NOW,
            **({} if session.level is None else {"level": session.level}),
        )
        for session in sessions
    )
    tutoring.Turn.objects.bulk_create(
        tutoring.Turn(
            session_id=session.id,
            number=turn.number,
            student_message="Why?",
            concepts=list(turn.concepts),
            created_at=NOW,
        )
        for session in sessions
        for turn in session.turns
    )


@contextmanager
def turned(dials: Dials, space: EmbeddingSpace, **others: Value) -> Iterator[None]:
    """The oracle's dials in force, and ``others`` that it does not know, as if rows of them were stored."""
    values = {**{each.name: getattr(dials, each.name) for each in dataclasses.fields(dials)}, **others}
    stored = {
        (key, space.name if DIALS[key].by_space else None): DIALS[key].parse(value)
        for key, value in values.items()
    }
    held = dial_queries.current_snapshot()
    dial_queries._Memory.snapshot = dataclasses.replace(held, stored=stored, resolved={})
    try:
        yield
    finally:
        dial_queries._Memory.snapshot = held


def access_of(key: Key) -> Access:
    """What the product reads of a key with these bindings."""
    return Access(
        key_id=1,
        name="oracle",
        scopes=frozenset({"retrieve"}),
        sources=frozenset({"assistant"}),
        topics=_topics(key),
        learner_prefix=key.learner_prefix,
        rate_per_minute=1_000_000,
    )


def draft_of(key: Key) -> KeyDraft:
    """A key with these bindings, to be made."""
    return KeyDraft(
        name="oracle",
        scopes=("retrieve",),
        topics=_topics(key),
        learner_prefix=key.learner_prefix,
        rate_per_minute=1_000_000,
    )


def _topics(key: Key) -> tuple[str, ...]:
    return tuple(sorted(key.topics or ()))
