"""Every page of the admin, whatever stands in the database: it answers, at a fixed number of queries."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.core.admin.base import ReadOnlyAdmin
from tests import real_data
from tests.world import make_many, make_user, make_world

pytestmark = pytest.mark.django_db

MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)
OURS = [model for model in MODELS if model.__module__.startswith("apps.")]


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(make_user("root", is_superuser=True))
    return client


def address(model: type[Model], page: str, *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def pages() -> Iterator[str]:
    """The first page, every list, and the page of one row of each kind that has one."""
    yield reverse("admin:index")
    for model in MODELS:
        yield address(model, "changelist")
        row = model._default_manager.first()
        if row is not None:
            yield address(model, "change", row.pk)


def test_every_model_is_listed() -> None:
    ours = {model for model in apps.get_models() if model.__module__.startswith("apps.")}
    assert ours - set(OURS) == set()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_a_list_answers_where_there_is_nothing(root: Client, model: type[Model]) -> None:
    assert root.get(address(model, "changelist")).status_code == 200


def test_a_row_that_is_not_there_is_said_to_be_missing(root: Client) -> None:
    for model in OURS:
        for pk in ("0", "x", "00000000-0000-7000-8000-000000000000", "9" * 40):
            response = root.get(address(model, "change", pk))
            assert (response.status_code, response.headers["Location"]) == (302, reverse("admin:index"))


def test_every_search_answers(root: Client) -> None:
    make_world()
    searched = [model for model in OURS if admin.site._registry[model].search_fields]
    for model in searched:
        for term in ("plain", "100%_\\'\"", "00000000-0000-7000-8000-000000000000", "a:b.c"):
            assert root.get(address(model, "changelist"), {"q": term}).status_code == 200, (model, term)
    assert len(searched) > 10


def filters_of(client: Client, model: type[Model]) -> Iterator[tuple[str, str]]:
    """Every choice of every filter that a list offers."""
    response = client.get(address(model, "changelist"))
    changelist = response.context.get("cl")
    for spec in changelist.filter_specs if changelist else ():
        for choice in spec.choices(changelist):
            field = choice["form"].fields if "form" in choice else {}
            for name, asked in field.items():
                yield from ((name, str(value)) for value, _ in getattr(asked, "choices", []) if value != "")


def test_every_choice_of_every_filter_answers(root: Client) -> None:
    make_world()
    asked = [(model, *choice) for model in MODELS for choice in filters_of(root, model)]
    for model, name, value in asked:
        response = root.get(address(model, "changelist"), {name: value})
        assert (model, name, value, response.status_code) == (model, name, value, 200)
    assert len(asked) > 30


def counted(client: Client) -> dict[str, int]:
    found = {}
    for page in [reverse("admin:index"), *(address(model, "changelist") for model in MODELS)]:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(page).status_code == 200
        found[page] = len(queries)
    return found


def test_ten_thousand_rows_cost_as_many_queries_as_ten(root: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReadOnlyAdmin, "list_per_page", 20)  # more than ten, and quickly rendered
    make_world()
    make_many(9)
    root.get(reverse("admin:index"))  # the dials are read once a process
    few = counted(root)
    make_many(9_991)
    assert counted(root) == few
    assert max(few.values()) < 25


@pytest.mark.parametrize(
    "query",
    [
        "instruction__regex=(a%2B)%2B%24",
        "title__startswith=x",
        "topic__entries__title=x",
        "maturity__exact=%00",
    ],
)
def test_a_list_takes_no_lookup_that_it_does_not_offer(root: Client, query: str) -> None:
    assert root.get(f"{reverse('admin:entries_entry_changelist')}?{query}").status_code == 400


class TestNothingIsRenderedUnescaped:
    """Whatever a text holds, a page shows it and never runs it."""

    MARKS = (
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "'-alert(1)-'",
        "{{ 7*7 }}{% now %}",
    )

    def test_marks(self, root: Client) -> None:
        make_world("".join(self.MARKS))
        seen = list(pages())
        for page in seen:
            response = root.get(page)
            assert response.status_code == 200, page
            body = response.content.decode()
            for mark in self.MARKS[:2]:
                assert mark not in body, page
        assert len(seen) > 2 * len(OURS)

    def test_strings_that_break_software(self, root: Client) -> None:
        strings = [one.replace("\x00", "") for one in real_data.load("blns/blns.json")]
        make_world("\n".join(one for one in strings if one))
        tags = [one for one in strings if "<" in one and ">" in one and len(one) > 8]
        for page in pages():
            response = root.get(page)
            assert response.status_code == 200
            body = response.content.decode()
            assert [tag for tag in tags if tag in body] == []
