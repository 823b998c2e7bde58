"""Cycles of prerequisites: which of them new edges would close, with the path (rules.md 10).

Everything is iterative, since a chain of prerequisites can be longer than Python's stack, and linear in the
graph where no cycle is closed, which is the rule even for an import of 50,000 entries.
"""

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)
_Graph = Mapping[Node, Sequence[Node]]


def find_cycle(
    edges: Iterable[tuple[Node, Node]], new_edges: Iterable[tuple[Node, Node]]
) -> tuple[Node, ...] | None:
    """The first cycle that `new_edges` close over `edges`, as `added_cycles` gives it; None where none."""
    return next(added_cycles(edges, new_edges), None)


def added_cycles(
    edges: Iterable[tuple[Node, Node]], new_edges: Iterable[tuple[Node, Node]]
) -> Iterator[tuple[Node, ...]]:
    """The cycles that `new_edges` close over `edges`; those that were there before are not reported.

    Each is a path `(a, b, ..., a)` that begins with a new edge and is as short as any through it. Every new edge
    that lies on a cycle lies on one of those given. The order is that of the edges, so it is the same twice.
    """
    old = dict.fromkeys(edges)
    new = [edge for edge in dict.fromkeys(new_edges) if edge not in old]
    graph = _adjacency([*old, *new])
    component = _components(graph)
    reported: set[tuple[Node, Node]] = set()
    for source, target in new:
        if component[source] == component[target] and (source, target) not in reported:
            path = _shortest_path(graph, component, target, source)
            if path is not None:
                cycle = (source, *path)
                reported.update(pairwise(cycle))
                yield cycle


def _adjacency(edges: Iterable[tuple[Node, Node]]) -> dict[Node, list[Node]]:
    graph: dict[Node, list[Node]] = {}
    for source, target in edges:
        graph.setdefault(source, []).append(target)
        graph.setdefault(target, [])
    return graph


def _components(graph: _Graph[Node]) -> dict[Node, int]:
    """The number of each node's strongly connected component (Kosaraju: two depth-first passes)."""
    reversed_graph = _adjacency((target, source) for source, targets in graph.items() for target in targets)
    component: dict[Node, int] = {}
    for number, root in enumerate(reversed(_finish_order(graph))):
        stack = [root]
        while stack:
            node = stack.pop()
            if node not in component:
                component[node] = number
                stack.extend(reversed_graph.get(node, ()))
    return component


def _finish_order(graph: _Graph[Node]) -> list[Node]:
    """The nodes in the order in which a depth-first search leaves them."""
    finished: list[Node] = []
    seen: set[Node] = set()
    for root in graph:
        stack = [] if root in seen else [(root, iter(graph[root]))]
        seen.add(root)
        while stack:
            node, targets = stack[-1]
            unseen = next((target for target in targets if target not in seen), None)
            if unseen is None:
                finished.append(node)
                stack.pop()
            else:
                seen.add(unseen)
                stack.append((unseen, iter(graph[unseen])))
    return finished


def _shortest_path(
    graph: _Graph[Node], component: Mapping[Node, int], start: Node, goal: Node
) -> tuple[Node, ...] | None:
    """The shortest path from `start` to `goal`, both included, within their component."""
    came_from: dict[Node, Node | None] = {start: None}
    queue = deque([start])
    while queue and goal not in came_from:
        node = queue.popleft()
        for target in graph[node]:
            if target not in came_from and component[target] == component[start]:
                came_from[target] = node
                queue.append(target)
    return _trace(came_from, goal) if goal in came_from else None


def _trace(came_from: Mapping[Node, Node | None], goal: Node) -> tuple[Node, ...]:
    path = [goal]
    while (previous := came_from[path[-1]]) is not None:
        path.append(previous)
    return tuple(reversed(path))
