"""Imports beside other writers: nobody breaks anybody's work (curriculum.md; rules.md 2)."""

import threading
import time
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from apps.catalog.actions import change_topic
from apps.core.errors import Invalid
from apps.core.invariants import findings
from apps.curriculum.actions import import_curriculum
from apps.curriculum.importing.reporting import Report
from apps.dials.queries import get_dials
from apps.edges.actions import EdgeDraft, create_edge
from apps.edges.models import Edge
from apps.entries.actions import EntryDraft, change_entry, create_entry
from apps.entries.models import Entry
from tests.curriculum.bundles import WHOLE, bundle, concept, entry, imported, needs
from tests.factories import ACTOR, NOW, make_concept, make_topic
from tests.threads import in_threads

pytestmark = pytest.mark.django_db(transaction=True)

DIALS = "hash/hash-128"


class Paused:
    """An import that waits at one of its steps until it is let go on."""

    def __init__(self, step: str, **sections: Any) -> None:
        self._step, self._sections = step, sections
        self._reached, self._go_on = threading.Event(), threading.Event()
        self.result: Report | BaseException | None = None
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "Paused":
        self._thread.start()
        assert self._reached.wait(20)
        return self

    def __exit__(self, *_: object) -> None:
        self._go_on.set()
        self._thread.join(30)

    def _say(self, step: str) -> None:
        if step == self._step:
            self._reached.set()
            assert self._go_on.wait(20)

    def _run(self) -> None:
        try:
            self.result = imported(bundle(**self._sections), say=self._say)
        except Exception as error:  # noqa: BLE001 - handed to the test as a result
            self.result = error
        finally:
            connection.close()


def later(work: Any) -> tuple[threading.Thread, list[Any]]:
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:  # noqa: BLE001 - handed to the test as a result
            results.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread, results


def author(name: str, **given: Any) -> Any:
    draft = EntryDraft(
        **{"scope": "public", "concept": name, "title": "Mine", "instruction": "Mine.", **given}
    )
    return create_entry(draft=draft, dials=get_dials(DIALS), actor=ACTOR, now=NOW)


@pytest.mark.parametrize("step", ["reading", "matching", "checking", "writing entries"])
def test_an_author_who_creates_what_is_being_imported(step: str) -> None:
    topic = make_topic(slug="t", title="T")
    make_concept(slug="a", title="A")
    with Paused(step, **WHOLE) as running:
        thread, results = later(lambda: author("a", topic=topic))
        time.sleep(0.2)
    thread.join(30)
    assert isinstance(running.result, Report)
    found = Entry.objects.get(concept_slug="a")
    assert found.title in {"About a", "Mine"}
    assert len(results) == 1
    assert list(findings()) == []


@pytest.mark.parametrize("step", ["matching", "checking", "writing topics"])
def test_an_author_who_changes_what_is_being_imported_is_not_lost(step: str) -> None:
    imported(bundle(**WHOLE))
    row = Entry.objects.get(concept_slug="a")
    with Paused(step, entries=[entry("a", title="Imported")]) as running:
        thread, results = later(
            lambda: change_entry(
                entry=row, changes={"detail": "Mine."}, dials=get_dials(DIALS), actor=ACTOR, now=NOW
            )
        )
        time.sleep(0.2)
    thread.join(30)
    assert isinstance(running.result, Report)
    row.refresh_from_db()
    assert (row.title, row.detail) == ("Imported", "Mine."), results
    assert list(findings()) == []


def test_an_author_who_changes_the_topic_of_what_is_being_imported() -> None:
    topic = make_topic(slug="t", title="Before")
    with Paused("checking", **{**WHOLE, "topics": []}) as running:
        changes = {"title": "After"}
        thread, results = later(lambda: change_topic(topic=topic, changes=changes, actor=ACTOR, now=NOW))
        time.sleep(0.2)
    thread.join(30)
    assert isinstance(running.result, Report), running.result
    assert [topic.title for topic in results] == ["After"]
    assert list(findings()) == []


def test_two_halves_of_a_cycle_at_once() -> None:
    imported(bundle(**{**WHOLE, "edges": []}))
    ends = {row.concept_slug: row for row in Entry.objects.all()}
    with Paused("checking", edges=[needs("a", "b")]) as running:
        draft = EdgeDraft(source=ends["b"], target=ends["a"], edge_type="prerequisite")
        thread, results = later(
            lambda: create_edge(draft=draft, dials=get_dials(DIALS), actor=ACTOR, now=NOW)
        )
        time.sleep(0.2)
    thread.join(30)
    assert isinstance(running.result, Report)
    assert Edge.objects.count() == 1
    assert isinstance(results[0], Invalid)
    assert results[0].code == "cycle"
    assert list(findings()) == []


def test_several_imports_of_one_bundle_leave_one_curriculum() -> None:
    results = in_threads(4, lambda: imported(bundle(**WHOLE)))
    reports = [result for result in results if isinstance(result, Report)]
    assert len(reports) == 4, results
    assert sorted(report.created for report in reports) == [0, 0, 0, 8]
    assert list(findings()) == []


def test_two_imports_that_differ_are_one_after_the_other() -> None:
    others = {**WHOLE, "topics": [{"slug": "t", "title": "U"}], "concepts": [concept(slug) for slug in "cba"]}
    bundles = iter([bundle(**WHOLE), bundle(**others)])
    results = in_threads(2, lambda: imported(next(bundles)))
    assert all(isinstance(result, Report) for result in results), results
    assert Entry.objects.count() == 3
    assert list(findings()) == []


def test_a_reader_is_not_kept_waiting() -> None:
    imported(bundle(**WHOLE))
    with Paused("writing entries", entries=[entry("a", title="New")]):
        assert Entry.objects.get(concept_slug="a").title == "About a"
    assert Entry.objects.get(concept_slug="a").title == "New"


def test_an_import_that_fails_at_its_end_leaves_nothing() -> None:
    def fail(step: str) -> None:
        if step == "writing edges":
            raise RuntimeError(step)

    with pytest.raises(RuntimeError):
        import_curriculum(
            sources=[bundle(**WHOLE)], dials=get_dials(DIALS), actor=ACTOR, now=NOW, run=uuid4(), say=fail
        )
    assert not Entry.objects.exists()
    assert imported(bundle(**WHOLE)).created == 8
