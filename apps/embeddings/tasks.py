"""The worker's share: vectors for what was just written, and every minute for whatever lacks one."""

import logging
import time
from typing import Any

from celery import shared_task
from django.utils import timezone

from apps.core.actors import Actor
from apps.core.queue import Task
from apps.embeddings import actions
from apps.embeddings.errors import EmbeddingError

logger = logging.getLogger(__name__)

# A long backlog is gone on with by the next sweep, well within the time limit of a task.
_SWEEP_SECONDS = 900


@shared_task(name=Task.EMBED_PENDING.value)
def embed_pending(texts: dict[str, list[Any]] | None = None, **_: Any) -> None:
    """Embed these texts (owners by kind), or without any, all that lack a current vector.

    A provider that fails costs time alone: the next sweep finds the same texts.
    """
    now = timezone.now()
    actions.ensure_serving_space(actor=Actor("system", "embeddings"), now=now)
    end = time.monotonic() + _SWEEP_SECONDS
    try:
        if texts:
            actions.embed_written(texts=texts, now=now)
        else:
            actions.sweep(now=now, is_over=lambda: time.monotonic() > end)
    except EmbeddingError as error:
        logger.warning("what lacks a vector waits for the next sweep: %s", error)
