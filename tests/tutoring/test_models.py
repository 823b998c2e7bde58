"""Learners, sessions and turns, as the database holds them (rules.md 1)."""

from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from apps.tutoring.models import Learner, Retrieval, Turn, TutoringSession
from tests.factories import NOW, make_learner, make_session

pytestmark = pytest.mark.django_db


def make_turn(session: TutoringSession, **given: Any) -> Turn:
    defaults = {"number": 1, "student_message": "?", "created_at": NOW}
    return Turn.objects.create(session=session, **{**defaults, **given})


@pytest.mark.parametrize("external_id", ["_x", "", "a b", "a:b", "a" * 101, "%"])
def test_learner_id_is_refused(external_id: str) -> None:
    with pytest.raises(Exception, match=r"learner_id_shape|too long"), transaction.atomic():
        Learner.objects.create(external_id=external_id, created_at=NOW)


def test_learner_ids_keep_their_case() -> None:
    assert make_learner("Ada").pk != make_learner("ada").pk
    with pytest.raises(IntegrityError), transaction.atomic():
        make_learner("ada")


@pytest.mark.parametrize(
    ("constraint", "given"),
    [
        ("session_state_known", {"state": "paused", "ended_at": NOW}),
        ("session_ended_has_time", {"state": "ended"}),
        ("session_ended_has_time", {"ended_at": NOW}),
        ("session_consolidated_has_time", {"state": "consolidated", "ended_at": NOW}),
        ("session_consolidated_has_time", {"state": "ended", "ended_at": NOW, "consolidated_at": NOW}),
    ],
)
def test_session_is_refused(constraint: str, given: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        make_session(**given)


def test_sessions_are_taken() -> None:
    make_session()
    make_session(state="ended", ended_at=NOW)
    make_session(state="consolidated", ended_at=NOW, consolidated_at=NOW)


@pytest.mark.parametrize(
    ("constraint", "given"),
    [
        ("turn_numbers_from_one|number_check", {"number": 0}),
        ("turn_outcome_known", {"outcome": "maybe"}),
        ("turn_strength_bounds", {"strength": Decimal(0)}),
        ("turn_strength_bounds", {"strength": Decimal("1.1")}),
    ],
)
def test_turn_is_refused(constraint: str, given: dict[str, Any]) -> None:
    session = make_session()
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        make_turn(session, **given)


def test_a_number_is_one_turn() -> None:
    session = make_session()
    make_turn(session)
    make_turn(session, number=2, outcome="success", strength=Decimal("0.000001"))
    with pytest.raises(IntegrityError, match="turn_once_a_number"), transaction.atomic():
        make_turn(session)


def test_a_retrieval_serves_one_turn() -> None:
    session = make_session()
    asked = {"request": {}, "response": {}, "space": "hash/hash-128", "dials_version": 0, "created_at": NOW}
    retrieval = Retrieval.objects.create(**asked)
    make_turn(session, retrieval=retrieval)
    with pytest.raises(IntegrityError), transaction.atomic():
        make_turn(session, number=2, retrieval=retrieval)
