"""Authoring entries. Every verb is atomic, audited, and answers a repeated call alike."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import IntegrityError

from apps.audit.context import audited_as
from apps.catalog.actions import nearest_concept
from apps.catalog.models import Concept, Topic
from apps.core.actors import Actor
from apps.core.database import Lock, hold, insert
from apps.core.errors import Conflict, Invalid, refuse_stale
from apps.core.queue import Task, enqueue_on_commit
from apps.core.svg import UnsafeDrawingError, sanitised
from apps.entries import ledger, returning
from apps.entries.models import Entry, LadderStep, Maturity, MemorySource, Provenance
from apps.entries.texts import EntryTexts
from apps.rules import confidence as confidences
from apps.rules.dials import DialValues
from apps.rules.slugs import UNANCHORED, is_slug, slugify
from apps.rules.text import document_text, text_hash

CONTENT = ("title", "instruction", "detail", "visual", "importance")


@dataclass(frozen=True, slots=True)
class EntryDraft:
    """What an author says of a new entry; None leaves a value to the rules.

    ``concept`` is a slug or alias in ``public`` and ``visual``, a name of its own in ``tutor`` and
    student scopes, and None for an unanchored entry. ``visual`` is one SVG, in that scope alone.
    """

    scope: str
    title: str
    instruction: str
    topic: Topic | None = None
    concept: str | None = None
    detail: str = ""
    visual: str | None = None
    maturity: str = Maturity.CANDIDATE
    confidence: Decimal | None = None
    importance: Decimal | None = None
    provenance: str = Provenance.SEED
    source: str = MemorySource.SYSTEM


def create_entry(
    *, draft: EntryDraft, dials: DialValues, actor: Actor, now: dt.datetime
) -> tuple[Entry, bool]:
    """The entry of that identity (rules.md 2), and whether it was made now.

    Raises Invalid where the draft breaks a rule (an unknown concept names the nearest), Conflict
    ``archived`` or ``exists`` where its identity is taken by a row of another content; each says its id.
    """
    entry = build(draft, dials=dials, now=now)
    with audited_as(actor=actor, verb="entry.create", now=now):
        if insert(entry):
            ledger.begin(entry, now=now).save()
            _embed_soon(entry)
            return entry, True
        return _same(entry, Entry.objects.same_identity(entry).get()), False


def _embed_soon(entry: Entry) -> None:
    enqueue_on_commit(Task.EMBED_PENDING, texts={EntryTexts.kind: [str(entry.pk)]})


def build(draft: EntryDraft, *, dials: DialValues, now: dt.datetime) -> Entry:
    """The unsaved entry that a draft stands for, with everything the rules give it."""
    refuse_wrong_shape(draft)
    slug, step = anchor(draft)
    initial = confidences.initial_confidence(provenance=draft.provenance, step=step, dials=dials)
    return Entry(
        topic=draft.topic,
        concept_slug=slug,
        visibility_scope=draft.scope,
        title=draft.title,
        instruction=draft.instruction,
        detail=draft.detail,
        visual=drawing(draft.visual),
        text_hash=text_hash(document_text(draft.title, draft.instruction, draft.detail)),
        maturity=draft.maturity,
        confidence=initial if draft.confidence is None else confidences.rounded(draft.confidence),
        importance=draft.importance,
        source_type=draft.provenance,
        source=draft.source,
        ladder_step=step,
        concept_match_quality=confidences.match_quality(step, dials),
        observed_at=now,
        approved_at=now if draft.provenance == Provenance.SEED else None,
        archived_at=now if draft.maturity == Maturity.ARCHIVED else None,
        created_at=now,
        updated_at=now,
    )


def refuse_wrong_shape(draft: EntryDraft) -> None:
    """Raise Invalid where scope, topic and drawing do not go together (rules.md 1 and 2)."""
    if draft.scope == "public" and draft.topic is None:
        raise Invalid("topic_required", "an entry of scope public has a topic", "/topic")
    if (draft.scope == "visual") != (draft.visual is not None):
        raise Invalid("scope_combination", "a drawing stands in scope visual, and only there", "/visual")
    if not draft.instruction.strip():
        raise Invalid("blank", "an entry has an instruction", "/instruction")


def drawing(visual: str | None) -> str | None:
    """A drawing as it is stored: whoever shows it may trust that it does nothing.

    Raises Invalid, with what to take out, for what is no SVG that can be shown safely.
    """
    try:
        return None if visual is None else sanitised(visual)
    except UnsafeDrawingError as error:
        raise Invalid("unsafe_drawing", str(error), "/visual") from error


def anchor(draft: EntryDraft) -> tuple[str, LadderStep]:
    """The concept slug of a draft and the ladder step that found it: 1, exact, or 4, unanchored (rules.md 9)."""
    if draft.concept is None:
        return UNANCHORED, LadderStep.UNANCHORED
    if draft.scope in {"public", "visual"}:
        return _known_concept(draft.concept), LadderStep.EXACT
    if not is_slug(draft.concept):
        raise Invalid("invalid_slug", f"{draft.concept!r} is no slug", "/concept")
    return draft.concept, LadderStep.EXACT


def _known_concept(name: str) -> str:
    concept = Concept.objects.current().named(slugify(name) or name).first()
    if concept is None:
        nearest = nearest_concept(name)
        hint = f"; did you mean {nearest!r}?" if nearest else ""
        raise Invalid("unknown_concept", f"{name!r} names no concept{hint}", "/concept")
    return concept.slug


def _same(wanted: Entry, found: Entry) -> Entry:
    if found.maturity == Maturity.ARCHIVED and wanted.maturity != Maturity.ARCHIVED:
        detail = "this identity belongs to an archived entry; restore it by its id"
        raise Conflict("archived", detail, extra={"id": str(found.id)})
    if any(getattr(wanted, name) != getattr(found, name) for name in CONTENT):
        detail = "this identity belongs to an entry of another content; change it by its id"
        raise Conflict("exists", detail, extra={"id": str(found.id)})
    return found


def change_entry(
    *,
    entry: Entry,
    changes: Mapping[str, Any],
    expected_version: int | None = None,
    dials: DialValues,
    actor: Actor,
    now: dt.datetime,
) -> Entry:
    """Change an entry's content, concept, maturity or confidence; scope and topic are its own for ever.

    An author's edit lifts a row that has fallen below its floor back to it (rules.md 8). Raises Invalid
    for an unknown concept, Stale where the entry is of another version than ``expected_version``, Conflict
    where the new identity is taken or the entry is no row.
    """
    with audited_as(actor=actor, verb="entry.change", now=now):
        held = _hold(entry, expected_version)
        _refuse_retired(held)
        _apply(held, changes)
        _move_confidence(held, changes.get("confidence"), dials=dials, now=now)
        held.updated_at = now
        _save(held)
        _embed_soon(held)
    held.refresh_from_db()
    return held


def _hold(entry: Entry, expected_version: int | None) -> Entry:
    held = Entry.objects.select_for_update().get(pk=entry.pk)
    refuse_stale(current=held.version, expected=expected_version)
    return held


def _refuse_retired(entry: Entry) -> None:
    if entry.archived_at is not None or entry.superseded_at is not None:
        state = "archived" if entry.archived_at else "superseded"
        raise Conflict(state, f"the entry is {state}; only a row can be changed", extra={"id": str(entry.id)})


def _apply(entry: Entry, changes: Mapping[str, Any]) -> None:
    for name in (*CONTENT, "maturity"):
        if name in changes:
            setattr(entry, name, changes[name])
    draft = EntryDraft(
        scope=entry.visibility_scope,
        title=entry.title,
        instruction=entry.instruction,
        topic=entry.topic,
        visual=entry.visual,
        concept=changes.get("concept"),
    )
    refuse_wrong_shape(draft)
    entry.visual = drawing(entry.visual) if "visual" in changes else entry.visual
    entry.text_hash = text_hash(document_text(entry.title, entry.instruction, entry.detail))
    if "concept" in changes:
        entry.concept_slug, entry.ladder_step = anchor(draft)


def _move_confidence(entry: Entry, stated: Decimal | None, *, dials: DialValues, now: dt.datetime) -> None:
    if stated is not None:
        ledger.set_confidence(entry, confidences.rounded(stated), now=now)
        return
    lifted = confidences.lifted(
        entry.confidence, maturity=entry.maturity, highest=ledger.highest(entry), dials=dials
    )
    ledger.set_confidence(entry, lifted, now=now)


def _save(entry: Entry) -> None:
    """Save, or say whose identity the change would take; the whole change is undone then."""
    taken = Entry.objects.same_identity(entry).exclude(pk=entry.pk).first()
    try:
        entry.save()
    except IntegrityError as error:
        where = {"id": str(taken.id)} if taken else {}
        raise Conflict("exists", "the identity is another entry's", "/concept", extra=where) from error


def archive_entry(
    *, entry: Entry, expected_version: int | None = None, actor: Actor, now: dt.datetime
) -> Entry:
    """Retire an entry: it is kept, keeps its identity, and is never retrieved. Twice is once."""
    with audited_as(actor=actor, verb="entry.archive", now=now):
        held = _hold(entry, expected_version)
        if held.archived_at is None:
            held.maturity, held.archived_at, held.updated_at = Maturity.ARCHIVED, now, now
            held.save(update_fields=["maturity", "archived_at", "updated_at"])
    held.refresh_from_db()
    return held


def restore_entry(
    *,
    entry: Entry,
    expected_version: int | None = None,
    dials: DialValues,
    actor: Actor,
    now: dt.datetime,
) -> Entry:
    """Bring an archived entry back as a candidate, at the candidate floor at least (api.md). Twice is once.

    Raises Invalid ``cycle`` where edges made in the meantime would close a prerequisite cycle through it.
    """
    with audited_as(actor=actor, verb="entry.restore", now=now):
        hold(Lock.PREREQUISITES)  # before the row, as whoever makes an edge takes them
        held = _hold(entry, expected_version)
        if held.archived_at is not None:
            floor = confidences.floor(Maturity.CANDIDATE, dials) or held.confidence
            ledger.set_confidence(held, max(held.confidence, floor), now=now)
            held.maturity, held.archived_at, held.updated_at = Maturity.CANDIDATE, None, now
            held.save()
            returning.refuse_unfit(held, dials)
            _embed_soon(held)
    held.refresh_from_db()
    return held
