"""Turning dials: bounds, orders, audit, and how fast a change is seen (dials.md)."""

from decimal import Decimal

import pytest
from django.core.cache import cache

from apps.audit.models import AuditEvent
from apps.core.errors import Invalid
from apps.dials import queries
from apps.dials.actions import change_dials
from apps.dials.models import Dial
from apps.dials.queries import dials_version, get_dials
from apps.rules.dials import Change
from tests.factories import ACTOR, NOW

SPACE = "hash/hash-128"


def turn(*changes: Change, reason: str = "a try") -> None:
    change_dials(changes=changes, reason=reason, actor=ACTOR, now=NOW)


@pytest.mark.django_db
class TestRefused:
    @pytest.mark.parametrize("value", [2, -0.1, float("nan"), True, "0.5", None])
    def test_value(self, value: object) -> None:
        with pytest.raises(Invalid, match="retrieval_min_confidence"):
            turn(Change("retrieval_min_confidence", value))
        assert not Dial.objects.exists()

    def test_order(self) -> None:
        with pytest.raises(Invalid, match="retrieval_floor_pattern"):
            turn(Change("retrieval_floor_pattern", 0.8))
        turn(Change("retrieval_floor_pattern", 0.8), Change("retrieval_floor_candidate", 0.9))

    def test_no_reason(self) -> None:
        with pytest.raises(Invalid, match="why"):
            turn(Change("retrieval_top_k", 6), reason=" ")

    def test_all_or_none(self) -> None:
        with pytest.raises(Invalid):
            turn(Change("retrieval_top_k", 6), Change("no_such_dial", 1))
        assert not Dial.objects.exists()


@pytest.mark.django_db(transaction=True)
class TestTaken:
    def test_change_is_seen_at_once_and_audited(self) -> None:
        assert get_dials(SPACE).retrieval_top_k == 5
        turn(Change("retrieval_top_k", 7))
        assert get_dials(SPACE).retrieval_top_k == 7
        event = AuditEvent.objects.get(target_kind="dial")
        assert (event.verb, event.image.reason, (event.image.after or {})["value"]) == (
            "dial.change",
            "a try",
            7,
        )

    def test_another_process_sees_it_through_the_shared_cache(self) -> None:
        get_dials(SPACE)
        elsewhere = queries._Memory.snapshot
        turn(Change("retrieval_min_confidence", 0.5))
        queries._Memory.snapshot = elsewhere
        assert get_dials(SPACE).retrieval_min_confidence == Decimal("0.5")

    def test_version_rises_with_every_change(self) -> None:
        versions = [dials_version()]
        for value in (6, 7):
            turn(Change("retrieval_top_k", value))
            versions.append(dials_version())
        assert versions == sorted(set(versions))

    def test_by_space_acts_in_its_space_alone(self) -> None:
        before = get_dials("local/all-MiniLM-L6-v2").band_strong
        turn(Change("band_strong", 0.99, SPACE))
        assert get_dials(SPACE).band_strong == 0.99
        assert get_dials("local/all-MiniLM-L6-v2").band_strong == before

    def test_a_flushed_cache_loses_nothing(self) -> None:
        turn(Change("retrieval_top_k", 8))
        cache.clear()
        assert get_dials(SPACE).retrieval_top_k == 8

    def test_a_stored_value_out_of_bounds_leaves_the_default(self) -> None:
        turn(Change("retrieval_top_k", 8))
        Dial.objects.update(value=1000)
        queries._Memory.snapshot = None
        assert get_dials(SPACE).retrieval_top_k == 5
