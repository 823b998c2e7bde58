"""Small worlds written by hand: entries whose cosine with the query `EAST` is a round number."""

import math
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from tests.oracle.model import (
    TUTOR,
    Answer,
    Concept,
    Dials,
    Edge,
    Entry,
    Key,
    Request,
    Session,
    Topic,
    Turn,
    Vector,
    World,
    student_scope,
)
from tests.oracle.retrieve import retrieve

EAST: Vector = (1.0, 0.0)
SPEC = Dials()


def toward(cosine: float) -> tuple[Vector, ...]:
    """One chunk whose cosine with EAST is the given one."""
    return ((cosine, math.sqrt(1 - cosine * cosine)),)


def eid(number: int) -> UUID:
    return UUID(int=number)


def entry(number: int, confidence: str = "0.8", **fields: Any) -> Entry:
    """A public candidate of the topic `crypto`, of no known concept, straight in the query's direction."""
    plain = Entry(
        id=eid(number),
        topic="crypto",
        title=f"Title {number}",
        instruction=f"Say {number}.",
        confidence=Decimal(confidence),
        vectors=toward(1.0),
    )
    return replace(plain, **fields)


def tutor(number: int, confidence: str = "0.8", **fields: Any) -> Entry:
    return entry(number, confidence, **{"scope": TUTOR, "topic": None, **fields})


def student(number: int, learner: str, confidence: str = "0.8", **fields: Any) -> Entry:
    return entry(number, confidence, **{"scope": student_scope(learner), "topic": None, **fields})


def edge(number: int, source: int, target: int, kind: str = "prerequisite", **fields: Any) -> Edge:
    confidence = Decimal(fields.pop("confidence", "0.8"))
    return Edge(id=number, source=eid(source), target=eid(target), type=kind, confidence=confidence, **fields)


def world(*entries: Entry, edges: tuple[Edge, ...] = (), sessions: tuple[Session, ...] = ()) -> World:
    """Two topics and an archived one; concepts nonce, xor (alias exclusive-or) and an archived one."""
    return World(
        topics=(
            Topic(slug="crypto", title="Crypto"),
            Topic(slug="nets", title="Nets"),
            Topic(slug="old", title="Old", archived=True),
        ),
        concepts=(
            Concept(slug="nonce", title="Nonce"),
            Concept(slug="xor", title="XOR", aliases=("exclusive-or",)),
            Concept(slug="rot13", title="ROT13", aliases=("caesar",), archived=True),
        ),
        entries=entries,
        edges=edges,
        sessions=sessions,
    )


def session(
    *turns: tuple[str, ...], topic: str = "crypto", learner: str = "ann", level: str | None = None
) -> Session:
    """Session 500, whose turns have these concepts, the oldest first."""
    numbered = tuple(Turn(number=number, concepts=names) for number, names in enumerate(turns, start=1))
    return Session(id=eid(500), topic=topic, learner=learner, level=level, turns=numbered)


def request(**fields: Any) -> Request:
    plain = Request(message="why?", topic="crypto", query_vector=EAST)
    return replace(plain, **fields)


def ask(a_world: World, dials: Dials = SPEC, **fields: Any) -> Answer:
    return retrieve(a_world, request(**fields), dials)


def numbers(things: Any) -> list[int]:
    """The numbers of the entries of advisories or matches, in order."""
    return [thing.entry.id.int for thing in things]


def bound(*topics: str, prefix: str = "") -> Key:
    return Key(topics=frozenset(topics) if topics else None, learner_prefix=prefix)
