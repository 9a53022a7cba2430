"""Running sums that a loop carries through memory: each turn adds what the turn before it stored."""

from __future__ import annotations

from intelliperf.codegen.rules.addresses import Access, Addresses
from intelliperf.codegen.rules.lanes import initializer
from intelliperf.codegen.rules.polynomials import Algebra
from intelliperf.codegen.rules.problem import NotApplicable, Place
from intelliperf.codegen.rules.reductions import Reduction
from intelliperf.codegen.rules.wave_aggregate_atomics import FLOATS, INTEGERS
from intelliperf.codegen.syntax.source import Source
from intelliperf.codegen.syntax.tree import Node


def memory_scan(loop: Node, found: list[Access], algebra: Algebra, turn_atom: str) -> Reduction | None:
    """`x[i] += x[i - 1]` and `x[i] = x[i - 1] + e`, statements of the loop's body; `found` are its accesses.

    `turn_atom` stands for the loop's counter in the polynomials of `algebra`.
    """
    addresses = Addresses(algebra)
    by_node = {id(item.whole.bare()): item for item in found}
    turn = loop.children[-1]
    for statement in turn.children if turn.kind == "CompoundStmt" else [turn]:
        parts = _parts(statement.bare())
        if parts is None:
            continue
        target, sides, type_name = parts
        stored = by_node.get(id(target))
        if stored is None or not _adds_as(type_name, target.canonical):
            continue
        here = addresses.element(stored.place)
        for side, other in (sides, sides[::-1]):
            read = by_node.get(id(side.bare()))
            before = addresses.element(read.place) if read is not None else None
            if (
                before is None
                or before.index is None
                or here.index is None
                or before.root != here.root
                or not here.root
            ):
                continue
            step = here.index.factor_of(turn_atom)
            if not step.terms or (here.index - before.index - step).terms:
                continue
            name = next((node.reference.name for node in target.walk() if node.reference is not None), "memory")
            return Reduction(
                f"memory of {here.root}", name, "running_sum", "{a} + {b}", "0", target.canonical, statement,
                scanned=True, through=(target, side.bare(), other),
            )  # fmt: skip
    return None


def _parts(node: Node) -> tuple[Node, tuple[Node, Node], str] | None:
    """Target, operands and type of the addition."""
    if node.kind == "CompoundAssignOperator" and node.opcode == "+=":
        target, value = node.children
        return target.bare(), (value, target), value.canonical
    if node.kind != "BinaryOperator" or node.opcode != "=":
        return None
    total = node.children[1].bare()
    if total.kind != "BinaryOperator" or total.opcode != "+":
        return None
    return node.children[0].bare(), (total.children[0], total.children[1]), total.canonical


def _adds_as(operation: str, element: str) -> bool:
    """Is the sum that of the elements' own type, at least in the bits that are kept?"""
    return operation == element and element in FLOATS or {operation, element} <= INTEGERS


def first_value(source: Source, place: Place, loop: Node, counter: Node, read: Node) -> str:
    """What stood before the first element, in front of the loop; nothing is read where the loop has no turn."""
    initial, test = initializer(counter), loop.children[2]
    if initial is None or initial.in_macro:
        raise NotApplicable(f"{place}: the first value of the loop on line {loop.line} is written by a macro")
    start = source.slice(initial.start_offset, initial.end_offset)
    first = start if initial.bare().kind in ("IntegerLiteral", "DeclRefExpr") else f"({start})"
    value, runs = (_with(source, place, node, counter, first) for node in (read, test))
    return f"{runs} ? {value} : 0"


def _with(source: Source, place: Place, expression: Node, counter: Node, value: str) -> str:
    """The text of an expression with the counter's value."""
    names = [
        node
        for node in expression.walk()
        if node.kind == "DeclRefExpr" and node.reference is not None and node.reference.id == counter.id
    ]
    if expression.in_macro or any(name.in_macro for name in names):
        raise NotApplicable(f"{place}: line {expression.line} names {counter.name} in a macro")
    text, at = "", expression.start_offset
    for name in sorted(names, key=lambda node: node.start_offset):
        text += source.slice(at, name.start_offset) + value
        at = name.end_offset
    return text + source.slice(at, expression.end_offset)
