"""Which numbers are known to be other than zero where a loop runs.

More than zero, because a coordinate of the thread is below them; or not zero, because something was divided by them.
"""

from __future__ import annotations

from collections.abc import Iterator

from intelliperf.codegen.rules.polynomials import Algebra
from intelliperf.codegen.syntax.tree import Node

_UNSURE = ("ConditionalOperator", "BinaryConditionalOperator", "LambdaExpr", "StmtExpr")
_COORDINATES = ("threadIdx", "blockIdx", "blockDim", "gridDim")


def positive(algebra: Algebra, inner: Node) -> frozenset[str]:
    """Atoms W of `algebra` with `coordinate < W`, by an `if` around `inner` or a return before it."""
    return frozenset(name for low, high in _orders(inner) for name in [_above(algebra, low, high)] if name is not None)


def divisors(algebra: Algebra, inner: Node) -> frozenset[str]:
    """Atoms that whole numbers were divided by before `inner`, by whatever reaches it."""
    found = set()
    for statement in _before(inner):
        for node in statement.everything():
            if node.opcode not in ("/", "%") or node.canonical in ("float", "double") or _may_be_skipped(node):
                continue
            by = algebra.polynomial(node.children[-1])
            atoms = by.atoms if by is not None and len(by.terms) == 1 else ()
            found |= {name for name in atoms if not name.startswith(_COORDINATES)}
    return frozenset(found)


def _before(inner: Node) -> Iterator[Node]:
    """Declarations and assignments that have run whenever `inner` does, within its function."""
    child = inner
    for parent in inner.ancestors():
        if parent.kind == "CompoundStmt":
            plain = ("DeclStmt", "BinaryOperator", "CompoundAssignOperator")
            yield from (each for each in parent.children[: parent.children.index(child)] if each.kind in plain)
        if parent.kind in ("FunctionDecl", "LambdaExpr"):
            return
        child = parent


def _may_be_skipped(node: Node) -> bool:
    for up in node.ancestors():
        if up.kind.endswith("Stmt") and up.kind not in _UNSURE:
            return False
        if up.kind in _UNSURE or up.opcode in ("&&", "||"):
            return True
    return False


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
