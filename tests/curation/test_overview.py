"""The admin's first page: what Lode holds, in one look."""

import re
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from apps.curation.overview import Number
from apps.entries.models import Entry
from tests.factories import make_concept, make_edge, make_entry
from tests.world import make_user, make_world

pytestmark = pytest.mark.django_db


def test_an_empty_lode_says_what_to_do_first(client: Client) -> None:
    client.force_login(make_user("anna", "viewer"))
    body = client.get(reverse("admin:index")).content.decode()
    assert "Lode holds nothing yet" in body
    assert "manage.py load_demo" in body
    assert "manage.py import_curriculum" in body
    assert "lode-totals" not in body


def test_every_number_is_that_of_the_list_behind_it(client: Client) -> None:
    make_world()
    make_entry(confidence=Decimal("0.1"))
    make_entry(maturity="archived")
    make_entry(maturity="pattern", concept_slug="_unanchored_")
    make_entry(visibility_scope="tutor", superseded_at="2026-03-01T12:00Z")
    make_edge(edge_type="prerequisite", confidence=Decimal("0.2"), source_type="learned")
    make_concept(status="proposed")
    client.force_login(make_user("root", is_superuser=True))
    context = client.get(reverse("admin:index")).context
    numbers: list[Number] = [
        *context["totals"],
        *context["attention"],
        *(number for card in context["cards"] for number in card.numbers),
    ]
    assert {number.words: number.value for number in numbers} == {
        number.words: client.get(number.address).context["cl"].result_count for number in numbers
    }
    assert len(context["attention"]) == 5
    assert sum(card.title.startswith("Entries by") for card in context["cards"]) == 2
    assert all(
        sum(number.value for number in card.numbers) == Entry.objects.count()
        for card in context["cards"]
        if card.title.startswith("Entries by")
    )


def test_it_shows_only_what_one_may_see(client: Client) -> None:
    make_world()
    client.force_login(make_user("nobody"))
    context = client.get(reverse("admin:index")).context
    assert (context["totals"], context["cards"], context["attention"], context["panels"]) == ([], [], [], [])
    assert {
        item["title"]
        for group in context["sidebar_navigation"]
        for item in group["items"]
        if item["has_permission"]
    } == {"Overview"}


def test_the_sidebar_leads_to_pages_that_answer(client: Client) -> None:
    client.force_login(make_user("root", is_superuser=True))
    navigation = client.get(reverse("admin:index")).context["sidebar_navigation"]
    links = [item["link"] for group in navigation for item in group["items"]]
    assert {client.get(link).status_code for link in links} == {200}
    assert [group["title"] for group in navigation] == ["", "Curriculum", "Learners", "Retrieval", "System"]


def test_the_login_page_names_the_product(client: Client) -> None:
    body = client.get(reverse("admin:login")).content.decode()
    assert re.search(r"<title>\s*Log in \| Lode\s*</title>", body)
