"""Reads of the whole curriculum."""

from collections.abc import Sequence
from typing import IO

from apps.catalog.models import Topic
from apps.core.errors import Missing
from apps.curriculum.bundle.writing import WRITERS, Format
from apps.curriculum.exporting.records import records


def export_curriculum(*, stream: IO[bytes], form: Format, topics: Sequence[str] | None = None) -> None:
    """Write the curriculum, or what belongs to ``topics`` (slugs), to ``stream`` as a bundle.

    It holds stored values, archived rows too; of a topic its public entries, the tutor and visual ones
    with it as provenance, their concepts, and edges with both ends among them (curriculum.md). Once
    imported, it is exported as the same bytes again. ``stream`` is seekable. Raises Missing for a topic
    that does not exist; nothing is written then.
    """
    known = set(Topic.objects.filter(slug__in=topics or ()).values_list("slug", flat=True))
    for slug in topics or ():
        if slug not in known:
            raise Missing("unknown_topic", f"there is no topic {slug!r}", "?topic")
    WRITERS[form](stream, records(topics))
