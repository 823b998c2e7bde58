"""What is derived from the log, and the probe of what is searched by approximation."""

import datetime as dt
import logging
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

from apps.audit.models import AuditEvent
from apps.embeddings.models import EmbeddingSpace
from apps.retrieval import actions, queries, tasks
from apps.rules.ranking import Candidate
from apps.tutoring.models import Retrieval
from tests.api import Caller
from tests.factories import NOW, make_edge, make_entry, make_topic
from tests.retrieval.world import make_fact, said

pytestmark = pytest.mark.django_db


def log(**given: Any) -> Retrieval:
    at = given.pop("at", NOW)
    fields = {"request": {}, "response": {}, "space": "hash/hash-128", "dials_version": 0, "created_at": at}
    return Retrieval.objects.create(**{**fields, **given})


def at(minute: int) -> dt.datetime:
    return NOW + dt.timedelta(minutes=minute)


class TestTally:
    def test_counts_each_retrieval_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(actions, "_TALLY_ROWS", 2)
        often, once, never = make_entry(), make_entry(), make_entry()
        edge, other = make_edge(), make_edge()
        log(
            matched_entries=[often.pk, once.pk],
            rendered_edges=[edge.pk],
            walked_edges=[edge.pk, other.pk],
            at=at(2),
        )
        log(matched_entries=[often.pk], walked_edges=[other.pk], at=at(1))
        log(matched_entries=[often.pk], at=at(3))
        before = AuditEvent.objects.count()

        assert actions.tally(now=at(5)) == 3
        assert actions.tally(now=at(6)) == 0

        for row in (often, once, never, edge, other):
            row.refresh_from_db()
        assert (often.match_count, often.last_matched_at) == (3, at(3))
        assert (once.match_count, once.last_matched_at) == (1, at(2))
        assert (never.match_count, never.last_matched_at) == (0, None)
        assert (edge.rendered_count, edge.last_rendered_at) == (1, at(2))
        assert (edge.walked_count, edge.last_walked_at) == (1, at(2))
        assert (other.rendered_count, other.last_rendered_at) == (0, None)
        assert (other.walked_count, other.last_walked_at) == (2, at(2))
        assert set(Retrieval.objects.values_list("tallied_at", flat=True)) == {at(5)}
        assert AuditEvent.objects.count() == before  # counters are not audited
        assert (often.version, edge.version) == (1, 1)  # and no reason for a new ETag

    def test_an_older_log_row_takes_no_time_back(self) -> None:
        entry = make_entry(last_matched_at=at(9), match_count=4)
        log(matched_entries=[entry.pk], at=at(1))
        actions.tally(now=at(10))
        entry.refresh_from_db()
        assert (entry.match_count, entry.last_matched_at) == (5, at(9))

    def test_what_is_gone_is_no_error(self) -> None:
        log(matched_entries=[log().pk], rendered_edges=[10**12], walked_edges=[10**12])
        assert actions.tally(now=NOW) == 2

    def test_comes_from_what_was_answered(self, space: EmbeddingSpace, call: Caller) -> None:
        start = make_fact(space)
        edge = make_edge(source=start, edge_type="fallback")
        body = {"message": "?", "topic": start.topic.slug}  # type: ignore[union-attr]  # it has one
        said(call.post("/api/v1/retrieve", body))
        tasks.tally()
        start.refresh_from_db()
        edge.refresh_from_db()
        assert (start.match_count, edge.rendered_count, edge.walked_count) == (1, 1, 1)

    def test_runs_often_enough(self) -> None:
        assert settings.CELERY_BEAT_SCHEDULE["tally"]["schedule"] <= 300


class TestProbe:
    @pytest.fixture
    def asked(self, space: EmbeddingSpace, call: Caller) -> None:
        for _ in range(4):
            make_fact(space, visibility_scope="tutor")
        topic = make_topic()
        for message in ("why?", "how?", "why?"):
            said(call.post("/api/v1/retrieve", {"message": message, "topic": topic.slug}))

    def test_is_silent_where_all_is_found(self, asked: None, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.WARNING):
            assert tasks.probe_recall() == 1.0
        assert not caplog.records

    def test_warns_where_too_much_is_missed(
        self, asked: None, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        match = queries.match

        def forgetful(**given: Any) -> list[Candidate]:
            found = match(**given)
            return found if given["ask"]["exact_scan_max_rows"] > 10**8 else found[:2]

        monkeypatch.setattr(queries, "match", forgetful)
        with caplog.at_level(logging.WARNING):
            assert tasks.probe_recall() == pytest.approx(2 / 3)
        (record,) = caplog.records
        assert "0.6667 of what a scan finds, over 2 questions" in record.message

    def test_needs_a_space_and_questions(self) -> None:
        assert tasks.probe_recall() == 1.0


def test_the_tally_reads_only_what_was_not_counted() -> None:
    """Its index holds the retrievals that wait, and no others."""
    log(tallied_at=NOW)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(
            "EXPLAIN SELECT id FROM tutoring_retrieval WHERE tallied_at IS NULL ORDER BY id LIMIT 5"
        )
        assert "retrieval_untallied" in "".join(line for (line,) in cursor.fetchall())
