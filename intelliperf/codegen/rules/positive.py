"""Which numbers are known to be more than zero where a loop runs, because a coordinate of the thread is below them."""

from __future__ import annotations

from collections.abc import Iterator

from intelliperf.codegen.rules.polynomials import Algebra
from intelliperf.codegen.syntax.tree import Node

_COORDINATES = ("threadIdx", "blockIdx", "blockDim", "gridDim")


def positive(algebra: Algebra, inner: Node) -> frozenset[str]:
    """Atoms W of `algebra` with `coordinate < W`, by an `if` around `inner` or a return before it."""
    return frozenset(name for low, high in _orders(inner) for name in [_above(algebra, low, high)] if name is not None)


def _above(algebra: Algebra, low: Node, high: Node) -> str | None:
    below, limit = algebra.polynomial(low), algebra.polynomial(high)
    if below is None or limit is None or not all(name.startswith(_COORDINATES) for name in below.atoms):
        return None
    if any(factor < 0 for factor in below.terms.values()) or list(limit.terms.values()) != [1]:
        return None
    (names,) = limit.terms
    return names[0] if len(names) == 1 else None


def _orders(inner: Node) -> Iterator[tuple[Node, Node]]:
    """(a, b) with a < b wherever `inner` runs."""
    child = inner
    for parent in inner.ancestors():
        plain = not {"hasInit", "hasVar"} & parent.flags
        if parent.kind == "IfStmt" and plain and len(parent.children) > 1 and parent.children[1] is child:
            yield from _comparisons(parent.children[0], "&&", "<", ">")
        if parent.kind == "CompoundStmt":
            for before in parent.children[: parent.children.index(child)]:
                leaves = before.kind == "IfStmt" and len(before.children) == 2 and _returns(before.children[1])
                if leaves and not {"hasInit", "hasVar"} & before.flags:
                    yield from _comparisons(before.children[0], "||", ">=", "<=")
        if parent.kind in ("FunctionDecl", "LambdaExpr"):
            return
        child = parent


def _comparisons(test: Node, joint: str, same: str, turned: str) -> Iterator[tuple[Node, Node]]:
    """Sides of `a same b` and `b turned a` among the parts that `joint` joins."""
    node = test.bare()
    if node.kind == "BinaryOperator" and node.opcode == joint:
        for part in node.children:
            yield from _comparisons(part, joint, same, turned)
    elif node.kind == "BinaryOperator" and node.opcode == same:
        yield node.children[0], node.children[1]
    elif node.kind == "BinaryOperator" and node.opcode == turned:
        yield node.children[1], node.children[0]


def _returns(branch: Node) -> bool:
    inside = branch.children if branch.kind == "CompoundStmt" else [branch]
    return len(inside) == 1 and inside[0].kind == "ReturnStmt"
