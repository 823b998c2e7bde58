"""What retrieval leaves to be done later; the schedule is in the settings."""

import logging

from celery import shared_task
from django.utils import timezone

from apps.embeddings.errors import EmbeddingError
from apps.retrieval import actions, probes

logger = logging.getLogger(__name__)


@shared_task(name="retrieval.tally")
def tally() -> int:
    """Derive counts and last uses of entries and edges from the log."""
    return actions.tally(now=timezone.now())


@shared_task(name="retrieval.probe_recall")
def probe_recall() -> float | None:
    """Hold the approximate pass over tutor moves against a scan; None where no question could be embedded."""
    try:
        return probes.probe_tutor_recall().share
    except EmbeddingError as error:
        logger.warning("the recall of tutor moves was not probed: %s", error)
        return None
