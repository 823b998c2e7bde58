"""The id of the request at hand: in every answer, every problem and every line of the log."""

import logging
import re
import uuid
from contextvars import ContextVar

current_id: ContextVar[str] = ContextVar("request_id", default="-")

_SANE = re.compile(r"[A-Za-z0-9._-]{1,64}")


def choose_id(offered: str | None) -> str:
    """The id that the caller offered where it is one that a log can hold, else a fresh one."""
    return offered if offered is not None and _SANE.fullmatch(offered) else uuid.uuid4().hex


class RequestIdFilter(logging.Filter):
    """Gives every line of the log the id of the request that it was written in."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = current_id.get()
        return True
