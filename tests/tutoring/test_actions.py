"""Sessions and turns: order, and an end that happens once (api.md)."""

import datetime as dt

import pytest

from apps.core.errors import Conflict, Invalid
from apps.core.invariants import findings
from apps.tutoring.actions import TurnDraft, end_session, ensure_learner, record_turn, start_session
from apps.tutoring.models import Turn
from tests.factories import ACTOR, NOW, make_learner, make_session, make_topic
from tests.threads import in_threads

pytestmark = pytest.mark.django_db

LATER = NOW + dt.timedelta(hours=1)


def test_a_learner_is_made_once() -> None:
    made = [ensure_learner(external_id="ada", actor=ACTOR, now=NOW).pk for _ in range(2)]
    assert made[0] == made[1]
    with pytest.raises(Invalid, match="no learner id"):
        ensure_learner(external_id="a b", actor=ACTOR, now=NOW)


def test_turns_come_in_order() -> None:
    session = start_session(learner=make_learner(), topic=make_topic(), actor=ACTOR, now=NOW)
    record_turn(session=session, draft=TurnDraft(1, "hi"), actor=ACTOR, now=NOW)
    with pytest.raises(Conflict) as refusal:
        record_turn(session=session, draft=TurnDraft(3, "hi"), actor=ACTOR, now=NOW)
    assert (refusal.value.code, refusal.value.extra) == ("turn_out_of_order", {"expected": 2})
    assert list(findings()) == []


def test_an_end_is_for_good_and_happens_once() -> None:
    session = make_session()
    for when in (NOW, LATER):
        ended = end_session(session=session, actor=ACTOR, now=when)
    assert (ended.state, ended.ended_at) == ("ended", NOW)
    with pytest.raises(Conflict, match="ended"):
        record_turn(session=session, draft=TurnDraft(1, "hi"), actor=ACTOR, now=LATER)


@pytest.mark.django_db(transaction=True)
def test_one_of_many_first_turns_is_the_first() -> None:
    session = make_session()
    results = in_threads(
        8, lambda: record_turn(session=session, draft=TurnDraft(1, "hi"), actor=ACTOR, now=NOW)
    )
    assert sum(isinstance(result, Turn) for result in results) == 1
    assert {type(result) for result in results} == {Turn, Conflict}
