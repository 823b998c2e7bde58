"""The database refuses what the rules forbid of edges, and takes what they allow (rules.md 1, 2, 10)."""

from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction

from apps.edges.models import Edge, EdgeLedger, EdgeObservation
from tests.factories import NOW, make_edge, make_entry, make_learner

pytestmark = pytest.mark.django_db


def refused(constraint: str, **given: Any) -> None:
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        make_edge(**given)


def test_an_edge_is_one() -> None:
    edge = make_edge()
    refused("edge_once", source=edge.source, target=edge.target)
    make_edge(source=edge.target, target=edge.source)
    make_edge(source=edge.source, target=edge.target, edge_type="fallback")


def test_no_edge_leads_to_itself() -> None:
    entry = make_entry()
    refused("edge_not_to_itself", source=entry, target=entry)


@pytest.mark.parametrize(
    ("constraint", "given"),
    [
        ("edge_type_known", {"edge_type": "likes"}),
        ("edge_provenance_known", {"source_type": "rumour"}),
        ("edge_confidence_bounds", {"confidence": Decimal("1.000001")}),
        ("edge_confidence_bounds", {"confidence": Decimal("-0.000001")}),
    ],
)
def test_value_is_refused(constraint: str, given: dict[str, Any]) -> None:
    refused(constraint, **given)


@pytest.mark.parametrize("confidence", ["0", "1"])
def test_confidence_at_its_bounds_is_taken(confidence: str) -> None:
    make_edge(confidence=Decimal(confidence))


def test_an_edge_joins_one_learner_at_most() -> None:
    make_learner("ada")
    make_learner("bob")
    ada = make_entry(visibility_scope="student:ada")
    bob = make_entry(visibility_scope="student:bob")
    refused("one learner", source=ada, target=bob)
    edge = make_edge(source=ada, target=make_entry(visibility_scope="student:ada"))
    make_edge(source=ada, target=make_entry())
    with pytest.raises(IntegrityError, match="one learner"), transaction.atomic():
        Edge.objects.filter(pk=edge.pk).update(target=bob)


def test_a_session_observes_an_edge_once() -> None:
    edge, session = make_edge(), uuid4()
    EdgeObservation.objects.create(edge=edge, session=session, observed_at=NOW)
    EdgeObservation.objects.create(edge=edge, session=uuid4(), observed_at=NOW)
    with pytest.raises(IntegrityError, match="edge_observed_once_a_session"), transaction.atomic():
        EdgeObservation.objects.create(edge=edge, session=session, observed_at=NOW)


def test_a_ledger_begins_once_and_grades_once_a_turn() -> None:
    edge = make_edge()
    EdgeLedger.objects.create(edge=edge, kind="grade", turn=1, before=1, after=1, at=NOW)
    for constraint, given in (
        ("edge_ledger_begins_once", {"kind": "initial", "after": 1}),
        ("edge_graded_once_a_turn", {"kind": "grade", "turn": 1, "before": 1, "after": 1}),
    ):
        with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
            EdgeLedger.objects.create(edge=edge, at=NOW, **given)
