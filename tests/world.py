"""One row of every kind, and many of each: what the pages of the admin are shown with."""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

import pgtrigger
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.db import connection

from apps.catalog.models import Concept, ConceptName, ConceptVector, Topic
from apps.clients.models import ApiKey, IdempotencyRecord
from apps.curation.groups import ensure_groups
from apps.dials.models import Dial
from apps.edges.models import Edge, EdgeObservation
from apps.embeddings.models import EmbeddingSpace
from apps.entries.models import Entry, EntryObservation, EntryVector
from apps.tutoring.models import Retrieval, Turn, TutoringSession
from tests.factories import (
    NOW,
    make_concept,
    make_edge,
    make_entry,
    make_learner,
    make_session,
    make_space,
    make_topic,
)

DRAWING = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 10 10'><circle cx='5' cy='5' r='4'/></svg>"
_MANY = Path(__file__).parent / "many.sql"


@dataclass(frozen=True, slots=True)
class World:
    """One of each, all of them tied to one another."""

    topic: Topic
    concept: Concept
    entry: Entry
    drawing: Entry
    pattern: Entry
    edge: Edge
    session: TutoringSession
    retrieval: Retrieval
    key: ApiKey


def make_world(said: str = "plain words") -> World:
    """One row of every kind; ``said`` stands in every text that someone may write."""
    title = said[:300]
    topic = make_topic(title=title, description=said)
    concept = make_concept(title=title, definition=said)
    ConceptName.objects.create(concept=concept, slug=f"{concept.slug}-alias", name=title)
    entry = make_entry(topic=topic, concept_slug=concept.slug, title=title, instruction=said, detail=said)
    drawing = make_entry(
        visibility_scope="visual", title=title, visual=f"<svg>{said}</svg>", instruction=said
    )
    learner = make_learner()
    pattern = make_entry(
        visibility_scope=f"student:{learner.external_id}",
        title=title,
        instruction=said,
        confidence=Decimal("0.2"),
    )
    session = make_session(learner=learner, topic=topic, level=said[:50])
    edge = make_edge(source=entry, target=drawing, condition=said, rationale=said, hit_count=1)
    EdgeObservation.objects.create(edge=edge, session=session.pk, observed_at=NOW)
    EntryObservation.objects.create(
        entry=entry,
        session=session.pk,
        actor=said[:200],
        observed_on=NOW.date(),
        observed_at=NOW,
        wording=said,
    )
    _vectors(make_space(), entry, concept)
    retrieval = _retrieval(said, topic, session, entry)
    Turn.objects.create(
        session=session,
        number=1,
        student_message=said,
        tutor_message=said,
        retrieval=retrieval,
        taught_entry=entry.pk,
        concepts=[title[:100]],
        outcome="success",
        struggles=[{"concept": said}],
        created_at=NOW,
    )
    Dial.objects.create(
        key="retrieval_top_k", value=7, version=1, changed_at=NOW, changed_by=said[:200], reason=said
    )
    return World(topic, concept, entry, drawing, pattern, edge, session, retrieval, _key(said))


def _vectors(space: EmbeddingSpace, entry: Entry, concept: Concept) -> None:
    vector = [1.0, *[0.0] * 127]
    common = {"space": space, "dimensions": 128, "embedding": vector, "created_at": NOW}
    EntryVector.objects.create(entry=entry, visibility_scope="public", text_hash=entry.text_hash, **common)
    ConceptVector.objects.create(concept_name=concept.names.all()[0], text_hash="", **common)


def _retrieval(said: str, topic: Topic, session: TutoringSession, entry: Entry) -> Retrieval:
    advisory = {
        "entry": str(entry.pk),
        "title": said,
        "band": "strong",
        "similarity": 0.75,
        "confidence": 0.8,
        "score": None,
        "found_by": ["semantic", "concept"],
    }
    return Retrieval.objects.create(
        learner=session.learner.external_id,
        session=session.pk,
        topic_id=topic.pk,
        request={"message": said, "topic": topic.slug},
        response={"prompt": f"## TOPIC MEMORY\n- [strong] {said}", "topic_memory": [advisory]},
        space="hash/hash-128",
        dials_version=1,
        matched_entries=[entry.pk],
        created_at=NOW,
    )


def _key(said: str) -> ApiKey:
    key = ApiKey.objects.create(
        name=said[:100], prefix="lode_abcdef", key_hash=uuid4().hex * 2, scopes=["retrieve"], created_at=NOW
    )
    IdempotencyRecord.objects.create(
        api_key=key, key=said[:200], request_hash="0" * 64, status=201, response=said, created_at=NOW
    )
    return key


def make_many(count: int) -> None:
    """``count`` rows in every table that grows, told apart from others by ``count`` in their names."""
    at = (NOW + dt.timedelta(days=1)).isoformat()
    text = _MANY.read_text(encoding="utf-8").replace(":count", str(count)).replace(":at", f"'{at}'")
    with pgtrigger.ignore(), connection.cursor() as cursor:
        cursor.execute(text)  # without parameters: the ignoring puts one of its own in front


def make_user(name: str, *groups: str, is_superuser: bool = False) -> User:
    """Somebody who may log in to the admin, with the product's groups."""
    ensure_groups(apps)
    user = User.objects.create_user(name, password="secret", is_staff=True, is_superuser=is_superuser)
    user.groups.set(Group.objects.filter(name__in=groups))
    return user
