"""Loops that count up by one: their counter and where it ends."""

from __future__ import annotations

from intelliperf.codegen.rules.lanes import initializer, written
from intelliperf.codegen.rules.polynomials import Algebra, Polynomial
from intelliperf.codegen.rules.problem import NotApplicable, Place
from intelliperf.codegen.rules.statements import callee_name
from intelliperf.codegen.rules.uniformity import condition
from intelliperf.codegen.syntax.narrowing import is_moved, written_type
from intelliperf.codegen.syntax.source import Source
from intelliperf.codegen.syntax.tree import Node

_CASTS = ("CStyleCastExpr", "CXXStaticCastExpr", "CXXFunctionalCastExpr")


def counter_of(place: Place, loop: Node) -> Node:
    """The variable that the loop declares and counts up by one."""
    first, step = loop.children[0], loop.children[3].bare()
    declared = first.children if first.kind == "DeclStmt" else []
    target = first.children[0].bare() if first.kind == "BinaryOperator" and first.opcode == "=" else first
    if target.kind == "DeclRefExpr" and target.reference is not None:
        raise NotApplicable(
            f"{place}: the loop on line {loop.line} counts with {target.reference.name}, which others may use, too"
        )
    if len(declared) != 1 or declared[0].kind != "VarDecl":
        raise NotApplicable(f"{place}: the loop on line {loop.line} does not declare one counter")
    counter = declared[0]
    by_one = step.kind == "UnaryOperator" and step.opcode == "++"
    if step.kind == "BinaryOperator" and step.opcode == "=":
        total = step.children[1].bare()
        by_one = total.kind == "BinaryOperator" and total.opcode == "+" and _is_next(total, counter)
    if step.kind == "CompoundAssignOperator" and step.opcode == "+=":
        amount = step.children[1].bare()
        by_one = amount.kind == "IntegerLiteral" and amount.value == "1"
    target = step.children[0].bare() if step.children else step
    if not by_one or target.reference is None or target.reference.id != counter.id:
        raise NotApplicable(f"{place}: the loop on line {loop.line} does not count up by one")
    for node in loop.children[-1].everything():
        if written(node) == counter.id:
            raise NotApplicable(f"{place}: line {node.line} changes {counter.name}, by which the loop counts")
    return counter


def _is_next(total: Node, counter: Node) -> bool:
    """`counter + 1`"""
    left, right = (child.bare() for child in total.children)
    counts = left.reference is not None and left.reference.id == counter.id
    return counts and right.kind == "IntegerLiteral" and right.value == "1"


def kind_of(place: Place, source: Source, loop: Node, counter: Node) -> tuple[str, str]:
    """The counter's type in the program's words, and what stands before its name in our loop header."""
    if is_moved(counter):
        return written_type(counter), ""
    kind = source.slice(counter.start_offset, counter.place.offset).strip() if counter.place else ""
    if kind in ("", "auto", "const auto"):
        raise NotApplicable(f"{place}: the counter of the loop on line {loop.line} is declared as {kind or 'nothing'}")
    return kind, f"{kind} "


def upper_limits(place: Place, algebra: Algebra, loop: Node, counter: Node) -> list[Polynomial]:
    """All upper limits of the counter, of a `for` or a `while`."""
    pending, found = condition(loop), []
    if not pending:
        raise NotApplicable(f"{place}: the loop on line {loop.line} has no condition")
    while pending:
        node = pending.pop(0).bare()
        if node.kind == "BinaryOperator" and node.opcode == "&&":
            pending += node.children
            continue
        left = node.children[0].bare() if node.children else node
        while left.kind in _CASTS:
            left = left.children[0].bare()
        counts = left.kind == "DeclRefExpr" and left.reference is not None and left.reference.id == counter.id
        if node.kind != "BinaryOperator" or node.opcode != "<" or not counts:
            raise NotApplicable(f"{place}: the loop on line {loop.line} has a condition other than an upper limit")
        found += _smallest_of(place, algebra, loop, node.children[1])
    return found


def _smallest_of(place: Place, algebra: Algebra, loop: Node, limit: Node) -> list[Polynomial]:
    """The polynomials whose minimum `limit` is."""
    plain = algebra.polynomial(limit)
    if plain is not None:
        return [plain]
    node = limit.bare()
    while node.kind in _CASTS:
        node = next(child for child in node.children if child.category).bare()
    if node.kind == "DeclRefExpr" and node.reference is not None and node.reference.id in algebra.declared:
        initial = initializer(algebra.declared[node.reference.id])
        if initial is not None and node.reference.id not in algebra.modified:
            return _smallest_of(place, algebra, loop, initial)
    if node.kind == "CallExpr" and callee_name(node) in ("min", "umin", "ullmin", "llmin") and len(node.children) == 3:
        return [part for child in node.children[1:] for part in _smallest_of(place, algebra, loop, child)]
    if node.kind == "ConditionalOperator":
        test, yes, no = node.children[0].bare(), node.children[1], node.children[2]
        if test.kind == "BinaryOperator" and test.opcode in ("<", "<=", ">", ">="):
            sides = [algebra.polynomial(child) for child in test.children]
            values = [algebra.polynomial(yes), algebra.polynomial(no)]
            if test.opcode.startswith(">"):
                values.reverse()
            if None not in sides and sides == values:
                return [side for side in sides if side is not None]
    raise NotApplicable(f"{place}: the end of the loop on line {loop.line} is not the end of a thread's chunk")
