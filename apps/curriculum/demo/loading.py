"""The demo: a security course, and three learners whose sessions have already taught it something."""

import datetime as dt
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from apps.audit.context import audited_as
from apps.catalog.models import Topic
from apps.core.actors import Actor
from apps.core.database import Lock, hold
from apps.curriculum.actions import import_curriculum
from apps.curriculum.bundle.sources import Source, of_bytes
from apps.curriculum.importing.reporting import Report
from apps.edges.actions import observe_edge
from apps.entries.actions import EntryDraft, create_entry
from apps.entries.models import Entry
from apps.entries.querysets import EntryQuerySet
from apps.rules.dials import DialValues
from apps.rules.discovery import Discovery, TaughtTurn, discoveries, quoted_struggles
from apps.rules.scopes import PUBLIC, student_scope
from apps.rules.words import EdgeType, Provenance
from apps.tutoring.actions import TurnDraft, end_session, ensure_learner, record_turn, start_session
from apps.tutoring.models import Learner, TutoringSession

FOLDER = Path(__file__).parent
_LEARNERS = FOLDER / "learners.json"


@dataclass(frozen=True, slots=True)
class DemoReport:
    """What was loaded: the import of the course, and the learners with their sessions and turns."""

    course: Report
    learners: int
    patterns: int
    sessions: int
    turns: int


@dataclass(frozen=True, slots=True)
class _Loading:
    """What every step of one loading is given."""

    dials: DialValues
    actor: Actor
    now: dt.datetime


def bundles() -> list[Source]:
    """The bundles of the course, in the order in which they are imported as one."""
    files = sorted(path for path in FOLDER.glob("*.json") if path != _LEARNERS)
    return [of_bytes(path.read_bytes(), path.name) for path in files]


def is_empty() -> bool:
    """Whether the database holds nothing that a demo could get mixed up with."""
    return not (Topic.objects.exists() or Entry.objects.exists() or Learner.objects.exists())


def load_demo(
    *,
    dials: DialValues,
    actor: Actor,
    now: dt.datetime,
    run: UUID,
    say: Callable[[str], None] = lambda step: None,
) -> DemoReport | None:
    """Load the demo into an empty database, all of it or nothing; None where there is something already.

    What is learned is made as sessions make it: one observation for each session that showed it.
    """
    with audited_as(actor=actor, verb="demo.load", now=now, run=run):
        hold(Lock.IMPORT)
        if not is_empty():
            return None
        course = import_curriculum(sources=bundles(), dials=dials, actor=actor, now=now, run=run, say=say)
        say("learners and sessions")
        told = json.loads(_LEARNERS.read_text(encoding="utf-8"), parse_float=Decimal)
        loading = _Loading(dials, actor, now)
        patterns = [_load_pattern(learner, pattern, loading) for learner, pattern in _patterns(told)]
        turns = [_load_session(session, loading) for session in told["sessions"]]
    return DemoReport(course, len(told["learners"]), len(patterns), len(turns), sum(turns))


def _patterns(told: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, str]]]:
    return (
        (learner["external_id"], pattern) for learner in told["learners"] for pattern in learner["patterns"]
    )


def _load_pattern(external_id: str, pattern: Mapping[str, str], loading: _Loading) -> Entry:
    """What was observed of a learner, under a name of its own (rules.md 8, initial confidence)."""
    ensure_learner(external_id=external_id, actor=loading.actor, now=loading.now)
    draft = EntryDraft(
        scope=student_scope(external_id),
        concept=pattern["name"],
        title=pattern["title"],
        instruction=pattern["text"],
        maturity=pattern["maturity"],
        provenance=Provenance.LEARNED,
    )
    entry, _ = create_entry(draft=draft, dials=loading.dials, actor=loading.actor, now=loading.now)
    return entry


def _load_session(told: Mapping[str, Any], loading: _Loading) -> int:
    """One finished session with what it showed; gives the number of its turns."""
    actor, now = loading.actor, loading.now
    learner = ensure_learner(external_id=told["learner"], actor=actor, now=now)
    topic = Topic.objects.get(slug=told["topic"])
    session = start_session(learner=learner, topic=topic, level=told["level"], actor=actor, now=now)
    for turn in told["turns"]:
        record_turn(session=session, draft=_draft(turn), actor=actor, now=now)
    end_session(session=session, actor=actor, now=now)
    for found in [*_discovered(told["turns"]), *_proposed(told["turns"], topic)]:
        _observe(found, session, loading)
    return len(told["turns"])


def _draft(turn: Mapping[str, Any]) -> TurnDraft:
    taught = _taught(turn)
    return TurnDraft(
        number=turn["number"],
        student_message=turn["student_message"],
        tutor_message=turn["tutor_message"],
        taught_entry=taught.pk if taught else None,
        concepts=turn["concepts"],
        outcome=turn["outcome"],
        strength=Decimal(1) if turn["strength"] is None else turn["strength"],
        struggles=turn["struggles"],
    )


def _taught(turn: Mapping[str, Any]) -> Entry | None:
    end = turn["taught_entry"]
    return None if end is None else _public().get(topic__slug=end["topic"], concept_slug=end["concept"])


def _public() -> EntryQuerySet:
    return Entry.objects.rows().filter(visibility_scope=PUBLIC)


def _discovered(turns: Sequence[Mapping[str, Any]]) -> Iterator[Discovery]:
    taught = [(_taught(turn), turn["outcome"]) for turn in turns]
    return discoveries(
        [
            TaughtTurn(entry.pk if entry else None, entry.title if entry else "", outcome)
            for entry, outcome in taught
        ]
    )


def _proposed(turns: Sequence[Mapping[str, Any]], topic: Topic) -> Iterator[Discovery]:
    for turn in turns:
        for struggle in quoted_struggles(turn["student_message"], turn["struggles"]):
            source, target = (_entry_of(name, topic) for name in (struggle.concept, struggle.missing))
            yield Discovery(EdgeType.PREREQUISITE, source.pk, target.pk, "")


def _entry_of(concept: str, topic: Topic) -> Entry:
    """The public entry of a concept: that of the session's topic, else the only one."""
    taught = _public().filter(concept_slug=concept)
    return taught.filter(topic=topic).first() or taught.get()


def _observe(found: Discovery, session: TutoringSession, loading: _Loading) -> None:
    observe_edge(
        source=Entry.objects.get(pk=found.source),
        target=Entry.objects.get(pk=found.target),
        edge_type=found.edge_type,
        session=session.pk,
        condition=found.condition,
        dials=loading.dials,
        actor=loading.actor,
        now=loading.now,
    )
