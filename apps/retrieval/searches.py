"""Searches and walks: what a client finds outside a turn. They write nothing (api.md, Retrieval)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.conf import settings

from apps.catalog.models import ConceptName, Topic
from apps.core.api.access import Access
from apps.core.errors import Invalid, Missing
from apps.dials.queries import get_dials
from apps.embeddings.models import EmbeddingSpace
from apps.embeddings.query_vectors import embed_query
from apps.entries.models import Entry
from apps.retrieval import answers, queries
from apps.retrieval.queries import Setting, rule_values
from apps.rules.dials import DialValues
from apps.rules.edges import WALK_ORDER
from apps.rules.ranking import Expected, concept_advisories, semantic_advisories
from apps.rules.scopes import PUBLIC, TUTOR, VISUAL
from apps.rules.slugs import UNANCHORED
from apps.tutoring.models import Retrieval

_LARGE_SCOPES = (TUTOR, PUBLIC)


class NoSpaceError(Exception):
    """There is no serving space, so nothing can be found by meaning yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which rows may be found: of these scopes, of a topic where one is named, at a least confidence."""

    scopes: Sequence[str] = (PUBLIC,)
    topic: str | None = None
    min_confidence: Decimal | None = None
    limit: int | None = None

    def visible_scopes(self, access: Access) -> list[str]:
        """Those that the key may see. One that it may not see is searched as one that holds nothing."""
        return [scope for scope in dict.fromkeys(self.scopes) if access.sees_scope(scope)]

    def rows(self, dials: DialValues) -> int:
        """How many rows are wanted."""
        return dials.retrieval_top_k if self.limit is None else self.limit


def match(
    *, text: str | None, vector: Sequence[float] | None, where: Filter, access: Access, setting: Setting
) -> dict[str, Any]:
    """The nearest rows to a text or to a vector of the serving space (rules.md 4, and pass 1 of 5).

    Raises NoSpaceError, an EmbeddingError, Invalid for a vector that is none, Missing for the topic.
    """
    _check_topic(where, access, setting)
    if setting.space is None:
        raise NoSpaceError
    dials = get_dials(setting.space.name)
    query = (
        _unit(vector, setting.space)
        if vector is not None
        else embed_query(text or "", space=setting.space, dials=dials)
    )
    rows = where.rows(dials)
    ask = {**_places(where, access, rows), "k": rows, **_limits(where, dials)}
    found = queries.match(setting=setting, query=query, ask=ask)
    return {"results": answers.matches(semantic_advisories(found, dials, limit=rows))}


def match_concepts(
    *, concepts: Sequence[str], where: Filter, access: Access, setting: Setting
) -> dict[str, Any]:
    """The rows of these concepts (pass 2 of rules.md 5), and in ``ignored`` the names that found none."""
    _check_topic(where, access, setting)
    dials = get_dials(setting.space.name if setting.space else settings.LODE_EMBEDDING_PROVIDER)
    rows = where.rows(dials)
    ask = {
        "k": rows,
        "names": list(dict.fromkeys(concepts)),
        "scopes": where.visible_scopes(access),
        "topics": [where.topic] if where.topic else None,
        "key_topics": list(access.topics) or None,
        **_limits(where, dials),
    }
    unknown, found = queries.match_concepts(ask)
    named = {row.concept for row in found}
    best = concept_advisories(found, Expected(frozenset(named)), dials, limit=rows)
    return {"results": answers.matches(best), "ignored": unknown}


def walk(
    *,
    start: UUID,
    depth: int,
    min_confidence: Decimal | None,
    include_candidates: bool | None,
    types: Sequence[str] | None,
    access: Access,
) -> dict[str, Any]:
    """Where the edges from ``start`` lead, up to ``depth`` hops (rules.md 6).

    Raises Missing for a start that is no row or not the key's to see, and Invalid for too many hops.
    """
    dials = get_dials(settings.LODE_EMBEDDING_PROVIDER)
    if depth > dials.edge_walk_max_depth:
        raise Invalid("out_of_range", f"a walk has 1 to {dials.edge_walk_max_depth} hops", "?depth")
    least = dials.edge_walk_min_confidence if min_confidence is None else min_confidence
    candidates = dials.edge_include_candidate_targets if include_candidates is None else include_candidates
    found = queries.walk(
        {
            "start": str(start),
            "depth": depth,
            "types": [kind for kind in WALK_ORDER if types is None or kind in types],
            "walk_min_confidence": str(least),
            "walk_candidates": candidates,
            "walk_per_type": dials.edge_walk_per_type,
            "walk_limit": dials.edge_walk_limit,
            "max_nodes": dials.edge_walk_max_nodes,
            "key_topics": list(access.topics) or None,
            "learner_prefix": access.learner_prefix,
        }
    )
    if found is None:
        raise Missing("not_found", "there is no such entry, or none that this key may see")
    return answers.walk(start, found)


def visual(*, concept: str) -> dict[str, Any]:
    """The one visual record of a concept, by its slug or an alias. Raises Missing where it has none."""
    names = ConceptName.objects.filter(slug=concept, concept__archived_at__isnull=True)
    rows = Entry.objects.rows().filter(visibility_scope=VISUAL, fact_key__isnull=True)
    found = (
        rows.filter(concept_slug__in=names.values("concept__slug")).exclude(concept_slug=UNANCHORED).first()
    )
    if found is None:
        raise Missing("not_found", "there is no such concept, or it has no visual")
    return answers.visual(found)


def sees_retrieval(access: Access, found: Retrieval) -> bool:
    """Whether a past retrieval is the key's to see: its own, or of a topic and a learner that it sees.

    A question without a learner may hold any learner's words, so a key bound to learners sees only its own.
    An answer holds where its edges led, into any topic that its own caller saw.
    """
    if found.api_key == access.key_id:
        return True
    bound_to_learners = bool(access.learner_prefix)
    if bound_to_learners and not (found.learner and access.sees_learner(found.learner)):
        return False
    if not access.topics:
        return True
    topic = Topic.objects.filter(pk=found.topic_id or 0, slug__in=access.topics)
    return topic.exists() and _sees_targets(access, found)


def _sees_targets(access: Access, found: Retrieval) -> bool:
    targets = {edge["target"] for row in found.response["topic_memory"] for edge in row["edges"]}
    return Entry.objects.visible_to(access).filter(pk__in=targets).count() == len(targets)


def _check_topic(where: Filter, access: Access, setting: Setting) -> None:
    if where.topic is not None and (setting.topic is None or not access.sees_topic(setting.topic)):
        raise Missing("not_found", "there is no such topic, or none that this key may see", "/topic")


def _limits(where: Filter, dials: DialValues) -> dict[str, Any]:
    return {
        "exact_scan_max_rows": dials.exact_scan_max_rows,
        "clip": dials.advisory_clip_chars + 1,
        **rule_values(dials, where.min_confidence),
    }


def _places(where: Filter, access: Access, rows: int) -> dict[str, Any]:
    """Which scopes are searched how: within topics, by a vector index, or by a scan of their own.

    The public rows of a key that is bound to topics are those topics'.
    """
    scopes = where.visible_scopes(access)
    if where.topic is not None:
        return _asked(topics=[where.topic], topic_scopes=scopes)
    if access.topics and PUBLIC in scopes:
        rest = [scope for scope in scopes if scope != PUBLIC]
        return {**_across(rest, rows), "topics": list(access.topics), "topic_scopes": [PUBLIC]}
    return _across(scopes, rows)


def _across(scopes: Sequence[str], rows: int) -> dict[str, Any]:
    large = {f"{scope}_k": rows for scope in _LARGE_SCOPES if scope in scopes}
    return {**_asked(scopes=[scope for scope in scopes if scope not in _LARGE_SCOPES]), **large}


def _asked(
    *, scopes: Sequence[str] = (), topics: Sequence[str] = (), topic_scopes: Sequence[str] = ()
) -> dict[str, Any]:
    nothing = {f"{scope}_k": 0 for scope in _LARGE_SCOPES}
    lists = {"scopes": scopes, "topics": topics, "topic_scopes": topic_scopes}
    return {**nothing, **{name: list(values) for name, values in lists.items()}}


def _unit(vector: Sequence[float], space: EmbeddingSpace) -> list[float]:
    """``vector`` at length 1, whatever its scale: the smallest and the largest are no zero and no infinity."""
    if len(vector) != space.dimensions:
        detail = f"a vector of {space.name} has {space.dimensions} numbers, and this has {len(vector)}"
        raise Invalid("wrong_length", detail, "/vector")
    largest = max(abs(number) for number in vector)
    if largest == 0:
        raise Invalid("zero_vector", "a vector of zeros has no direction: nothing is near it", "/vector")
    scaled = [number / largest for number in vector]
    length = math.hypot(*scaled)
    return [number / length for number in scaled]
