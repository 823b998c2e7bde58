"""Sessions and their turns (api.md, Sessions and turns)."""

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from apps.audit.context import audited_as
from apps.catalog.models import Topic
from apps.core.actors import Actor
from apps.core.database import run_prepared
from apps.core.errors import Conflict, Invalid
from apps.core.sql import statements
from apps.rules.scopes import is_learner_id
from apps.tutoring.models import Learner, Retrieval, SessionState, Turn, TutoringSession

_SQL = statements(Path(__file__).parent / "sql" / "log.sql")


@dataclass(frozen=True, slots=True)
class TurnDraft:
    """One turn as a client reports it. ``struggles`` are ``{concept, missing, quote}``."""

    number: int
    student_message: str
    tutor_message: str = ""
    retrieval: Retrieval | None = None
    taught_entry: UUID | None = None
    concepts: Sequence[str] = ()
    outcome: str | None = None
    strength: Decimal = Decimal(1)
    struggles: Sequence[Mapping[str, Any]] = field(default_factory=list)
    observations: Sequence[Mapping[str, Any]] = field(default_factory=list)


def ensure_learner(*, external_id: str, actor: Actor, now: dt.datetime) -> Learner:
    """The learner of that external id, made where it is new. Raises Invalid where it is no learner id."""
    if not is_learner_id(external_id):
        detail = f"{external_id!r} is no learner id: 1 to 100 of A-Z a-z 0-9 . _ @ -, a letter or digit first"
        raise Invalid("invalid_learner", detail, "/learner")
    with audited_as(actor=actor, verb="learner.create", now=now):
        learner, _ = Learner.objects.get_or_create(external_id=external_id, defaults={"created_at": now})
    return learner


def start_session(
    *, learner: Learner, topic: Topic, level: str = "unknown", actor: Actor, now: dt.datetime
) -> TutoringSession:
    """A new, open session of one learner on one topic."""
    with audited_as(actor=actor, verb="session.start", now=now):
        return TutoringSession.objects.create(learner=learner, topic=topic, level=level, started_at=now)


def record_turn(*, session: TutoringSession, draft: TurnDraft, actor: Actor, now: dt.datetime) -> Turn:
    """Keep one turn of an open session.

    Raises Conflict ``session_ended``, and ``turn_out_of_order`` with the number that was expected.
    """
    with audited_as(actor=actor, verb="turn.record", now=now):
        held = TutoringSession.objects.select_for_update().get(pk=session.pk)
        if held.state != SessionState.OPEN:
            raise Conflict("session_ended", f"the session ended at {held.ended_at}; begin another")
        expected = held.turns.count() + 1
        if draft.number != expected:
            detail = f"turn {draft.number} came where turn {expected} is expected"
            raise Conflict("turn_out_of_order", detail, "/number", extra={"expected": expected})
        return _turn(held, draft, now)


def _turn(session: TutoringSession, draft: TurnDraft, now: dt.datetime) -> Turn:
    return Turn.objects.create(
        session=session,
        number=draft.number,
        student_message=draft.student_message,
        tutor_message=draft.tutor_message,
        retrieval=draft.retrieval,
        taught_entry=draft.taught_entry,
        concepts=list(draft.concepts),
        outcome=draft.outcome,
        strength=draft.strength,
        struggles=list(draft.struggles),
        observations=list(draft.observations),
        created_at=now,
    )


def end_session(*, session: TutoringSession, actor: Actor, now: dt.datetime) -> TutoringSession:
    """End a session; a second end changes nothing and keeps the first's time."""
    with audited_as(actor=actor, verb="session.end", now=now):
        held = TutoringSession.objects.select_for_update().get(pk=session.pk)
        if held.state == SessionState.OPEN:
            held.state, held.ended_at = SessionState.ENDED, now
            held.save(update_fields=["state", "ended_at"])
    return held


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalDraft:
    """One retrieval as it was asked and answered; see the model for what the fields mean."""

    id: UUID
    api_key: int | None
    learner: str
    session: UUID | None
    topic_id: int
    request: Mapping[str, Any]
    response: Mapping[str, Any]
    space: str
    dials_version: int
    matched_entries: Sequence[UUID]
    rendered_entries: Sequence[UUID]
    rendered_edges: Sequence[int]
    walked_edges: Sequence[int]


def log_retrieval(*, draft: RetrievalDraft, now: dt.datetime) -> None:
    """Keep a retrieval: the one row that a read writes. A single insert, which no audit follows."""
    logged = {
        "id": str(draft.id),
        "api_key": draft.api_key,
        "learner": draft.learner,
        "session": str(draft.session) if draft.session else None,
        "topic_id": draft.topic_id,
        "request": draft.request,
        "response": draft.response,
        "space": draft.space,
        "dials_version": draft.dials_version,
        "matched_entries": [str(entry) for entry in draft.matched_entries],
        "rendered_entries": [str(entry) for entry in draft.rendered_entries],
        "rendered_edges": list(draft.rendered_edges),
        "walked_edges": list(draft.walked_edges),
        "created_at": now.isoformat(),
    }
    run_prepared(_SQL["log_retrieval"].text, {"logged": json.dumps(logged)})
