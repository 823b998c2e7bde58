"""Edges in the admin, drawn by authors."""

from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from apps.audit.models import AuditEvent
from apps.core.invariants import findings
from apps.edges.models import Edge, EdgeObservation
from apps.entries.models import Entry
from tests.factories import NOW, make_edge, make_entry, make_learner
from tests.pages import errors, filled
from tests.world import make_user

pytestmark = pytest.mark.django_db
LIST, NEW = reverse("admin:edges_edge_changelist"), reverse("admin:edges_edge_add")


@pytest.fixture
def author(client: Client) -> Client:
    client.force_login(make_user("anna", "curriculum author"))
    return client


def page(edge: Edge, verb: str = "change") -> str:
    return reverse(f"admin:edges_edge_{verb}", args=[edge.pk])


def drawn(author: Client, source: Entry, target: Entry | str, **typed: Any) -> Any:
    end = target if isinstance(target, str) else target.pk
    given = {"source": source.pk, "target": end, "edge_type": "prerequisite", **typed}
    return author.post(NEW, filled(author, NEW, **given))


class TestCreate:
    def test_an_edge(self, author: Client) -> None:
        source, target = make_entry(), make_entry()
        assert drawn(author, source, target, condition="a\nb", rationale="why").status_code == 302
        edge = Edge.objects.get()
        assert (edge.source, edge.target, edge.edge_type) == (source, target, "prerequisite")
        assert (edge.condition, edge.confidence, edge.source_type) == ("a\nb", Decimal("0.8"), "seed")
        assert AuditEvent.objects.get(verb="edge.create").actor == "user:anna"
        assert list(findings()) == []

    def test_a_cycle_is_refused_with_its_path(self, author: Client) -> None:
        a, b = make_entry(title="Modes"), make_entry(title="Keys")
        drawn(author, a, b)
        response = drawn(author, b, a)
        (said,) = errors(response)["target"]
        assert "would close a cycle" in said
        assert "Keys" in said
        assert "Modes" in said
        assert Edge.objects.count() == 1
        form = response.context["adminform"].form
        assert (form["source"].value(), form["target"].value()) == (str(b.pk), str(a.pk))
        assert f'<option value="{b.pk}" selected>Keys' in response.content.decode()

    def test_what_is_refused_stands_at_its_field(self, author: Client) -> None:
        entry = make_entry()
        make_learner("anna")
        assert "two different entries" in errors(drawn(author, entry, entry))["target"][0]
        for other in (make_entry(maturity="archived"), make_entry(visibility_scope="student:anna")):
            assert "not one of the available" in errors(drawn(author, entry, other))["target"][0]
        assert "not a valid UUID" in errors(drawn(author, entry, "no id"))["target"][0]

    def test_one_that_is_there_leads_to_it(self, author: Client) -> None:
        edge = make_edge(condition="sometimes")
        response = drawn(author, edge.source, edge.target, edge_type="related")
        assert f'href="{page(edge)}"' in response.content.decode()

    def test_a_link_fills_in_where_it_begins(self, author: Client) -> None:
        entry = make_entry(title="Keys")
        assert (
            f'<option value="{entry.pk}" selected>Keys'
            in author.get(NEW, {"source": str(entry.pk)}).content.decode()
        )


class TestChange:
    def test_keeps_ends_and_type(self, author: Client) -> None:
        edge = make_edge()
        sent = filled(author, page(edge), rationale="because", confidence="0.4")
        assert set(sent) == {
            *("condition", "rationale", "confidence"),
            *("initial-condition", "initial-rationale", "initial-confidence"),
        }
        author.post(page(edge), {**sent, "edge_type": "fallback", "source": edge.target_id})
        edge.refresh_from_db()
        assert (edge.rationale, edge.confidence, edge.edge_type) == ("because", Decimal("0.4"), "related")
        assert AuditEvent.objects.get(verb="edge.change").actor == "user:anna"

    def test_a_cycle_is_refused(self, author: Client) -> None:
        a, b = make_entry(), make_entry()
        make_edge(source=a, target=b, edge_type="prerequisite")
        weak = make_edge(source=b, target=a, edge_type="prerequisite", confidence=Decimal("0.2"))
        response = author.post(page(weak), filled(author, page(weak), confidence="0.9"))
        assert "would close a cycle" in errors(response)["__all__"][0]

    def test_a_conflict_loses_nothing(self, author: Client) -> None:
        edge = make_edge(rationale="Old.")
        sent = filled(author, page(edge), rationale="Mine.")
        Edge.objects.filter(pk=edge.pk).update(rationale="His.")
        assert errors(author.post(page(edge), sent))["rationale"] == ["Stored now: His."]


class TestDelete:
    def test_takes_what_hangs_on_it_and_is_audited(self, author: Client) -> None:
        edge = make_edge(hit_count=1)
        EdgeObservation.objects.create(edge=edge, session=uuid4(), observed_at=NOW)
        body = author.get(page(edge, "delete")).content.decode()
        assert "Observations: 1" in body
        author.post(page(edge, "delete"), {"post": "yes"})
        assert not Edge.objects.exists()
        assert AuditEvent.objects.get(verb="edge.delete", target_kind="edge").actor == "user:anna"

    def test_several_at_once(self, author: Client) -> None:
        chosen = {"action": "delete_selected", "_selected_action": [make_edge().pk, make_edge().pk]}
        assert Edge.objects.count() == 2
        assert author.post(LIST, chosen).status_code == 200  # it asks first
        assert Edge.objects.count() == 2
        author.post(LIST, {**chosen, "post": "yes"})
        assert Edge.objects.count() == 0
        assert (
            AuditEvent.objects.filter(verb="edge.delete", actor="user:anna", target_kind="edge").count() == 2
        )


def test_an_edge_of_a_learner_is_read_only(author: Client) -> None:
    learner = make_learner()
    edge = make_edge(target=make_entry(visibility_scope=f"student:{learner}"))
    assert author.get(page(edge)).status_code == 200
    for address in (page(edge), page(edge, "delete")):
        assert author.post(address, {"post": "yes"}).status_code == 403
    chosen = {"action": "delete_selected", "_selected_action": [edge.pk], "post": "yes"}
    assert author.post(LIST, chosen).status_code == 403
    assert Edge.objects.exists()


def test_the_page_names_the_sessions_that_observed_it(author: Client) -> None:
    edge, session = make_edge(hit_count=1), uuid4()
    EdgeObservation.objects.create(edge=edge, session=session, observed_at=NOW)
    response = author.get(page(edge))
    assert str(session) in response.content.decode()
    assert f"{edge.source.title} is related to {edge.target.title}" in response.content.decode()


def test_a_viewer_writes_nothing(client: Client) -> None:
    edge = make_edge()
    client.force_login(make_user("vera", "viewer"))
    for address in (NEW, page(edge), page(edge, "delete")):
        assert client.post(address, {"post": "yes", "rationale": "x"}).status_code == 403
    client.post(LIST, {"action": "delete_selected", "_selected_action": [edge.pk], "post": "yes"})
    edge.refresh_from_db()
    assert edge.rationale == ""
