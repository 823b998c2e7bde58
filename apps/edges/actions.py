"""Making, observing, changing and deleting edges (rules.md 10)."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from apps.audit.context import audited_as
from apps.core.actors import Actor
from apps.core.database import Lock, hold, insert
from apps.core.errors import Conflict, Invalid, refuse_stale
from apps.edges import queries
from apps.edges.models import Edge, EdgeLedger, EdgeObservation, EdgeType
from apps.entries.models import Entry, LedgerKind, Provenance
from apps.rules import edges as rules
from apps.rules.confidence import rounded
from apps.rules.cycles import find_cycle
from apps.rules.dials import DialValues

CONTENT = ("condition", "rationale")


@dataclass(frozen=True, slots=True)
class EdgeDraft:
    """What is said of a new edge; no confidence leaves it to the rules."""

    source: Entry
    target: Entry
    edge_type: str
    provenance: str = Provenance.SEED
    confidence: Decimal | None = None
    condition: str = ""
    rationale: str = ""


def create_edge(*, draft: EdgeDraft, dials: DialValues, actor: Actor, now: dt.datetime) -> tuple[Edge, bool]:
    """The edge of that source, target and type, and whether it was made now.

    Raises Invalid ``self_edge``, ``target_not_current`` where an end is no row, ``two_learners``, or
    ``cycle`` with its path where a prerequisite would close one; Conflict ``exists`` where the edge is
    there with another content.
    """
    refuse_wrong_ends(draft.source, draft.target)
    edge = _build(draft, dials=dials, now=now)
    with audited_as(actor=actor, verb="edge.create", now=now):
        if edge.edge_type == EdgeType.PREREQUISITE:
            hold(Lock.PREREQUISITES)
        existing = Edge.objects.filter(source=edge.source, target=edge.target, edge_type=edge.edge_type)
        if not existing.exists():
            refuse_cycle(edge, dials=dials)
        if insert(edge):
            begin_ledger(edge, now=now).save()
            return edge, True
        return _same(edge, existing.get()), False


def _build(draft: EdgeDraft, *, dials: DialValues, now: dt.datetime) -> Edge:
    initial = rules.initial_confidence(draft.provenance, dials)
    return Edge(
        source=draft.source,
        target=draft.target,
        edge_type=draft.edge_type,
        source_type=draft.provenance,
        confidence=initial if draft.confidence is None else rounded(draft.confidence),
        condition=draft.condition,
        rationale=draft.rationale,
        created_at=now,
        updated_at=now,
    )


def refuse_wrong_ends(source: Entry, target: Entry) -> None:
    """Raise Invalid where two entries cannot be joined by any edge."""
    if source.pk == target.pk:
        raise Invalid("self_edge", "an edge joins two different entries", "/target")
    for entry, pointer in ((source, "/source"), (target, "/target")):
        if entry.archived_at is not None or entry.superseded_at is not None:
            raise Invalid("target_not_current", f"the entry {entry.id} is archived or superseded", pointer)
    scopes = {
        entry.visibility_scope for entry in (source, target) if entry.visibility_scope.startswith("student:")
    }
    if len(scopes) > 1:
        raise Invalid("two_learners", "an edge joins entries of one learner at most", "/target")


def refuse_cycle(edge: Edge, *, dials: DialValues) -> None:
    """Raise Invalid ``cycle``, with the path in words, where ``edge`` would close one.

    The caller holds the prerequisites' lock until the edge is written.
    """
    path = closed_cycle(edge, dials=dials)
    if path:
        titles = {row.pk: row.title for row in Entry.objects.filter(pk__in=path)}
        words = " needs ".join(repr(titles[node]) for node in path)
        detail = f"this prerequisite would close a cycle: {words}; remove one of these edges first"
        raise Invalid("cycle", detail, "/target", extra={"path": [str(node) for node in path]})


def refuse_returned_cycle(entry: Entry, dials: DialValues) -> None:
    """Raise Invalid ``cycle`` where a prerequisite of ``entry``, which has just returned, closes one."""
    for edge in Edge.objects.filter(source=entry, edge_type=EdgeType.PREREQUISITE).order_by("id"):
        refuse_cycle(edge, dials=dials)


def closed_cycle(edge: Edge, *, dials: DialValues) -> tuple[UUID, ...]:
    """The path of the prerequisite cycle that ``edge`` closes, from its source back to it; empty for none."""
    floor = rounded(dials.edge_walk_min_confidence)
    if edge.edge_type != EdgeType.PREREQUISITE or edge.confidence < floor:
        return ()
    added = (edge.source_id, edge.target_id)
    ahead = queries.prerequisites_ahead(edge.target_id, floor)
    return find_cycle([pair for pair in ahead if pair != added], [added]) or ()


def begin_ledger(edge: Edge, *, now: dt.datetime) -> EdgeLedger:
    """The first row of an edge's ledger (not yet saved): its initial confidence."""
    return EdgeLedger(edge=edge, kind=LedgerKind.INITIAL, session=edge.session, after=edge.confidence, at=now)


def _same(wanted: Edge, found: Edge) -> Edge:
    if any(getattr(wanted, name) != getattr(found, name) for name in CONTENT):
        detail = "this edge exists with another condition or rationale; change it by its id"
        raise Conflict("exists", detail, extra={"id": found.pk})
    return found


def observe_edge(
    *,
    source: Entry,
    target: Entry,
    edge_type: str,
    session: UUID,
    condition: str = "",
    rationale: str = "",
    dials: DialValues,
    actor: Actor,
    now: dt.datetime,
) -> Edge:
    """Record that ``session`` showed this edge: it is made as ``learned``, or corroborated (rules.md 10).

    A session counts once, however often it is told. An observation that would lift a prerequisite into
    a cycle leaves it just below the walk floor.
    """
    refuse_wrong_ends(source, target)
    with audited_as(actor=actor, verb="edge.observe", now=now):
        if edge_type == EdgeType.PREREQUISITE:
            hold(Lock.PREREQUISITES)
        draft = EdgeDraft(source, target, edge_type, Provenance.LEARNED, None, condition, rationale)
        edge = _build(draft, dials=dials, now=now)
        edge.session, edge.hit_count = session, rules.initial_hit_count(Provenance.LEARNED)
        edge.confidence = _without_cycle(edge, edge.confidence, dials=dials)
        if insert(edge):
            begin_ledger(edge, now=now).save()
            EdgeObservation.objects.create(edge=edge, session=session, observed_at=now)
            return edge
        found = Edge.objects.select_for_update().get(source=source, target=target, edge_type=edge_type)
        return _corroborate(found, session, dials=dials, now=now)


def _corroborate(edge: Edge, session: UUID, *, dials: DialValues, now: dt.datetime) -> Edge:
    if not insert(EdgeObservation(edge=edge, session=session, observed_at=now)):
        return edge
    edge.hit_count += 1
    step = rules.observation_step(edge.hit_count, dials)
    lifted = rules.observed_confidence(edge.confidence, edge.hit_count, dials)
    allowed = max(edge.confidence, _without_cycle(edge, lifted, dials=dials))
    EdgeLedger.objects.create(
        edge=edge,
        kind=LedgerKind.OBSERVATION,
        session=session,
        step=min(step, allowed),
        before=edge.confidence,
        after=allowed,
        at=now,
    )
    edge.confidence, edge.updated_at = allowed, now
    edge.save(update_fields=["hit_count", "confidence", "updated_at"])
    return edge


def _without_cycle(edge: Edge, wanted: Decimal, *, dials: DialValues) -> Decimal:
    """``wanted``, or just below the walk floor where the edge would close a cycle at ``wanted``."""
    before, edge.confidence = edge.confidence, wanted
    path = closed_cycle(edge, dials=dials)
    edge.confidence = before
    return rules.held_below_walk(dials) if path else wanted


def change_edge(
    *,
    edge: Edge,
    changes: Mapping[str, Any],
    expected_version: int | None = None,
    dials: DialValues,
    actor: Actor,
    now: dt.datetime,
) -> Edge:
    """Change an edge's condition, rationale or confidence; its ends and type are its identity.

    Raises Invalid ``cycle`` where the new confidence would lift a prerequisite into one, and Stale where
    the edge is of another version than ``expected_version``.
    """
    with audited_as(actor=actor, verb="edge.change", now=now):
        hold(Lock.PREREQUISITES)
        held = _hold(edge, expected_version)
        for name in CONTENT:
            setattr(held, name, changes.get(name, getattr(held, name)))
        if changes.get("confidence") is not None:
            _set_confidence(held, rounded(changes["confidence"]), dials=dials, now=now)
        held.updated_at = now
        held.save()
    held.refresh_from_db()
    return held


def _hold(edge: Edge, expected_version: int | None) -> Edge:
    held = Edge.objects.select_for_update().get(pk=edge.pk)
    refuse_stale(current=held.version, expected=expected_version)
    return held


def _set_confidence(edge: Edge, confidence: Decimal, *, dials: DialValues, now: dt.datetime) -> None:
    if confidence == edge.confidence:
        return
    EdgeLedger.objects.create(
        edge=edge, kind=LedgerKind.SET, before=edge.confidence, after=confidence, at=now
    )
    edge.confidence = confidence
    refuse_cycle(edge, dials=dials)


def delete_edge(*, edge: Edge, expected_version: int | None = None, actor: Actor, now: dt.datetime) -> None:
    """Delete an edge for good, with its observations and ledger; the audit keeps what it was. Twice is once."""
    with audited_as(actor=actor, verb="edge.delete", now=now):
        held = Edge.objects.select_for_update().filter(pk=edge.pk).first()
        if held is not None:
            refuse_stale(current=held.version, expected=expected_version)
            held.delete()
