"""Whether it lives, whether it can work, and what it counted."""

import os
import time
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.db import OperationalError
from django.test import Client

from apps.core import health, metrics
from tests.api import Caller
from tests.factories import make_entry, make_space


def test_a_process_lives_whatever_else_does_not() -> None:
    """Without a database (this test may use none), under any host."""
    answer = Client().get("/healthz", headers={"host": "10.0.0.7"})
    assert (answer.status_code, answer.json()) == (200, {"status": "alive"})


@pytest.mark.django_db
class TestReady:
    def test_with_everything_there(self) -> None:
        make_space()
        answer = Client().get("/readyz")
        assert (answer.status_code, answer.json()) == (200, {"status": "ready"})

    def test_without_a_space(self) -> None:
        answer = Client().get("/readyz")
        assert answer.status_code == 503
        assert list(answer.json()["missing"]) == ["space"]

    def test_without_a_broker_it_says_so_at_once(
        self, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from celery import Celery  # noqa: PLC0415

        make_space()
        nowhere = Celery("nowhere", broker="redis+socket:///nonexistent/redis.sock", set_as_current=False)
        monkeypatch.setattr(health, "current_app", nowhere)
        began = time.monotonic()
        answer = Client().get("/readyz")
        assert time.monotonic() - began < 2
        assert (answer.status_code, list(answer.json()["missing"])) == (503, ["broker"])

    def test_with_migrations_to_come(self, monkeypatch: pytest.MonkeyPatch) -> None:
        make_space()
        known = health._known_migrations() | {("core", "9999_to_come")}
        monkeypatch.setattr(health, "_known_migrations", lambda: known)
        answer = Client().get("/readyz")
        assert answer.status_code == 503
        assert "core.9999_to_come" in answer.json()["missing"]["migrations"]

    def test_without_a_database(self, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse() -> None:
            raise OperationalError("connection to db.internal refused")

        monkeypatch.setattr(health, "database", refuse)
        answer = Client().get("/readyz")
        assert answer.status_code == 503
        assert "db.internal" not in answer.content.decode()


@pytest.mark.django_db
class TestMetrics:
    def test_requests_are_counted_by_route_and_status(self) -> None:
        call = Caller()
        before = _count('method="GET",route="api/v1/topics",status="200"')
        call.get("/api/v1/topics")
        call.get("/api/v1/topics")
        assert _count('method="GET",route="api/v1/topics",status="200"') == before + 2

    def test_what_is_no_route_and_no_method_makes_no_series_of_its_own(self) -> None:
        Client().get("/api/v1/no-such-address")
        Client().generic("BREW", "/api/v1/another")
        text = Client().get("/metrics").content.decode()
        assert "no-such-address" not in text
        assert "BREW" not in text
        assert _count('method="other",route="",status="404"') >= 1

    def test_times_have_buckets(self) -> None:
        Caller().get("/api/v1/dials")
        text = Client().get("/metrics").content.decode()
        assert 'lode_request_seconds_bucket{le="0.01",route="api/v1/dials"}' in text

    def test_a_gauge_is_measured_when_it_is_asked_for(self, settings: Any) -> None:
        settings.LODE_GAUGES = {
            "lode_test": "tests.core.test_health.seven",
            "lode_lost": "tests.core.test_health.lost",
        }
        text = Client().get("/metrics").content.decode()
        assert "# HELP lode_test Seven of them.\n# TYPE lode_test gauge\nlode_test 7.0\n" in text
        assert "lode_lost" not in text

    def test_texts_without_a_vector_are_counted(self) -> None:
        cache.delete("embeddings:pending")
        make_space()
        make_entry()  # its text, and the name of its concept
        assert "lode_embeddings_pending 2.0\n" in Client().get("/metrics").content.decode()
        cache.delete("embeddings:pending")

    def test_counts_of_dead_processes_are_dropped(self) -> None:
        folder = Path(os.environ["PROMETHEUS_MULTIPROC_DIR"])
        Client().get("/api/v1/nowhere")  # this process begins to count
        dead, alive = folder / "counter_999999999.db", folder / f"histogram_{os.getpid()}.db"
        dead.write_bytes(b"")
        metrics.begin()
        assert (dead.exists(), alive.exists()) == (False, True)


def seven() -> float:
    """Seven of them.

    And no more.
    """
    return 7


def lost() -> float:
    """Nobody knows."""
    raise OperationalError


def _count(labels: str) -> float:
    for line in Client().get("/metrics").content.decode().splitlines():
        if line.startswith("lode_requests_total{" + labels + "}"):
            return float(line.rpartition(" ")[2])
    return 0
