"""Walking edges (rules.md 6): the one hop of a retrieval, and the longer walk of its own endpoint."""

from dataclasses import dataclass, replace
from decimal import Decimal
from uuid import UUID

from tests.oracle.model import EDGE_TYPES, UNBOUND, Dials, Edge, Entry, Key, RefusedError, Walk, Walked, World
from tests.oracle.visibility import key_sees, may_be_walked_to


@dataclass(frozen=True, kw_only=True)
class Walker:
    """Who walks, and which edges they ask for; None stands for the dial."""

    learner: str | None = None
    key: Key = UNBOUND
    min_confidence: Decimal | None = None
    include_candidates: bool | None = None
    types: tuple[str, ...] = EDGE_TYPES


def outgoing(world: World, source: UUID, walker: Walker, dials: Dials) -> tuple[Walked, ...]:
    """One hop: the edges of one entry that may be walked, ordered, and limited by type and in all."""
    edges = [
        Walked(edge=edge, target=world.entry(edge.target)) for edge in world.edges if edge.source == source
    ]
    walkable = [walked for walked in edges if may_walk(walked, walker, dials)]
    ordered = sorted(walkable, key=lambda walked: walk_order(walked.edge))
    return tuple(limit_per_type(ordered, dials.edge_walk_per_type)[: dials.edge_walk_limit])


def may_walk(walked: Walked, walker: Walker, dials: Dials) -> bool:
    edge, target = walked.edge, walked.target
    least = dials.edge_walk_min_confidence if walker.min_confidence is None else walker.min_confidence
    candidates = walker.include_candidates
    if candidates is None:
        candidates = dials.edge_include_candidate_targets
    return (
        edge.type in walker.types
        and edge.confidence >= least
        and target.is_row
        and may_be_walked_to(target, walker.learner, walker.key)
        and (candidates or target.maturity != "candidate")
    )


def walk_order(edge: Edge) -> tuple[int, Decimal, int]:
    """Type in the order of rules.md 6, then confidence descending, then the smaller id."""
    return EDGE_TYPES.index(edge.type), -edge.confidence, edge.id


def limit_per_type(ordered: list[Walked], per_type: int) -> list[Walked]:
    return [
        walked
        for edge_type in EDGE_TYPES
        for walked in [other for other in ordered if other.edge.type == edge_type][:per_type]
    ]


def walk(world: World, start: UUID, walker: Walker, dials: Dials, *, depth: int = 1) -> Walk:
    """A breadth-first walk in which every entry is expanded once, so that cycles end.

    An edge to an entry already reached is reported. Once `edge_walk_max_nodes` entries (the start
    among them) have been reached, an edge to a further one is left out, and `truncated` set.
    """
    if not 1 <= depth <= dials.edge_walk_max_depth:
        raise RefusedError("depth")
    entry = visible_start(world, start, walker.key)
    walker = replace(walker, learner=own_learner(entry))
    edges: list[Walked] = []
    nodes, frontier, truncated = [start], [start], False
    for hop in range(1, depth + 1):
        before = len(nodes)
        for walked in (one for source in frontier for one in outgoing(world, source, walker, dials)):
            if walked.target.id in nodes or len(nodes) < dials.edge_walk_max_nodes:
                edges.append(replace(walked, depth=hop))
                nodes = list(dict.fromkeys([*nodes, walked.target.id]))
            else:
                truncated = True
        frontier = nodes[before:]
    return Walk(start=entry, edges=tuple(edges), nodes=tuple(nodes), truncated=truncated)


def visible_start(world: World, start: UUID, key: Key) -> Entry:
    """An entry that is no row, or that the key may not see, is answered like one that does not exist."""
    entry = next((entry for entry in world.entries if entry.id == start), None)
    if entry is None or not entry.is_row or not key_sees(entry, key):
        raise RefusedError("not_found")
    return entry


def own_learner(entry: Entry) -> str | None:
    """The endpoint names no learner: rows of the start's own learner, if it has one, are in sight."""
    return entry.scope.removeprefix("student:") if entry.scope.startswith("student:") else None
