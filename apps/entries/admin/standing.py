"""Where an entry stands: against its floor, and in search."""

from typing import Any

from django.conf import settings
from django.db.models import Case, DecimalField, Exists, F, OuterRef, QuerySet, Value, When

from apps.core.admin import html
from apps.dials.queries import get_dials
from apps.embeddings.models import EmbeddingSpace, SpaceState
from apps.entries.models import EntryVector, Maturity
from apps.rules import confidence as confidences
from apps.rules.dials import DialValues
from apps.rules.slugs import UNANCHORED


def dials() -> DialValues:
    """The dials in force; authoring reads none that differs by space."""
    return get_dials(settings.LODE_EMBEDDING_PROVIDER)


def with_floor(entries: QuerySet[Any]) -> QuerySet[Any]:
    """``entries`` with ``floor``: the confidence below which each is never retrieved (null: at any)."""
    values = dials()
    floors = {word: confidences.floor(word, values) for word in Maturity.values}
    whens = [When(maturity=word, then=Value(floor)) for word, floor in floors.items() if floor is not None]
    floor_of = Case(*whens, output_field=DecimalField(max_digits=7, decimal_places=6))
    found: QuerySet[Any] = entries.annotate(floor=floor_of)
    return found


def with_vector(entries: QuerySet[Any]) -> QuerySet[Any]:
    """``entries`` with ``has_vector``: whether each has a current vector in the serving space."""
    current = EntryVector.objects.filter(
        entry=OuterRef("pk"), space__state=SpaceState.SERVING, text_hash=OuterRef("text_hash")
    )
    found: QuerySet[Any] = entries.annotate(has_vector=Exists(current))
    return found


def rows(entries: QuerySet[Any]) -> QuerySet[Any]:
    """Those that are neither archived nor superseded."""
    return entries.filter(archived_at__isnull=True, superseded_at__isnull=True)


def below_floor(entries: QuerySet[Any]) -> QuerySet[Any]:
    """Rows, read by ``with_floor``, that are never retrieved because they stand below their floor."""
    return rows(entries).filter(confidence__lt=F("floor"))


def waiting(entries: QuerySet[Any]) -> QuerySet[Any]:
    """Rows, read by ``with_vector``, whose vector is not there yet, or is that of an older text."""
    return rows(entries).filter(has_vector=False)


def unanchored(entries: QuerySet[Any]) -> QuerySet[Any]:
    """Rows of no concept."""
    return rows(entries).filter(concept_slug=UNANCHORED)


def in_search(entry: Any) -> str:
    """Where an entry, read by ``with_vector``, stands in search, in one word."""
    if entry.archived_at is not None:
        return "archived"
    if entry.superseded_at is not None:
        return "superseded"
    return "found" if entry.has_vector else "waiting"


def in_search_words(entry: Any) -> str:
    """The same, as a sentence."""
    match in_search(entry):
        case "archived":
            return f"Archived at {html.moment(entry.archived_at)}: never retrieved."
        case "superseded":
            return f"Superseded at {html.moment(entry.superseded_at)}: never retrieved."
        case "found":
            space = EmbeddingSpace.objects.filter(state=SpaceState.SERVING).first()
            return f"Found by meaning and by name: its vector in {space} is current."
    return "Found by name. It waits for its vector to be found by meaning, too."
