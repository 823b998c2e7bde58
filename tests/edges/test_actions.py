"""Making and observing edges (rules.md 10)."""

import threading
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest

from apps.core.errors import Conflict, Invalid, Stale
from apps.core.invariants import findings
from apps.dials.queries import get_dials
from apps.edges import actions
from apps.edges.actions import EdgeDraft, change_edge, create_edge, delete_edge, observe_edge
from apps.edges.models import Edge, EdgeObservation
from apps.entries.actions import archive_entry, restore_entry
from apps.entries.models import Entry
from apps.rules.dials import DialValues
from tests.factories import ACTOR, NOW, make_entry, make_learner
from tests.threads import in_threads


@pytest.fixture
def dials(db: None) -> DialValues:
    return get_dials("hash/hash-128")


def made(dials: DialValues, source: Entry, target: Entry, kind: str = "prerequisite", **given: Any) -> Edge:
    draft = EdgeDraft(source, target, kind, **given)
    return create_edge(draft=draft, dials=dials, actor=ACTOR, now=NOW)[0]


class TestCreate:
    @pytest.mark.parametrize(
        ("provenance", "confidence"), [("seed", "0.8"), ("enriched", "0.4"), ("learned", "0.3")]
    )
    def test_initial_confidence_is_by_provenance(
        self, dials: DialValues, provenance: str, confidence: str
    ) -> None:
        edge = made(dials, make_entry(), make_entry(), provenance=provenance)
        assert edge.confidence == Decimal(confidence)
        assert list(edge.ledger.values_list("kind", "after")) == [("initial", Decimal(confidence))]

    def test_again_is_the_same_edge(self, dials: DialValues) -> None:
        draft = EdgeDraft(make_entry(), make_entry(), "fallback", condition="stuck")
        first, created = create_edge(draft=draft, dials=dials, actor=ACTOR, now=NOW)
        again, created_again = create_edge(draft=draft, dials=dials, actor=ACTOR, now=NOW)
        assert (first.pk, created, created_again) == (again.pk, True, False)

    def test_again_with_another_content_says_the_id(self, dials: DialValues) -> None:
        source, target = make_entry(), make_entry()
        edge = made(dials, source, target)
        with pytest.raises(Conflict) as refusal:
            made(dials, source, target, rationale="because")
        assert (refusal.value.code, refusal.value.extra["id"]) == ("exists", edge.pk)

    def test_ends_must_be_rows(self, dials: DialValues) -> None:
        for gone in (make_entry(maturity="archived"), make_entry(superseded_at=NOW)):
            with pytest.raises(Invalid, match="archived or superseded") as refusal:
                made(dials, make_entry(), gone)
            assert (refusal.value.code, refusal.value.pointer) == ("target_not_current", "/target")

    def test_no_edge_to_itself_or_between_learners(self, dials: DialValues) -> None:
        entry = make_entry()
        with pytest.raises(Invalid, match="two different"):
            made(dials, entry, entry)
        ada, bob = (make_entry(visibility_scope=f"student:{make_learner().external_id}") for _ in range(2))
        with pytest.raises(Invalid, match="one learner"):
            made(dials, ada, bob)


class TestCycle:
    def test_is_refused_with_its_path(self, dials: DialValues) -> None:
        a, b, c = (make_entry(title=title) for title in "ABC")
        made(dials, a, b)
        made(dials, b, c)
        with pytest.raises(Invalid) as refusal:
            made(dials, c, a)
        assert refusal.value.code == "cycle"
        assert refusal.value.extra["path"] == [str(node.pk) for node in (c, a, b, c)]
        assert "'C' needs 'A' needs 'B' needs 'C'" in refusal.value.detail
        assert not Edge.objects.filter(source=c).exists()

    def test_of_other_types_is_allowed(self, dials: DialValues) -> None:
        a, b = make_entry(), make_entry()
        for kind in ("leads_to", "fallback", "related"):
            made(dials, a, b, kind)
            made(dials, b, a, kind)

    def test_over_a_weak_edge_or_an_archived_end_is_none(self, dials: DialValues) -> None:
        a, b, c = make_entry(), make_entry(), make_entry()
        weak = EdgeDraft(a, b, "prerequisite", confidence=Decimal("0.299999"))
        create_edge(draft=weak, dials=dials, actor=ACTOR, now=NOW)
        made(dials, b, a)
        made(dials, a, c)
        Entry.objects.filter(pk=c.pk).update(maturity="archived", archived_at=NOW)
        Entry.objects.filter(pk=c.pk).update(maturity="candidate", archived_at=None)

    def test_is_refused_when_confidence_would_lift_an_edge_into_it(self, dials: DialValues) -> None:
        a, b = make_entry(), make_entry()
        weak = EdgeDraft(a, b, "prerequisite", confidence=Decimal("0.2"))
        edge, _ = create_edge(draft=weak, dials=dials, actor=ACTOR, now=NOW)
        made(dials, b, a)
        with pytest.raises(Invalid, match="cycle"):
            change_edge(edge=edge, changes={"confidence": Decimal("0.3")}, dials=dials, actor=ACTOR, now=NOW)
        edge.refresh_from_db()
        assert edge.confidence == Decimal("0.2")
        assert list(findings()) == []


class TestObserve:
    def seen(
        self,
        dials: DialValues,
        source: Entry,
        target: Entry,
        kind: str = "leads_to",
        session: UUID | None = None,
    ) -> Edge:
        return observe_edge(
            source=source,
            target=target,
            edge_type=kind,
            session=session or uuid4(),
            dials=dials,
            actor=ACTOR,
            now=NOW,
        )

    def test_three_sessions_corroborate(self, dials: DialValues) -> None:
        a, b = make_entry(), make_entry()
        edges = [self.seen(dials, a, b) for _ in range(4)]
        expected = [(1, "0.3"), (2, "0.3"), (3, "0.6"), (4, "0.6")]
        assert [(e.hit_count, e.confidence) for e in edges] == [(n, Decimal(c)) for n, c in expected]
        assert list(findings()) == []

    def test_a_session_counts_once(self, dials: DialValues) -> None:
        a, b, session = make_entry(), make_entry(), uuid4()
        for _ in range(5):
            edge = self.seen(dials, a, b, session=session)
        assert (edge.hit_count, edge.confidence) == (1, Decimal("0.3"))

    def test_provenance_and_greater_confidence_stay(self, dials: DialValues) -> None:
        a, b = make_entry(), make_entry()
        made(dials, a, b, "leads_to")
        edge = self.seen(dials, a, b)
        assert (edge.source_type, edge.confidence, edge.hit_count) == ("seed", Decimal("0.8"), 1)

    def test_never_closes_a_cycle(self, dials: DialValues) -> None:
        a, b = make_entry(), make_entry()
        made(dials, a, b)
        edges = [self.seen(dials, b, a, "prerequisite") for _ in range(3)]
        assert {edge.confidence for edge in edges} == {Decimal("0.299999")}
        assert list(findings()) == []


def test_delete_takes_what_hangs_on_it(dials: DialValues) -> None:
    a, b = make_entry(), make_entry()
    edge = observe_edge(
        source=a, target=b, edge_type="related", session=uuid4(), dials=dials, actor=ACTOR, now=NOW
    )
    for _ in range(2):
        delete_edge(edge=edge, actor=ACTOR, now=NOW)
    assert (Edge.objects.count(), EdgeObservation.objects.count()) == (0, 0)


def test_what_was_decided_on_an_older_version_is_refused(dials: DialValues) -> None:
    edge = made(dials, make_entry(), make_entry())
    given: dict[str, Any] = {"edge": edge, "expected_version": 1, "actor": ACTOR, "now": NOW}
    change_edge(changes={"rationale": "First"}, dials=dials, **given)
    with pytest.raises(Stale):
        change_edge(changes={"rationale": "Second"}, dials=dials, **given)
    with pytest.raises(Stale):
        delete_edge(**given)
    edge.refresh_from_db()
    assert (edge.rationale, edge.version) == ("First", 2)


@pytest.mark.django_db(transaction=True)
class TestTogether:
    def test_opposite_prerequisites_never_both_stand(self) -> None:
        dials = get_dials("hash/hash-128")
        a, b = make_entry(), make_entry()
        ends = iter([(a, b), (b, a)])
        results = in_threads(2, lambda: made(dials, *next(ends)))
        assert sorted(type(result).__name__ for result in results) == ["Edge", "Invalid"]
        assert Edge.objects.count() == 1

    def test_control_without_the_lock_both_stand(self, monkeypatch: pytest.MonkeyPatch) -> None:
        both_have_checked = threading.Barrier(2)
        monkeypatch.setattr(actions, "hold", lambda lock: None)
        checked = actions.refuse_cycle

        def check_and_wait(edge: Edge, *, dials: DialValues) -> None:
            checked(edge, dials=dials)
            both_have_checked.wait(timeout=10)

        monkeypatch.setattr(actions, "refuse_cycle", check_and_wait)
        dials = get_dials("hash/hash-128")
        a, b = make_entry(), make_entry()
        ends = iter([(a, b), (b, a)])
        in_threads(2, lambda: made(dials, *next(ends)))
        assert Edge.objects.count() == 2

    def test_observations_of_many_sessions_all_count(self) -> None:
        dials = get_dials("hash/hash-128")
        a, b = make_entry(), make_entry()
        in_threads(
            12,
            lambda: observe_edge(
                source=a, target=b, edge_type="leads_to", session=uuid4(), dials=dials, actor=ACTOR, now=NOW
            ),
        )
        edge = Edge.objects.get()
        assert (edge.hit_count, edge.confidence) == (12, Decimal("0.6"))
        assert list(findings()) == []


class TestReturn:
    def test_of_an_entry_into_a_cycle_is_refused_and_undone(self, dials: DialValues) -> None:
        x, y, z = make_entry(), make_entry(), make_entry()
        made(dials, x, y)
        made(dials, y, z)
        archive_entry(entry=y, actor=ACTOR, now=NOW)
        made(dials, z, x)
        with pytest.raises(Invalid) as refusal:
            restore_entry(entry=y, dials=dials, actor=ACTOR, now=NOW)
        assert (refusal.value.code, len(refusal.value.extra["path"])) == ("cycle", 4)
        y.refresh_from_db()
        assert y.maturity == "archived"

    def test_of_an_entry_without_a_cycle_is_taken(self, dials: DialValues) -> None:
        x, y = make_entry(), make_entry()
        made(dials, x, y)
        archive_entry(entry=y, actor=ACTOR, now=NOW)
        assert restore_entry(entry=y, dials=dials, actor=ACTOR, now=NOW).maturity == "candidate"
