"""What embeddings tell the probes."""

from apps.embeddings.models import EmbeddingSpace, SpaceState


def serving_space() -> str | None:
    """An embedding space serves."""
    if EmbeddingSpace.objects.filter(state=SpaceState.SERVING).exists():
        return None
    return "no embedding space serves yet; run manage.py embeddings build, then switch"
