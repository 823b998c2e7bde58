"""Edges: how their confidence begins and grows, and which of them a walk takes (rules.md 6 and 10)."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from apps.rules.confidence import QUANTUM, rounded
from apps.rules.dials import DialValues
from apps.rules.words import EdgeType, Maturity, Provenance

WALK_ORDER = tuple(EdgeType)
"""The types of edges, the first walked first."""


def initial_confidence(provenance: str, dials: DialValues) -> Decimal:
    """The confidence of a new edge, by what made it (rules.md 10)."""
    by_provenance = {
        Provenance.SEED: dials.edge_initial_confidence_seed,
        Provenance.ENRICHED: dials.edge_initial_confidence_enriched,
        Provenance.LEARNED: dials.edge_initial_confidence_learned,
    }
    return rounded(by_provenance[Provenance(provenance)])


def initial_hit_count(provenance: str) -> int:
    """How many sessions have observed a new edge: the one that showed it, where students did (rules.md 10)."""
    return 1 if Provenance(provenance) is Provenance.LEARNED else 0


def observation_step(hit_count: int, dials: DialValues) -> Decimal:
    """The confidence that an observation lifts an edge to: more once enough sessions agree (rules.md 10).

    `hit_count` is the number of distinct sessions that observed the edge, this one included.
    """
    if hit_count >= dials.edge_corroboration_hits:
        return rounded(dials.edge_corroborated_confidence)
    return rounded(dials.edge_initial_confidence_learned)


def observed_confidence(confidence: Decimal, hit_count: int, dials: DialValues) -> Decimal:
    """The confidence after one further session observed the edge; an observation never lowers it."""
    return max(confidence, observation_step(hit_count, dials))


def held_below_walk(dials: DialValues) -> Decimal:
    """Just below the walk floor: the most that an edge may have where more would close a cycle (rules.md 10)."""
    return max(rounded(dials.edge_walk_min_confidence) - QUANTUM, Decimal(0))


@dataclass(frozen=True, slots=True)
class Walked:
    """An edge as a walk returns it, with what is shown of its target.

    `target_instruction` may be cut, but not shorter than `edge_line_clip_chars`.
    """

    edge: int
    type: str
    source: UUID
    target: UUID
    target_title: str
    target_instruction: str
    target_maturity: str
    condition: str
    confidence: Decimal
    provenance: str


def walk(
    edges: Iterable[Walked],
    *,
    dials: DialValues,
    min_confidence: Decimal | None = None,
    include_candidates: bool | None = None,
) -> list[Walked]:
    """The edges that a walk takes from one entry, in its order and within its limits (rules.md 6).

    `edges` go out from one entry to rows that the caller may see. `min_confidence` and `include_candidates`
    are the caller's, or None for the dials'.
    """
    lowest = dials.edge_walk_min_confidence if min_confidence is None else min_confidence
    candidates = dials.edge_include_candidate_targets if include_candidates is None else include_candidates
    open_edges = [
        edge for edge in edges if edge.confidence >= lowest and (candidates or not _is_tentative(edge))
    ]
    return _within_limits(sorted(open_edges, key=_walk_key), dials)


def _is_tentative(edge: Walked) -> bool:
    return edge.target_maturity == Maturity.CANDIDATE


def _walk_key(edge: Walked) -> tuple[int, Decimal, int]:
    return (WALK_ORDER.index(EdgeType(edge.type)), -edge.confidence, edge.edge)


def _within_limits(edges: Iterable[Walked], dials: DialValues) -> list[Walked]:
    taken: list[Walked] = []
    of_type: Counter[str] = Counter()
    for edge in edges:
        if of_type[edge.type] < dials.edge_walk_per_type:
            of_type[edge.type] += 1
            taken.append(edge)
    return taken[: dials.edge_walk_limit]
