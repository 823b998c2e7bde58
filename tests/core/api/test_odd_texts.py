"""Strings that break software, through every text field: each comes back as it was sent, or is refused."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from apps.core.api import fields
from tests.api import Caller
from tests.factories import make_concept, make_edge, make_entry, make_topic
from tests.real_data import load

pytestmark = pytest.mark.django_db

_NORMALLY_EVERY = 40


def _fields() -> dict[str, dict[str, int | None]]:
    """Addresses, with their text fields and how many characters each holds."""
    entry, edge = make_entry(), make_edge()
    return {
        f"/api/v1/topics/{make_topic().slug}": {"title": 300, "description": None},
        f"/api/v1/concepts/{make_concept().slug}": {"title": 300, "definition": None},
        f"/api/v1/entries/{entry.pk}": {"title": 300, "instruction": None, "detail": None},
        f"/api/v1/edges/{edge.pk}": {"condition": None, "rationale": None},
    }


_MAY_BE_BLANK = {"description", "definition", "detail", "condition", "rationale"}


def _is_taken(name: str, text: str, most: int | None) -> bool:
    if name not in _MAY_BE_BLANK and (not text or fields._is_blank(text)):
        return False
    return most is None or len(text) <= most


def _try(call: Caller, path: str, names: dict[str, int | None], text: str) -> None:
    taken = {name for name, most in names.items() if _is_taken(name, text, most)}
    if taken != set(names):
        answer = call.patch(path, dict.fromkeys(names, text))
        assert answer.status_code == 422, (path, text)
        pointed = {error["pointer"][1:] for error in json.loads(answer.content)["errors"]}
        assert pointed == set(names) - taken, (path, text)
    answer = call.patch(path, dict.fromkeys(taken, text))
    assert answer.status_code == 200, (path, text, answer.content)
    assert all(json.loads(call.get(path).content)[name] == text for name in taken), (path, text)


def _try_all(texts: list[str]) -> None:
    call = Caller(rate_per_minute=100_000)
    for path, names in _fields().items():
        for text in texts:
            _try(call, path, names, text)


def test_some_of_them() -> None:
    _try_all(load("blns/blns.json")[::_NORMALLY_EVERY])


@pytest.mark.slow
def test_all_of_them() -> None:
    _try_all(load("blns/blns.json"))


def test_as_names_of_concepts() -> None:
    """An alias without a letter or digit is refused; all others become names, each once."""
    call = Caller(rate_per_minute=100_000)
    make_concept(slug="c")
    aliases: list[str] = []
    for text in load("blns/blns.json")[::_NORMALLY_EVERY]:
        answer: Any = call.patch("/api/v1/concepts/c", {"aliases": [*aliases, text]})
        if answer.status_code == 200:
            aliases = json.loads(answer.content)["aliases"]
        else:
            assert answer.status_code == 422, (text, answer.content)
    assert len(aliases) > 10
    assert json.loads(call.get("/api/v1/concepts/c").content)["aliases"] == aliases


def test_as_addresses_and_filters() -> None:
    """Whatever stands in an address or a filter, the answer is no server error and no page of HTML."""

    call = Caller(rate_per_minute=100_000)
    for text in load("blns/blns.json")[:: _NORMALLY_EVERY // 2]:
        odd = quote(text, safe="")
        for path in (
            f"topics/{odd}",
            f"concepts?name={odd}",
            f"entries?concept={odd}",
            f"dials/{odd}",
            f"x?{odd}",
        ):
            answer = call.get(f"/api/v1/{path}")
            assert answer.status_code < 500, path
            assert "json" in answer["Content-Type"] or answer.status_code == 301, path
