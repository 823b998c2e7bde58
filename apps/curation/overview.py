"""What Lode holds, in numbers; each number names the list that shows what it counts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, CharField, Count, F, QuerySet, Value, When

from apps.catalog.models import Concept, ConceptStatus, Topic
from apps.core.admin import html
from apps.core.admin.pages import COUNTED_ROWS
from apps.edges.admin import below_walk, with_walk_floor
from apps.edges.forms import TYPE_WORDS
from apps.edges.models import Edge
from apps.entries.admin import standing
from apps.entries.models import Entry
from apps.rules.words import Maturity, Provenance
from apps.tutoring.models import Learner, SessionState, TutoringSession

Allowed = Callable[[str], bool]
"""Whether the person who asks has a permission (``app.view_model``)."""

SCOPES = {
    "public": "public: topic facts",
    "tutor": "tutor: teaching moves",
    "visual": "visual: drawings",
    "student": "of a student",
}
PROVENANCES = {
    Provenance.SEED: "seed: a person made it",
    Provenance.ENRICHED: "enriched: read from the content",
    Provenance.LEARNED: "learned: students showed it",
}


@dataclass(frozen=True, slots=True)
class Number:
    """How many there are of something; ``share`` is its part of the largest beside it, for a bar.

    ``is_cut`` says that there are more than were counted.
    """

    words: str
    value: int
    address: str
    share: float = 0.0
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """Numbers that belong together."""

    title: str
    numbers: Sequence[Number]


@dataclass(frozen=True, slots=True)
class _Asked:
    """Something to count: in words, which rows, and the list that shows them."""

    words: str
    rows: QuerySet[Any]
    filters: Mapping[str, str]

    @property
    def label(self) -> str:
        return str(self.rows.model._meta.label_lower).replace(".", "_")

    @property
    def permission(self) -> str:
        return "{}.view_{}".format(*self.rows.model._meta.label_lower.split("."))

    @property
    def address(self) -> str:
        return html.list_of(self.label, **self.filters)


def totals(allowed: Allowed) -> list[Number]:
    """How many there are of each thing that the person may see."""
    asked = (
        _Asked("topics", Topic.objects.current(), {"state": "current"}),
        _Asked("concepts", Concept.objects.current(), {"state": "current"}),
        _Asked("entries", Entry.objects.all(), {}),
        _Asked("edges", Edge.objects.all(), {}),
        _Asked("learners", Learner.objects.all(), {}),
        _Asked("sessions", TutoringSession.objects.all(), {}),
    )
    return [Number(one.words, one.rows.count(), one.address) for one in asked if allowed(one.permission)]


def cards(allowed: Allowed) -> list[Card]:
    """What entries, edges and sessions are made of."""
    entries, edges, sessions = (
        _with_scope(Entry.objects.all()),
        Edge.objects.all(),
        TutoringSession.objects.all(),
    )
    asked = (
        ("Entries by maturity", entries, "maturity", {word: str(word) for word in Maturity}),
        ("Entries by scope", entries, "scope", SCOPES),
        ("Edges by type", edges, "edge_type", TYPE_WORDS),
        ("Edges by provenance", edges, "source_type", PROVENANCES),
        ("Sessions", sessions, "state", {state.value: state.value for state in SessionState}),
    )
    return [
        Card(title, _parts(rows, column, words))
        for title, rows, column, words in asked
        if allowed(_Asked("", rows, {}).permission)
    ]


def attention(allowed: Allowed) -> list[Number]:
    """What somebody may want to look at; what there is none of is left out."""
    entries = standing.with_vector(standing.with_floor(Entry.objects.all()))
    asked = (
        _Asked("entries waiting for a vector", standing.waiting(entries), {"search": "waiting"}),
        _Asked("entries below their floor", standing.below_floor(entries), {"floor": "below"}),
        _Asked("entries without a concept", standing.unanchored(entries), {"anchor": "unanchored"}),
        _Asked(
            "proposed concepts",
            Concept.objects.filter(status=ConceptStatus.PROPOSED),
            {"status": "proposed"},
        ),
        _Asked(
            "edges below the walk floor",
            below_walk(with_walk_floor(Edge.objects.all())),
            {"walk": "hidden"},
        ),
    )
    found = [_bounded(one) for one in asked if allowed(one.permission)]
    return [number for number in found if number.value]


def _bounded(asked: _Asked) -> Number:
    counted = asked.rows.order_by().values("pk")[: COUNTED_ROWS + 1].count()
    return Number(asked.words, min(counted, COUNTED_ROWS), asked.address, is_cut=counted > COUNTED_ROWS)


def _with_scope(entries: QuerySet[Any]) -> QuerySet[Any]:
    of_student = When(learner_key__isnull=False, then=Value("student"))
    scope = Case(of_student, default=F("visibility_scope"), output_field=CharField())
    found: QuerySet[Any] = entries.annotate(scope=scope)
    return found


def _parts(rows: QuerySet[Any], column: str, words: Mapping[Any, str]) -> list[Number]:
    counted = dict(rows.order_by().values_list(column).annotate(total=Count("pk")))
    largest = max(counted.values(), default=0) or 1
    asked = ((_Asked(text, rows, {column: str(word)}), counted.get(word, 0)) for word, text in words.items())
    return [Number(one.words, value, one.address, share=value / largest) for one, value in asked]
