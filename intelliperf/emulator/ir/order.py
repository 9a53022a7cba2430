"""Weak topological order of a control-flow graph (Bourdoncle 1993), without recursion.

Sites numbered along it let the scheduler pick the earliest waiting group: loop bodies are
contiguous and what follows a loop has a greater number than everything in it.
"""

from __future__ import annotations

from collections.abc import Sequence


def weak_topological_order(successors: Sequence[Sequence[int]], entry: int = 0) -> list[int]:
    """All vertices: first those reachable from `entry` in weak topological order, then the others."""
    return nested_order(successors, entry)[0]


def nested_order(successors: Sequence[Sequence[int]], entry: int = 0) -> tuple[list[int], list[tuple[int, ...]]]:
    """The order, and for each vertex the heads of the loops that it is in, the outermost first.

    A vertex that is a loop of its own is in none by that.
    """
    order: list[int] = []
    heads: list[tuple[int, ...]] = [()] * len(successors)
    removed = [False] * len(successors)
    # Each pending item is a vertex to emit, or a set of vertices yet to be ordered from a root.
    pending: list[int | tuple[list[int], frozenset[int] | None, tuple[int, ...]]] = [([entry], None, ())]
    while pending:
        item = pending.pop()
        if isinstance(item, int):
            order.append(item)
            continue
        roots, inside, around = item
        components = _components(successors, roots, inside, removed)
        for component in components:  # reverse topological: the first found must be emitted last
            head = component[0]
            heads[head] = around if len(component) == 1 else (*around, head)
            if len(component) == 1:
                pending.append(head)
                removed[head] = True
                continue
            removed[head] = True
            members = frozenset(component)
            pending.append((list(successors[head]) + component[1:], members, heads[head]))
            pending.append(head)
    reached = set(order)
    order.extend(v for v in range(len(successors)) if v not in reached)
    return order, heads


def _components(
    successors: Sequence[Sequence[int]],
    roots: Sequence[int],
    inside: frozenset[int] | None,
    removed: Sequence[bool],
) -> list[list[int]]:
    """Strongly connected components (Tarjan) in reverse topological order, each with its head first.

    Only vertices of `inside` (None: all) that are not `removed` take part. The head is the vertex
    by which the depth-first search entered the component.
    """
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    path: list[int] = []
    position: dict[int, int] = {}  # of the vertices that are on the path
    found: list[list[int]] = []

    def allowed(vertex: int) -> bool:
        return not removed[vertex] and (inside is None or vertex in inside)

    for root in roots:
        if root in number or not allowed(root):
            continue
        work = [(root, iter(successors[root]))]
        number[root] = low[root] = len(number)
        position[root] = len(path)
        path.append(root)
        while work:
            vertex, following = work[-1]
            for target in following:
                if not allowed(target):
                    continue
                if target not in number:
                    number[target] = low[target] = len(number)
                    position[target] = len(path)
                    path.append(target)
                    work.append((target, iter(successors[target])))
                    break
                if target in position:
                    low[vertex] = min(low[vertex], number[target])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[vertex])
                if low[vertex] == number[vertex]:
                    start = position[vertex]
                    component = path[start:]
                    del path[start:]
                    for member in component:
                        del position[member]
                    found.append(component)
    return found
