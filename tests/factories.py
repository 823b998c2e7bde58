"""Rows for tests: valid where nothing else is said."""

import datetime as dt
import itertools
from decimal import Decimal
from typing import Any

from apps.catalog.models import Concept, Topic
from apps.core.actors import Actor
from apps.edges.models import Edge, EdgeLedger
from apps.embeddings.models import EmbeddingSpace
from apps.entries.models import Entry, EntryLedger
from apps.tutoring.models import Learner, TutoringSession

NOW = dt.datetime(2026, 3, 1, 12, 0, tzinfo=dt.UTC)
ACTOR = Actor("system", "test")

_numbers = itertools.count(1)


def make_topic(**given: Any) -> Topic:
    slug = f"topic-{next(_numbers)}"
    return Topic.objects.create(
        **{"slug": slug, "title": slug, "created_at": NOW, "updated_at": NOW, **given}
    )


def make_concept(**given: Any) -> Concept:
    slug = f"concept-{next(_numbers)}"
    return Concept.objects.create(
        **{"slug": slug, "title": slug, "created_at": NOW, "updated_at": NOW, **given}
    )


def make_learner(external_id: str = "") -> Learner:
    return Learner.objects.create(external_id=external_id or f"learner-{next(_numbers)}", created_at=NOW)


def make_session(**given: Any) -> TutoringSession:
    learner = given.pop("learner", None) or make_learner()
    topic = given.pop("topic", None) or make_topic()
    return TutoringSession.objects.create(**{"learner": learner, "topic": topic, "started_at": NOW, **given})


def make_entry(**given: Any) -> Entry:
    """A public seed entry of a topic and concept of its own, with its ledger."""
    scope = given.setdefault("visibility_scope", "public")
    if scope == "public" and "topic" not in given:
        given["topic"] = make_topic()
    if "concept_slug" not in given:
        given["concept_slug"] = (
            make_concept().slug if scope in {"public", "visual"} else f"name-{next(_numbers)}"
        )
    if scope == "visual":
        given.setdefault("visual", "<svg xmlns='http://www.w3.org/2000/svg'/>")
    unanchored = given["concept_slug"] == "_unanchored_"
    defaults = {
        "title": f"Title {next(_numbers)}",
        "instruction": f"Instruction {next(_numbers)}.",
        "confidence": Decimal("0.8"),
        "source_type": "seed",
        "ladder_step": "unanchored" if unanchored else "exact",
        "concept_match_quality": Decimal("0.5" if unanchored else "1"),
        "observed_at": NOW,
        "created_at": NOW,
        "updated_at": NOW,
    }
    if given.get("maturity") == "archived":
        given.setdefault("archived_at", NOW)
    entry = Entry.objects.create(**{**defaults, **given})
    EntryLedger.objects.create(entry=entry, kind="initial", after=entry.confidence, at=NOW)
    entry.refresh_from_db()
    return entry


def make_edge(**given: Any) -> Edge:
    source = given.pop("source", None) or make_entry()
    target = given.pop("target", None) or make_entry()
    defaults = {
        "edge_type": "related",
        "source_type": "seed",
        "confidence": Decimal("0.8"),
        "created_at": NOW,
        "updated_at": NOW,
    }
    edge = Edge.objects.create(**{"source": source, "target": target, **defaults, **given})
    EdgeLedger.objects.create(edge=edge, kind="initial", after=edge.confidence, at=NOW)
    return edge


def make_space(**given: Any) -> EmbeddingSpace:
    defaults = {
        "provider": "hash",
        "model": "hash-128",
        "dimensions": 128,
        "state": "serving",
        "created_at": NOW,
    }
    return EmbeddingSpace.objects.create(**{**defaults, **given})
