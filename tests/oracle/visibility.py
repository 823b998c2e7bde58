"""Who is asking, about what, and which rows they may see: api.md (Retrieval) and rules.md 1, 4 and 6."""

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from tests.oracle.model import (
    PUBLIC,
    TUTOR,
    UNANCHORED,
    Dials,
    Entry,
    Key,
    RefusedError,
    Request,
    Session,
    Topic,
    World,
    student_scope,
)


@dataclass(frozen=True, kw_only=True)
class Place:
    """A request with its silent inputs filled in. `learner` is None also where the key may not see them."""

    topic: Topic
    session: Session | None
    learner: str | None
    level: str


@dataclass(frozen=True, kw_only=True)
class Expected:
    """The expected concepts, whether they were inferred from the session, and names that meant nothing."""

    slugs: tuple[str, ...]
    inferred: bool
    ignored: tuple[str, ...] = ()


def place_of(world: World, request: Request) -> Place:
    """Api.md: topic and learner come from the session and must agree with it; unknown things are 404."""
    session = find_session(world, request.session, request.key)
    slug = request.topic or (session.topic if session else None)
    if slug is None:
        raise RefusedError("topic_required")
    topic = find_topic(world, slug, request.key)
    if session and disagrees(request, session):
        raise RefusedError("session_mismatch")
    learner = request.learner or (session.learner if session else None)
    level = request.level or (session.level if session else None) or "unknown"
    return Place(topic=topic, session=session, learner=visible_learner(learner, request.key), level=level)


def disagrees(request: Request, session: Session) -> bool:
    return request.topic not in (None, session.topic) or request.learner not in (None, session.learner)


def find_session(world: World, session_id: UUID | None, key: Key) -> Session | None:
    """The session asked for; one that the key may not see is answered like one that does not exist."""
    if session_id is None:
        return None
    session = world.session(session_id)
    if session is None or not topic_allowed(session.topic, key) or not learner_allowed(session.learner, key):
        raise RefusedError("not_found")
    return session


def find_topic(world: World, slug: str, key: Key) -> Topic:
    topic = world.topic(slug)
    if topic is None or topic.archived or not topic_allowed(slug, key):
        raise RefusedError("not_found")
    return topic


def topic_allowed(slug: str | None, key: Key) -> bool:
    return key.topics is None or slug in key.topics


def learner_allowed(learner: str, key: Key) -> bool:
    return learner.startswith(key.learner_prefix)


def visible_learner(learner: str | None, key: Key) -> str | None:
    """A learner whom the key may not see is like an unknown one: no student rows, and no error."""
    return learner if learner is not None and learner_allowed(learner, key) else None


def key_sees(entry: Entry, key: Key) -> bool:
    """Api.md: a topic binding limits public rows; tutor and visual rows are visible to every key."""
    if entry.scope == PUBLIC:
        return topic_allowed(entry.topic, key)
    if entry.scope.startswith("student:"):
        return learner_allowed(entry.scope.removeprefix("student:"), key)
    return True


def may_be_walked_to(entry: Entry, learner: str | None, key: Key) -> bool:
    """Rules.md 6: public within the key's topics, tutor, or this learner's own."""
    own = learner is not None and entry.scope == student_scope(learner)
    return entry.scope == TUTOR or own or (entry.scope == PUBLIC and topic_allowed(entry.topic, key))


def floor(maturity: str, dials: Dials) -> Decimal | None:
    """Rules.md 4: the least confidence of a maturity; None locks it out."""
    return {
        "proven": dials.retrieval_floor_proven,
        "pattern": dials.retrieval_floor_pattern,
        "candidate": dials.retrieval_floor_candidate,
    }.get(maturity)


def confident(entry: Entry, min_confidence: Decimal | None, dials: Dials) -> bool:
    """Rules.md 4: confidence >= max(min_confidence, floor(maturity))."""
    least = floor(entry.maturity, dials)
    asked = dials.retrieval_min_confidence if min_confidence is None else min_confidence
    return least is not None and entry.confidence >= max(asked, least)


def resolve_concept(world: World, name: str) -> str | None:
    """The slug of the unarchived concept that has this name as slug or alias."""
    for concept in world.concepts:
        if not concept.archived and name != UNANCHORED and name in (concept.slug, *concept.aliases):
            return concept.slug
    return None


def expected_concepts(world: World, request: Request, session: Session | None, dials: Dials) -> Expected:
    """Rules.md 5, pass 2: what the caller gives, else the concepts of the session's last turns."""
    if request.expected_concepts is not None:
        slugs, ignored = resolve_all(world, request.expected_concepts)
        return Expected(slugs=slugs, inferred=False, ignored=ignored)
    slugs, _ = resolve_all(world, recent_concepts(session, dials.expected_concepts_turn_window))
    return Expected(slugs=tuple(sorted(slugs)), inferred=True)


def recent_concepts(session: Session | None, window: int) -> tuple[str, ...]:
    if session is None:
        return ()
    newest_first = sorted(session.turns, key=lambda turn: -turn.number)
    return tuple(concept for turn in newest_first[:window] for concept in turn.concepts)


def resolve_all(world: World, names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The slugs that the names stand for, and the names that stand for none, each once and in order."""
    resolved = [(name, resolve_concept(world, name)) for name in names]
    slugs = dict.fromkeys(slug for _, slug in resolved if slug is not None)
    ignored = dict.fromkeys(name for name, slug in resolved if slug is None)
    return tuple(slugs), tuple(ignored)
