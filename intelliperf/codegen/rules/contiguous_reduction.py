"""A reduction in LDS whose active threads lie further apart in each round is done by neighbouring threads.

`for (s = 1; s < blockDim.x; s *= 2) if (t % (2 * s) == 0) x[t] += x[t + s];`, or the same with `2 * s * t` for an
index, becomes `for (s = blockDim.x / 2; s > 0; s /= 2) if (t < s) x[t] += x[t + s];`. Whole waves then have nothing to
do, and lanes touch neighbouring banks. Proof obligations: the block's size is a power of two at every launch; all
threads take part in every round; elements are joined by an operation whose order is free; nobody looks at any element
but the first afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

from intelliperf.codegen.rules.lanes import initializer
from intelliperf.codegen.rules.polynomials import Algebra, Polynomial, atom, constant
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite
from intelliperf.codegen.rules.relabel import kernel_of
from intelliperf.codegen.rules.trees import (
    THREAD,
    block_width,
    check_whole_block,
    counter,
    is_barrier,
    is_width,
    joined,
    lds_element,
    same,
    uses,
)
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import SourceEvidence


@dataclass(frozen=True)
class _Round:
    """The parts of the loop. `index`: what the active threads' elements are numbered by, where not by their own."""

    loop: Node
    step: Node  # the variable that doubles
    limit: Node
    guard: Node
    index: Node | None
    arrays: tuple[Node, ...]


class ContiguousReduction:
    name = "contiguous_reduction"

    def rewrite(self, problem: Problem) -> Rewrite:
        done: set[int] = set()
        return problem.rewrite_lines(
            "Let neighbouring threads do each round of the reduction",
            lambda evidence: [self._line(problem, evidence, done)],
        )

    def _line(self, problem: Problem, evidence: SourceEvidence, done: set[int]) -> str:
        place = problem.place(evidence)
        kernel = kernel_of(place)
        loop = _loop_around(kernel, evidence.line)
        if loop is None:
            raise NotApplicable(f"{place} is not in a loop whose step doubles from 1")
        width = block_width(problem, place, kernel)
        if width & (width - 1):
            raise NotApplicable(f"{place}: blocks of {width} threads are not halved evenly")
        check_whole_block(place, kernel, loop)
        found = _round(problem, place, kernel, loop, width)
        for array in found.arrays:
            _check_only_first(place, kernel, loop, array)
        if loop.start_offset not in done:
            _apply(problem, place, found)
            done.add(loop.start_offset)
        names = ", ".join(array.name for array in found.arrays)
        return f"the reduction of {names} in {kernel.name} on line {loop.line}"


def _loop_around(kernel: Node, line: int) -> Node | None:
    for node in kernel.walk():
        if node.kind != "ForStmt" or node.begin is None or node.end is None or len(node.children) != 5:
            continue
        if node.begin.line <= line <= node.end.line and _doubles(node):
            return node
    return None


def _doubles(loop: Node) -> bool:
    found = counter(loop)
    if found is None:
        return False
    variable, initial = found
    algebra = _algebra(loop, variable)
    step = loop.children[3].bare()
    if not same(algebra.polynomial(initial), constant(1)) or len(step.children) != 2:
        return False
    target, amount = step.children[0].bare(), step.children[1]
    if target.reference is None or target.reference.id != variable.id:
        return False
    value = algebra.polynomial(amount)
    if step.kind == "CompoundAssignOperator":
        by = {"*=": constant(2), "<<=": constant(1), "+=": atom(variable.id)}.get(step.opcode)
        return by is not None and same(value, by)
    shifted = amount.bare()
    if step.opcode == "=" and shifted.kind == "BinaryOperator" and shifted.opcode == "<<":
        left, right = (algebra.polynomial(child) for child in shifted.children)
        return same(left, atom(variable.id)) and same(right, constant(1))
    return step.opcode == "=" and same(value, constant(2) * atom(variable.id))


def _algebra(function: Node, variable: Node) -> Algebra:
    algebra = Algebra(function)
    algebra.free.add(variable.id)
    return algebra


def _round(problem: Problem, place: Place, kernel: Node, loop: Node, width: int) -> _Round:
    found = counter(loop)
    if found is None:
        raise NotApplicable(f"{place}: the loop on line {loop.line} declares no counter")
    variable, _ = found
    algebra = _algebra(kernel, variable)
    test = loop.children[2].bare()
    sides = test.children if test.kind == "BinaryOperator" and test.opcode == "<" else []
    if (
        not sides
        or not same(algebra.polynomial(sides[0]), atom(variable.id))
        or not is_width(problem, algebra, sides[1], width)
    ):
        raise NotApplicable(f"{place}: the loop on line {loop.line} does not end with the block's width")
    inner = loop.children[4].children if loop.children[4].kind == "CompoundStmt" else []
    guards = [node for node in inner if node.kind == "IfStmt"]
    barriers = [node for node in inner if is_barrier(node)]
    packed = [node for node in inner if node.kind == "DeclStmt"]
    if len(guards) != 1 or not barriers or len(packed) > 1 or len(inner) != 1 + len(barriers) + len(packed):
        raise NotApplicable(f"{place}: the loop on line {loop.line} has more in it than one round and its barrier")
    own = _own_index(problem, place, algebra, guards[0], width, atom(variable.id))
    own = THREAD if own is None else own
    arrays = []
    branch = guards[0].children[1]
    for statement in branch.children if branch.kind == "CompoundStmt" else [branch]:
        parts = joined(statement)
        elements = [lds_element(kernel, part) for part in parts[:2]] if parts else [None]
        here, there = (*elements, None)[:2]
        if here is None or there is None or here[0] is not there[0]:
            raise NotApplicable(f"{place}: line {statement.line} does not join two elements of one array in LDS")
        at, other = (algebra.polynomial(element[1]) for element in (here, there))
        if not same(at, own) or not same(other, own + atom(variable.id)):
            raise NotApplicable(f"{place}: line {statement.line} joins elements that are not a step apart")
        arrays.append(here[0])
    if len(guards[0].children) != 2 or len(set(map(id, arrays))) != len(arrays):
        raise NotApplicable(f"{place}: the round on line {guards[0].line} does more than to join elements")
    index = None
    if (own - THREAD).terms:
        named = packed[0].children if packed else []
        index = initializer(named[0]) if len(named) == 1 else None
        if index is None or not same(algebra.polynomial(index), own) or index.in_macro:
            raise NotApplicable(f"{place}: the round on line {guards[0].line} has no variable for its index")
    return _Round(loop, variable, sides[1], guards[0], index, tuple(arrays))


def _own_index(
    problem: Problem, place: Place, algebra: Algebra, guard: Node, width: int, step: Polynomial
) -> Polynomial | None:
    """Where an active thread works if not at its own number. Raises `NotApplicable` for other conditions."""
    twice = constant(2) * step
    pending, chosen, packed = [guard.children[0].bare()], False, None
    while pending:
        test = pending.pop()
        if test.kind == "BinaryOperator" and test.opcode == "&&":
            pending += [child.bare() for child in test.children]
        elif _every_other(algebra, test, twice):
            chosen = True
        elif (
            test.kind == "BinaryOperator" and test.opcode == "<" and is_width(problem, algebra, test.children[1], width)
        ):
            index = algebra.polynomial(test.children[0])
            if same(index, twice * THREAD):
                packed = index
            elif index is None or not (index - THREAD).terms or "threadIdx.x" not in index.atoms:
                raise NotApplicable(f"{place}: line {guard.line} lets other threads work than those a step apart")
        else:
            raise NotApplicable(f"{place}: line {guard.line} lets other threads work than those a step apart")
    if chosen == (packed is not None):
        raise NotApplicable(f"{place}: line {guard.line} lets other threads work than those a step apart")
    return packed


def _every_other(algebra: Algebra, test: Node, twice: Polynomial) -> bool:
    """`t % (2 * s) == 0`, `!(t % (2 * s))`, `(t & (2 * s - 1)) == 0`"""
    negated = test.kind == "UnaryOperator" and test.opcode == "!"
    equal = test.kind == "BinaryOperator" and test.opcode == "=="
    if not negated and not (equal and same(algebra.polynomial(test.children[1]), constant(0))):
        return False
    rest = test.children[0].bare()
    if rest.kind != "BinaryOperator" or not same(algebra.polynomial(rest.children[0]), THREAD):
        return False
    by = algebra.polynomial(rest.children[1])
    return same(by, twice) if rest.opcode == "%" else rest.opcode == "&" and same(by, twice - constant(1))


def _check_only_first(place: Place, kernel: Node, loop: Node, array: Node) -> None:
    for name in uses(kernel, array):
        user = name.user()
        if user is None or user.kind != "ArraySubscriptExpr":
            raise NotApplicable(f"{place}: line {name.line} uses {array.name} as a whole")
        index = user.children[1].bare()
        later = name.start_offset > loop.end_offset
        if later and not (index.kind == "IntegerLiteral" and index.value == "0"):
            raise NotApplicable(f"{place}: line {name.line} looks at more of {array.name} than its first element")


def _apply(problem: Problem, place: Place, found: _Round) -> None:
    source, loop, step = problem.source(place.path), found.loop, found.step
    test, advance, condition = loop.children[2], loop.children[3], found.guard.children[0]
    first = counter(loop)
    if first is None or any(node.in_macro for node in (loop, test, advance, found.guard, condition, first[1])):
        raise NotApplicable(f"{place}: the loop on line {loop.line} is written by a macro")
    limit = source.slice(found.limit.start_offset, found.limit.end_offset)
    plain = found.limit.bare().kind in ("IntegerLiteral", "DeclRefExpr", "Coordinate")
    source.replace(first[1].start_offset, first[1].end_offset, f"{limit if plain else f'({limit})'} / 2")
    source.replace(test.start_offset, test.end_offset, f"{step.name} > 0")
    source.replace(advance.start_offset, advance.end_offset, f"{step.name} /= 2")
    source.replace(condition.start_offset, condition.end_offset, f"threadIdx.x < {step.name}")
    if found.index is not None:
        source.replace(found.index.start_offset, found.index.end_offset, "threadIdx.x")
