"""Work for later, by name: actions ask for it here, and never import a task.

Celery is only a hint (design.md): whatever a task does is also found by a periodic sweep of the
database. A broker that is down therefore costs time and never a write: the failure is logged, and
the caller goes on.
"""

import logging
from enum import StrEnum
from functools import partial
from typing import Any

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)


class Task(StrEnum):
    """Every task that an action may ask for. A test holds the names against the registered tasks."""

    EMBED_PENDING = "embeddings.embed_pending"


def enqueue_on_commit(task: Task, **given: Any) -> None:
    """Ask for ``task`` once the running transaction has committed (at once where there is none).

    ``given`` are the task's arguments, of what JSON holds: ids, never content.
    """
    transaction.on_commit(partial(_send, task, given))


def _send(task: Task, given: dict[str, Any]) -> None:
    try:
        current_app.send_task(task.value, kwargs=given, retry=False)
    except OperationalError as error:
        logger.warning("%s waits for its next sweep: the broker does not answer (%s)", task.value, error)
