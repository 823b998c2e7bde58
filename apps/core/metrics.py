"""What a machine may know of this one: requests and their times, counted over all its web processes.

Each process counts in files of its own (prometheus_client's multiprocess mode, under
``PROMETHEUS_MULTIPROC_DIR``), so that any of them answers for all. Gauges come from the functions that
``LODE_GAUGES`` names, when they are asked for.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.module_loading import import_string
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
_SECONDS = (0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12)

_requests = Counter("lode_requests", "Requests answered.", ["method", "route", "status"])
_durations = Histogram(
    "lode_request_seconds", "Seconds from a request to its answer.", ["route"], buckets=_SECONDS
)


def observe(request: HttpRequest, response: HttpResponseBase, seconds: float) -> None:
    """Count one answered request, under the route that took it: an address that is none has none."""
    match = request.resolver_match
    route = match.route if match is not None else ""
    method = request.method if request.method in _METHODS else "other"
    _requests.labels(method, route, response.status_code).inc()
    _durations.labels(route).observe(seconds)


def exposition() -> bytes:
    """Everything that is counted, in the text format of Prometheus."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # the library's
    registry.register(_Gauges())
    return generate_latest(registry)


class _Gauges(Collector):
    """The gauges of ``LODE_GAUGES``: a name, and the function of no arguments that gives its value.

    One that cannot be told now is left out: a scrape says what it can.
    """

    def collect(self) -> Iterator[GaugeMetricFamily]:
        for name, place in settings.LODE_GAUGES.items():
            value: Callable[[], float] = import_string(place)
            try:
                yield GaugeMetricFamily(name, (value.__doc__ or name).partition("\n")[0], value=value())
            except (DatabaseError, InterfaceError, RedisError):
                continue


def begin() -> None:
    """Make room to count, and drop the counts of processes that are gone: once, before workers begin."""
    folder = Path(os.environ["PROMETHEUS_MULTIPROC_DIR"])
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for file in folder.glob("*.db"):
        pid = file.stem.rpartition("_")[2]
        if not (pid.isdecimal() and psutil.pid_exists(int(pid))):
            file.unlink(missing_ok=True)
