"""Ways to count the elements of a grid of one dimension anew: in rows of some length, and some rows at a time.

Element i is (outer * down + row) * across + column, for whatever positive numbers `down` and `across`. They are taken
from the divisions by which a kernel gets its coordinates out of i, and concern speed only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from intelliperf.codegen.rules.block_sizes import blocks_of
from intelliperf.codegen.rules.lanes import TYPICAL_EXTENT, Flow, Lane, Launch, Value, initializer
from intelliperf.codegen.rules.lds_arrays import ELEMENT_BYTES, array_of, is_stored, owner_of
from intelliperf.codegen.rules.polynomials import GRID_THREAD, Algebra, Polynomial, constant
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, body
from intelliperf.codegen.rules.relabel import SECTOR_BYTES
from intelliperf.codegen.rules.statements import pointee
from intelliperf.codegen.syntax.tree import Node

LANES = 32  # neighbouring elements, or one of each of so many rows


@dataclass(frozen=True)
class Order:
    """`down` is None where all rows are counted through. Both have one term, over parameters."""

    across: Polynomial
    down: Polynomial | None


class Numbering(Algebra):
    """Polynomials over a kernel's parameters, with the value in the place of each variable that keeps it."""

    def _variable(self, node: Node) -> Polynomial | None:
        declared = self.declared.get(node.reference.id) if node.reference is not None else None
        initial = initializer(declared) if declared is not None else None
        if initial is not None and declared is not None and declared.id not in self.modified:
            return self.polynomial(initial)
        return super()._variable(node)


def element_variable(problem: Problem, place: Place, kernel: Node) -> Node:
    """The variable that holds the number of a thread's element. Raises `NotApplicable` where there is not just one."""
    algebra = Algebra(kernel, blocks_of(problem, kernel))
    numbers = [
        node
        for statement in body(kernel).children
        for node in (statement.children if statement.kind == "DeclStmt" else ())
        if node.kind == "VarDecl" and any(part.kind == "Coordinate" for part in node.walk())
    ]
    initial = initializer(numbers[0]) if numbers else None
    number = algebra.polynomial(initial) if initial is not None else None
    if len(numbers) != 1 or initial is None or number is None or (number - GRID_THREAD).terms:
        raise NotApplicable(f"{place}: the kernel does not begin by numbering its threads over the grid")
    inside = {id(node) for node in initial.walk()}
    for node in kernel.everything():
        if node.kind == "Coordinate" and id(node) not in inside:
            raise NotApplicable(f"{place}: line {node.line} uses {node.name} other than for the element's number")
    if numbers[0].id in algebra.modified or initial.in_macro:
        raise NotApplicable(f"{place}: {numbers[0].name} is changed, or written by a macro")
    return numbers[0]


def orders(kernel: Node, number: Node) -> Iterator[Order]:
    """By the quotients of the element's number that the kernel computes."""
    algebra = Numbering(kernel)
    divisors: list[Polynomial] = []
    for node in body(kernel).everything():
        if node.kind != "BinaryOperator" or node.opcode not in ("/", "%"):
            continue
        before, by = _divided(algebra, node.children[0], number), _divisor(algebra, kernel, node.children[1])
        if before is not None and by is not None:
            divisors += [before, before * by]
    known = [each for at, each in enumerate(divisors) if each not in divisors[:at] and each != constant(1)]
    for across in known:
        yield from (Order(across, down) for whole in known if (down := _quotient(whole, across)) is not None)
        yield Order(across, None)


def _quotient(whole: Polynomial, part: Polynomial) -> Polynomial | None:
    """None where it has no one term, or is 1."""
    ((factors, factor),), ((others, other),) = whole.terms.items(), part.terms.items()
    left = list(factors)
    for each in others:
        if each not in left:
            return None
        left.remove(each)
    found = Polynomial({tuple(left): factor // other})
    return found if factor % other == 0 and found != constant(1) else None


def _divided(algebra: Algebra, expression: Node, number: Node) -> Polynomial | None:
    """By what the element's number was divided to get this; None where it is not a quotient of it."""
    node = expression.bare()
    if node.kind in ("CStyleCastExpr", "CXXStaticCastExpr", "CXXFunctionalCastExpr"):
        return _divided(algebra, next(child for child in node.children if child.category), number)
    if node.kind == "DeclRefExpr" and node.reference is not None:
        if node.reference.id == number.id:
            return constant(1)
        declared = algebra.declared.get(node.reference.id)
        initial = initializer(declared) if declared is not None else None
        changes = node.reference.id in algebra.modified
        return _divided(algebra, initial, number) if initial is not None and not changes else None
    if node.kind == "BinaryOperator" and node.opcode == "/":
        before, by = _divided(algebra, node.children[0], number), algebra.polynomial(node.children[1])
        return before * by if before is not None and by is not None else None
    return None


def _divisor(algebra: Algebra, kernel: Node, expression: Node) -> Polynomial | None:
    """A product of parameters and constants; None for anything else."""
    found = algebra.polynomial(expression)
    parameters = {child.id for child in kernel.children if child.kind == "ParmVarDecl"}
    if found is None or len(found.terms) != 1:
        return None
    plain = all(atom.partition(".")[0] in parameters for atom in found.atoms)
    return found if plain and all(factor > 0 for factor in found.terms.values()) else None


@dataclass
class Sectors:
    """Memory sectors that lanes touch, one instruction after another."""

    loads: int = 0
    stores: int = 0


class _Inside(Lane):
    """A lane that the guards let through."""

    guards: Sequence[Node] = ()
    leave: Node | None = None

    def _if(self, statement: Node) -> Flow:
        if statement is self.leave:
            return Flow.NEXT
        if any(statement is guard for guard in self.guards):
            return self.run(statement.children[1])
        return super()._if(statement)


def sectors(
    kernel: Node, value: Callable[[str], Value], step: int, guards: Sequence[Node], leave: Node | None
) -> Sectors:
    """Of the elements 0, step, 2 * step, …, one for each lane."""
    launch = Launch((1, 1, 1), (1, 1, 1), value, TYPICAL_EXTENT)
    touched: dict[tuple[int, int], set[int]] = {}
    nodes: dict[int, Node] = {}
    for lane in range(LANES):
        run = _Inside(launch, (lane * step, 0, 0), frozenset())
        run.guards, run.leave = guards, leave
        run.run(body(kernel))
        turns: dict[int, int] = {}
        for node, indices in run.seen:
            array = array_of(node)
            owner = array if array.kind == "DeclRefExpr" else owner_of(array)
            if owner is None or pointee(array.canonical) is None or not indices or indices[-1] is None:
                continue
            turn = turns[id(node)] = turns.get(id(node), -1) + 1
            nodes[id(node)] = node
            size = ELEMENT_BYTES.get(node.canonical.replace("const ", "").replace("volatile ", ""), 4)
            touched.setdefault((id(node), turn), set()).add(indices[-1] * size // SECTOR_BYTES)
    total = Sectors()
    for (key, _), different in touched.items():
        if is_stored(nodes[key]):
            total.stores += len(different)
        else:
            total.loads += len(different)
    return total


def extent(polynomial: Polynomial) -> int:
    """The number with the typical extent for each parameter."""
    return sum(int(factor) * int(TYPICAL_EXTENT ** len(monomial)) for monomial, factor in polynomial.terms.items())
