"""How often a key may call: an allowance of ``rate_per_minute``, refilled evenly."""

import logging
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redis.commands.core import Script
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from apps.core.api.access import Access
from apps.core.redis import shared

if TYPE_CHECKING:
    from rest_framework.views import APIView

logger = logging.getLogger(__name__)

LAST_USES = "lode:{keys}:used"
"""A hash of key ids and the times (epoch seconds) of their last calls; a task carries it to the database."""

_SILENCE_SECONDS = 10


class KeyThrottle(BaseThrottle):
    """Counts every call of a key, in Redis, and notes that the key was used.

    Where Redis does not answer, calls go on uncounted, and the log says so: an allowance protects a
    service that works, and is no reason to stop it.
    """

    def __init__(self) -> None:
        self._wait = 0

    def allow_request(self, request: Request, view: "APIView") -> bool:
        """Whether the key may call now; says in the answer's headers what is left."""
        if not isinstance(request.auth, Access):
            return True
        try:
            allowed, left, self._wait, reset = spend(request.auth)
        except RedisError as error:
            _complain(error)
            return True
        view.headers["RateLimit-Limit"] = str(request.auth.rate_per_minute)
        view.headers["RateLimit-Remaining"] = str(left)
        view.headers["RateLimit-Reset"] = str(reset)
        return bool(allowed)

    def wait(self) -> float:
        """Seconds until the next call would be answered."""
        return self._wait


def spend(access: Access) -> tuple[int, int, int, int]:
    """Spend one call: whether it was allowed, calls left, seconds to wait, seconds until all are back."""
    keys = [f"lode:{{keys}}:bucket:{access.key_id}", LAST_USES]
    allowed, left, wait, reset = _script()(keys=keys, args=[access.rate_per_minute, access.key_id])
    return int(allowed), int(left), int(wait), int(reset)


@cache
def _script() -> Script:
    return shared().register_script((Path(__file__).parent / "lua" / "spend.lua").read_text(encoding="utf-8"))


class _Complaint:
    """When this process last said that Redis is down, on its monotonic clock."""

    at = -float(_SILENCE_SECONDS)


def _complain(error: RedisError) -> None:
    if time.monotonic() - _Complaint.at >= _SILENCE_SECONDS:
        _Complaint.at = time.monotonic()
        logger.warning("keys are not throttled: Redis does not answer (%s)", error)


def last_uses() -> dict[int, float]:
    """Key ids with the epoch seconds of their last calls. Raises RedisError."""
    found: Any = shared().hgetall(LAST_USES)
    return {int(key_id): float(at) for key_id, at in found.items()}
