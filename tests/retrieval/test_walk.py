"""Longer walks, visuals and the graphs of topics."""

import itertools
import uuid
from decimal import Decimal
from typing import Any

import pytest

from apps.catalog.models import ConceptName
from apps.entries.models import Entry
from tests.api import Caller, problem
from tests.factories import NOW, make_concept, make_edge, make_entry, make_learner, make_topic
from tests.retrieval.world import said, set_dials

pytestmark = pytest.mark.django_db


def walk(call: Caller, start: Entry, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = said(call.get(f"/api/v1/entries/{start.pk}/walk{query}"))
    return found


def chain(length: int, **given: Any) -> list[Entry]:
    rows = [make_entry() for _ in range(length)]
    for source, target in itertools.pairwise(rows):
        make_edge(source=source, target=target, edge_type="leads_to", **given)
    return rows


def test_a_walk_is_one_hop_unless_more_are_asked_for() -> None:
    call, rows = Caller(), chain(5)
    assert [node["depth"] for node in walk(call, rows[0])["nodes"]] == [0, 1]
    found = walk(call, rows[0], "?depth=3")
    assert [node["entry"] for node in found["nodes"]] == [str(row.pk) for row in rows[:4]]
    assert [(step["depth"], step["source"]) for step in found["edges"]] == [
        (depth, str(row.pk)) for depth, row in enumerate(rows[:3], start=1)
    ]
    assert found["truncated"] is False


def test_a_walk_is_bounded_in_depth() -> None:
    problem(Caller().get(f"/api/v1/entries/{make_entry().pk}/walk?depth=5"), 422, "out_of_range", "?depth")
    problem(Caller().get(f"/api/v1/entries/{make_entry().pk}/walk?depth=0"), 422, "out_of_range", "?depth")


def test_cycles_end() -> None:
    rows = [make_entry() for _ in range(4)]
    for source in rows:
        for target in rows:
            if source != target:
                make_edge(source=source, target=target, edge_type="related")
    set_dials(edge_walk_max_depth=10, edge_walk_per_type=10)
    found = walk(Caller(), rows[0], "?depth=10")
    assert len(found["nodes"]) == 4
    assert len(found["edges"]) == 12
    assert len({step["edge"] for step in found["edges"]}) == 12


def test_a_walk_is_bounded_in_entries_and_says_so() -> None:
    start = make_entry()
    for confidence in range(1, 6):
        make_edge(source=start, target=make_entry(), confidence=Decimal(confidence) / 5)
    set_dials(edge_walk_per_type=10, edge_walk_max_nodes=4)
    found = walk(Caller(), start)
    assert found["truncated"] is True
    assert [step["confidence"] for step in found["edges"]] == [1.0, 0.8, 0.6]
    assert len(found["nodes"]) == 4
    set_dials(edge_walk_max_nodes=6)
    assert walk(Caller(), start)["truncated"] is False


def test_limits_of_each_entry_and_type_hold() -> None:
    start = make_entry()
    for kind in ("prerequisite", "fallback", "leads_to"):
        for _ in range(3):
            make_edge(source=start, target=make_entry(), edge_type=kind)
    set_dials(edge_walk_per_type=2, edge_walk_limit=5)
    kinds = [step["type"] for step in walk(Caller(), start)["edges"]]
    assert kinds == ["prerequisite"] * 2 + ["fallback"] * 2 + ["leads_to"]


def test_parameters_narrow_a_walk() -> None:
    call, start = Caller(), make_entry()
    make_edge(source=start, target=make_entry(), edge_type="related", confidence=Decimal("0.2"))
    make_edge(source=start, target=make_entry(maturity="proven"), edge_type="fallback")
    make_edge(source=start, target=make_entry(), edge_type="prerequisite")

    def kinds(query: str) -> list[str]:
        return [step["type"] for step in walk(call, start, query)["edges"]]

    assert kinds("") == ["prerequisite", "fallback"]
    assert kinds("?min_confidence=0.1") == ["prerequisite", "fallback", "related"]
    assert kinds("?include_candidates=false") == ["fallback"]
    assert kinds("?types=related,fallback") == ["fallback"]
    problem(call.get(f"/api/v1/entries/{start.pk}/walk?types=nowhere"), 422, "invalid_choice", "?types")
    problem(call.get(f"/api/v1/entries/{start.pk}/walk?kind=x"), 400, "unknown_parameter", "?kind")


def test_a_walk_stays_where_the_key_may_see() -> None:
    topic = make_topic()
    make_learner("amy"), make_learner("ben")
    start = make_entry(topic=topic)
    amy = make_entry(visibility_scope="student:amy")
    for target in (make_entry(), amy, make_entry(visibility_scope="tutor")):
        make_edge(source=start, target=target)
    make_edge(source=amy, target=start)
    bound = Caller(topics=[topic.slug], learner_prefix="b")
    assert [node["scope"] for node in walk(bound, start)["nodes"]] == ["public", "tutor"]
    problem(bound.get(f"/api/v1/entries/{amy.pk}/walk"), 404, "not_found")
    assert len(walk(Caller(), amy)["nodes"]) == 2


@pytest.mark.parametrize("given", [{"maturity": "archived"}, {"superseded_at": NOW}])
def test_a_walk_begins_at_a_row(given: dict[str, Any]) -> None:
    problem(Caller().get(f"/api/v1/entries/{make_entry(**given).pk}/walk"), 404, "not_found")
    problem(Caller().get(f"/api/v1/entries/{uuid.uuid4()}/walk"), 404, "not_found")


def test_a_concept_has_one_visual() -> None:
    call, concept = Caller(topics=["elsewhere"]), make_concept(slug="nonce")
    ConceptName.objects.create(concept=concept, slug="iv", name="IV")
    shown = make_entry(visibility_scope="visual", concept_slug="nonce", visual="<svg/>")
    for name in ("nonce", "iv"):
        found = said(call.get(f"/api/v1/visuals/{name}"))
        assert (found["entry"], found["visual"]) == (str(shown.pk), "<svg/>")
    make_concept(slug="bare")
    for name in ("bare", "nowhere"):
        problem(call.get(f"/api/v1/visuals/{name}"), 404, "not_found")


def test_the_graph_of_a_topic_has_its_rows_and_the_edges_between_them() -> None:
    topic = make_topic()
    rows = [make_entry(topic=topic, confidence="0.01") for _ in range(3)]
    inside = make_edge(
        source=rows[0], target=rows[1], edge_type="fallback", source_type="learned", hit_count=2
    )
    make_edge(source=rows[1], target=rows[2], edge_type="related")
    make_edge(source=rows[0], target=make_entry())
    make_entry(topic=topic, maturity="archived"), make_entry(topic=topic, visibility_scope="tutor")
    call = Caller(topics=[topic.slug])

    found = said(call.get(f"/api/v1/topics/{topic.slug}/graph"))
    assert {node["entry"] for node in found["nodes"]} == {str(row.pk) for row in rows}
    assert len(found["edges"]) == 2
    for query in ("?types=fallback,leads_to", "?provenance=learned"):
        (edge,) = said(call.get(f"/api/v1/topics/{topic.slug}/graph{query}"))["edges"]
        assert (edge["edge"], edge["hit_count"], edge["source"]) == (inside.pk, 2, str(rows[0].pk))
    problem(call.get(f"/api/v1/topics/{make_topic().slug}/graph"), 404, "not_found")
    problem(call.get(f"/api/v1/topics/{topic.slug}/graph?types=x"), 422, "invalid_choice", "?types")
