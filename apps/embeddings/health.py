"""What embeddings tell the probes."""

from django.core.cache import cache

from apps.embeddings.models import EmbeddingSpace, SpaceState
from apps.embeddings.queries import live_spaces, missing_counts

_COUNTED_FOR_SECONDS = 60


def serving_space() -> str | None:
    """An embedding space serves."""
    if EmbeddingSpace.objects.filter(state=SpaceState.SERVING).exists():
        return None
    return "no embedding space serves yet; run manage.py embeddings build, then switch"


def pending() -> float:
    """Texts that lack a current vector, in all spaces that are kept; counted once a minute."""
    counted: int | None = cache.get_or_set("embeddings:pending", _count, _COUNTED_FOR_SECONDS)
    return float(counted or 0)


def _count() -> int:
    return sum(sum(missing_counts(space).values()) for space in live_spaces())
