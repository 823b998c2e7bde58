"""The shared Redis itself, for what Django's cache cannot say: scripts and hashes."""

from functools import cache

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

PATIENCE_SECONDS = 0.25


@cache
def shared() -> "redis.Redis":
    """This process's client. It fails within ``PATIENCE_SECONDS`` and never tries again by itself.

    Whoever uses it can do without: a Redis that is down may cost a feature, and never a request.
    """
    return redis.Redis.from_url(
        str(settings.CACHES["default"]["LOCATION"]),
        socket_timeout=PATIENCE_SECONDS,
        socket_connect_timeout=PATIENCE_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
