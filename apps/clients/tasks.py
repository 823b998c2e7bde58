"""What keys leave to be done later; the schedule is in the settings."""

import datetime as dt

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from apps.clients import actions, throttles


@shared_task(name="clients.note_last_uses")
def note_last_uses() -> int:
    """Carry the times at which keys were last used from Redis to the database."""
    uses = {key_id: dt.datetime.fromtimestamp(at, dt.UTC) for key_id, at in throttles.last_uses().items()}
    return actions.note_last_uses(uses=uses)


@shared_task(name="clients.forget_answers")
def forget_answers() -> int:
    """Delete kept answers that nobody retries for any more."""
    kept_for = dt.timedelta(hours=settings.LODE_IDEMPOTENCY_HOURS)
    return actions.forget_answers(before=timezone.now() - kept_for)
