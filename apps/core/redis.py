"""The shared Redis itself, for what Django's cache cannot say: scripts and hashes."""

from functools import cache

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

PATIENCE_SECONDS = 0.25


@cache
def shared() -> "redis.Redis":
    """This process's client. Whoever uses it can do without: its absence costs a feature, never a request."""
    return connect(str(settings.CACHES["default"]["LOCATION"]))


def connect(url: str) -> "redis.Redis":
    """A client that fails within ``PATIENCE_SECONDS``.

    It never tries again by itself: the library's own default waits eleven seconds for a server that is down.
    """
    return redis.Redis.from_url(
        url,
        socket_timeout=PATIENCE_SECONDS,
        socket_connect_timeout=PATIENCE_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
