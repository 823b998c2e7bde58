"""A small world that can be retrieved from: a space that serves, and entries whose vectors are in it."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse

from apps.dials import queries as dials
from apps.dials.actions import change_dials
from apps.embeddings.models import EmbeddingSpace
from apps.entries.models import Entry, EntryVector
from apps.rules.dials import Change
from apps.rules.hashing import hash_vector
from apps.rules.text import document_text
from tests.factories import ACTOR, NOW, make_entry, make_learner


def said(answer: HttpResponse) -> Any:
    """What a successful answer says."""
    assert answer.status_code == 200, answer.content
    return json.loads(answer.content)


def embed(entry: Entry, space: EmbeddingSpace, *chunks: Sequence[float]) -> Entry:
    """Give ``entry`` these vectors, or the one that the hash provider makes of its text."""
    text = document_text(entry.title, entry.instruction, entry.detail)
    for place, vector in enumerate(chunks or [hash_vector(text)]):
        EntryVector.objects.create(
            entry=entry,
            space=space,
            dimensions=space.dimensions,
            chunk=place,
            text_hash=hashlib.sha256(text.encode()).hexdigest(),
            embedding=list(vector),
            visibility_scope=entry.visibility_scope,
            created_at=NOW,
        )
    return entry


def make_fact(space: EmbeddingSpace, **given: Any) -> Entry:
    """An entry with the vector of its text."""
    return embed(make_entry(**given), space)


def make_pattern(space: EmbeddingSpace, learner: str, **given: Any) -> Entry:
    """A pattern of a learner, who is made."""
    make_learner(learner)
    return make_fact(space, visibility_scope=f"student:{learner}", **given)


def set_dials(**values: Any) -> None:
    """Turn dials, for the running test."""
    changes = [Change(key, value) for key, value in values.items()]
    change_dials(changes=changes, reason="a test", actor=ACTOR, now=NOW)
    dials._Memory.snapshot = None  # the change never commits
