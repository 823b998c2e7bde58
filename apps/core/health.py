"""Whether this process lives, and whether it can work (api.md, Health).

The probes are answered before anything else looks at the request: they come by address, under names that
are none of ours, and must not depend on what they ask about.
"""

from collections.abc import Callable
from functools import cache

from celery import current_app
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.module_loading import import_string
from kombu.exceptions import OperationalError
from prometheus_client import CONTENT_TYPE_LATEST
from redis.exceptions import RedisError

from apps.core.metrics import exposition

Check = Callable[[], str | None]
"""Gives what is missing, in a sentence; None where nothing is."""

_FAILURES = (DatabaseError, InterfaceError, RedisError, OperationalError, OSError)


class ProbeMiddleware:
    """Answers ``/healthz``, ``/readyz`` and ``/metrics``, and hands on everything else."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        probe = _PROBES.get(request.path_info)
        return self._get_response(request) if probe is None else probe()


def alive() -> HttpResponse:
    """This process takes requests."""
    return JsonResponse({"status": "alive"})


def ready() -> HttpResponse:
    """Everything that the work needs is there (200), or what is missing (503)."""
    checks: dict[str, Check] = {name: import_string(place) for name, place in settings.LODE_CHECKS.items()}
    missing = {name: lack for name, check in checks.items() if (lack := _lack(check)) is not None}
    if missing:
        return JsonResponse({"status": "unready", "missing": missing}, status=503)
    return JsonResponse({"status": "ready"})


def metrics() -> HttpResponse:
    """What was counted, for Prometheus."""
    return HttpResponse(exposition(), content_type=CONTENT_TYPE_LATEST)


def _lack(check: Check) -> str | None:
    try:
        return check()
    except _FAILURES as error:
        return f"it does not answer ({type(error).__name__})"


def database() -> str | None:
    """The database answers."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return None


def broker() -> str | None:
    """The broker answers, at the first try."""
    with current_app.connection_for_write(connect_timeout=1) as opened:
        opened.ensure_connection(max_retries=1, interval_start=0, timeout=2)
    return None


def migrations() -> str | None:
    """The database has every table of this release."""
    missing = sorted(_known_migrations() - set(MigrationRecorder(connection).applied_migrations()))
    if not missing:
        return None
    return f"{len(missing)} migrations are not applied, first {'.'.join(missing[0])}; run manage.py migrate"


@cache
def _known_migrations() -> frozenset[tuple[str, str]]:
    return frozenset(MigrationLoader(None).disk_migrations)


_PROBES = {"/healthz": alive, "/readyz": ready, "/metrics": metrics}
