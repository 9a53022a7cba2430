"""One thread that goes through what all threads of its block left in LDS is relieved by a reduction of all of them.

`if (t == 0) for (k = 0; k < blockDim.x; ++k) sum += x[k];` becomes rounds in which half as many threads each time
join two elements, and the one thread takes the first element. Proof obligations: a barrier stands right before; all
threads of the block come by; the loop does nothing but join the elements, by an operation whose order is free; nobody
looks at the array afterwards. Any block size will do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from intelliperf.codegen.rules.declarations import unused_name
from intelliperf.codegen.rules.guards import statement_end
from intelliperf.codegen.rules.lanes import initializer, written
from intelliperf.codegen.rules.polynomials import Algebra, atom, constant
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite
from intelliperf.codegen.rules.relabel import kernel_of
from intelliperf.codegen.rules.trees import (
    THREAD,
    WIDTH,
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
from intelliperf.codegen.syntax.source import Source
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import SourceEvidence


@dataclass(frozen=True)
class _Join:
    """One statement of the loop."""

    statement: Node
    array: Node
    combine: str


@dataclass(frozen=True)
class _Walk:
    """`first`: the loop begins with the second element, for the totals hold the first ones already."""

    guard: Node
    loop: Node
    joins: tuple[_Join, ...]
    first: bool


class TreeReduction:
    name = "tree_reduction"

    def rewrite(self, problem: Problem) -> Rewrite:
        done: set[int] = set()
        return problem.rewrite_lines(
            "Let all threads of a block join what one thread went through",
            lambda evidence: [self._line(problem, evidence, done)],
        )

    def _line(self, problem: Problem, evidence: SourceEvidence, done: set[int]) -> str:
        place = problem.place(evidence)
        kernel = kernel_of(place)
        found = _walk(problem, place, kernel, evidence.line)
        if found.loop.start_offset not in done:
            _apply(problem, place, found)
            done.add(found.loop.start_offset)
        arrays = ", ".join(join.array.name for join in found.joins)
        return f"{arrays} in {kernel.name}, line {found.loop.line}"


def _walk(problem: Problem, place: Place, kernel: Node, line: int) -> _Walk:
    for guard in kernel.walk():
        if guard.kind != "IfStmt" or guard.begin is None or guard.end is None:
            continue
        if guard.begin.line <= line <= guard.end.line and one_thread(kernel, guard.children[0]):
            loops = [node for node in guard.children[1].walk() if node.kind == "ForStmt"]
            if len(loops) != 1 or len(guard.children) != 2:
                raise NotApplicable(f"{place}: what one thread does on line {guard.line} is not one loop")
            return _of_loop(problem, place, kernel, guard, loops[0])
    for guard, rest in _left_alone(kernel):
        if any(part.begin and part.end and part.begin.line <= line <= part.end.line for part in rest):
            loops = [node for part in rest for node in part.walk() if node.kind == "ForStmt"]
            if len(loops) != 1:
                raise NotApplicable(f"{place}: what one thread does after line {guard.line} is not one loop")
            return _of_loop(problem, place, kernel, guard, loops[0])
    raise NotApplicable(f"{place} is not left to one thread of a block")


def _left_alone(kernel: Node) -> Iterator[tuple[Node, Sequence[Node]]]:
    """Early returns of all threads but the first, and the statements after each."""
    for guard in kernel.walk():
        around = guard.parent.children if guard.parent is not None else []
        if guard.kind != "IfStmt" or len(guard.children) != 2 or not _others(kernel, guard.children[0]):
            continue
        then = guard.children[1]
        inner = then.children if then.kind == "CompoundStmt" else [then]
        if len(inner) == 1 and inner[0].kind == "ReturnStmt":
            yield guard, [node for node in around if node.start_offset > guard.start_offset]


def _others(kernel: Node, condition: Node) -> bool:
    """`t != 0`, `t > 0`, `t`"""
    algebra, test = Algebra(kernel), condition.bare()
    if test.kind == "BinaryOperator" and test.opcode in ("!=", ">"):
        left, right = (algebra.polynomial(child) for child in test.children)
        return same(left, THREAD) and same(right, constant(0))
    return same(algebra.polynomial(test), THREAD)


def one_thread(kernel: Node, condition: Node) -> bool:
    """Does a condition let the first thread of a block in, and no other?"""
    algebra, test = Algebra(kernel), condition.bare()
    if test.kind == "UnaryOperator" and test.opcode == "!":
        return same(algebra.polynomial(test.children[0]), THREAD)
    if test.kind != "BinaryOperator" or test.opcode not in ("==", "<"):
        return False
    value = constant(0 if test.opcode == "==" else 1)
    left, right = (algebra.polynomial(child) for child in test.children)
    return same(left, THREAD) and same(right, value)


def _of_loop(problem: Problem, place: Place, kernel: Node, guard: Node, loop: Node) -> _Walk:
    algebra = Algebra(kernel)
    begun = counter(loop)
    inside = loop.children[4]
    statements = inside.children if inside.kind == "CompoundStmt" else [inside]
    parts = [found for statement in statements if (found := joined(statement)) is not None]
    if begun is None or not parts or len(parts) != len(statements):
        raise NotApplicable(f"{place}: the loop on line {loop.line} does more than to join elements")
    variable, initial = begun
    algebra.free.add(variable.id)
    joins = []
    for statement, (_, other, combine) in zip(statements, parts, strict=True):
        element = lds_element(kernel, other)
        if element is None or not same(algebra.polynomial(element[1]), atom(variable.id)):
            raise NotApplicable(f"{place}: the loop on line {loop.line} does not join the elements of one array in LDS")
        joins.append(_Join(statement, element[0], combine))
    if len({id(join.array) for join in joins}) != len(joins):
        raise NotApplicable(f"{place}: the loop on line {loop.line} joins the elements of an array twice")
    test, step = loop.children[2].bare(), loop.children[3].bare()
    counts = step.kind == "UnaryOperator" and step.opcode == "++"
    upward = test.kind == "BinaryOperator" and test.opcode == "<" and counts
    first = algebra.polynomial(initial)
    if not upward or not same(algebra.polynomial(test.children[0]), atom(variable.id)):
        raise NotApplicable(f"{place}: the loop on line {loop.line} does not count up by one")
    if not same(algebra.polynomial(test.children[1]), WIDTH) and not is_width(
        problem, algebra, test.children[1], block_width(problem, place, kernel)
    ):
        raise NotApplicable(f"{place}: the loop on line {loop.line} does not end with the block's width")
    if any(geometry.block[1:] != (1, 1) for geometry in problem.task.finding.profile.geometries):
        raise NotApplicable(f"{place}: the blocks have more than one dimension")
    targets = [target for target, _, _ in parts]
    second = same(first, constant(1)) and all(
        _holds_first(kernel, join.array, target, loop) for join, target in zip(joins, targets, strict=True)
    )
    if not second and not (same(first, constant(0)) and all(target.kind == "DeclRefExpr" for target in targets)):
        raise NotApplicable(f"{place}: the loop on line {loop.line} does not begin with the first element")
    check_whole_block(place, kernel, guard, before=True)
    check_before(place, guard)
    known = {id(node) for node in loop.walk()}
    for join in joins:
        for name in uses(kernel, join.array):
            if name.start_offset > guard.start_offset and id(name) not in known and not _reads_first(name):
                raise NotApplicable(f"{place}: line {name.line} looks at {join.array.name}, too")
    return _Walk(guard, loop, tuple(joins), second)


def _holds_first(kernel: Node, array: Node, target: Node, loop: Node) -> bool:
    """Is the total the array's first element, or a variable that begins with it?"""
    element = lds_element(kernel, target)
    if element is not None:
        return element[0] is array and _zero(element[1])
    if target.reference is None:
        return False
    for declared in kernel.walk():
        if declared.kind == "VarDecl" and declared.id == target.reference.id:
            initial = initializer(declared)
            value = lds_element(kernel, initial) if initial is not None else None
            changed = [n for n in kernel.walk() if written(n) == declared.id and n.start_offset < loop.start_offset]
            return value is not None and value[0] is array and _zero(value[1]) and not changed
    return False


def _zero(index: Node) -> bool:
    return index.bare().kind == "IntegerLiteral" and index.bare().value == "0"


def _reads_first(name: Node) -> bool:
    user = name.user()
    return user is not None and user.kind == "ArraySubscriptExpr" and _zero(user.children[1])


def check_before(place: Place, guard: Node) -> None:
    """Raise `NotApplicable` unless the threads of a block meet right before a statement."""
    siblings = guard.parent.children if guard.parent is not None else []
    before = [node for node in siblings if node.start_offset < guard.start_offset and node.kind != "DeclStmt"]
    if not before or not is_barrier(before[-1]):
        raise NotApplicable(f"{place}: no barrier stands right before line {guard.line}")


def _apply(problem: Problem, place: Place, found: _Walk) -> None:
    source, guard, loop = problem.source(place.path), found.guard, found.loop
    if guard.in_macro or loop.in_macro or any(index.in_macro for join in found.joins for index in _indices(join)):
        raise NotApplicable(f"{place}: the loop on line {loop.line} is written by a macro")
    indent = source.indentation(guard.start_offset)
    more = "  " if len(indent) <= 2 else indent
    left, half = unused_name(problem, "left"), unused_name(problem, "half")
    works = [_round(join, half) for join in found.joins]
    test = f"{more}if (threadIdx.x + {half} < {left})"
    lines = (
        f"for (unsigned int {left} = blockDim.x; {left} > 1;) {{",
        f"{more}const unsigned int {half} = ({left} + 1) / 2;",
        *(
            [f"{test} {works[0]}"]
            if len(works) == 1
            else [f"{test} {{", *(f"{more * 2}{w}" for w in works), f"{more}}}"]
        ),
        f"{more}{left} = {half};",
        f"{more}__syncthreads();",
        "}",
    )
    source.insert(guard.start_offset, "".join(f"{line}\n{indent}" for line in lines))
    _take_first(source, found)


def _round(join: _Join, half: str) -> str:
    """The statement that joins a thread's element with the one `half` the elements further."""
    here, there = (f"{join.array.name}[threadIdx.x{more}]" for more in ("", f" + {half}"))
    return f"{here} = {join.combine.format(a=here, b=there)};"


def _take_first(source: Source, found: _Walk) -> None:
    """The one thread's loop, without its turns."""
    loop, inside = found.loop, found.loop.children[4]
    if found.first:
        source.replace(loop.start_offset, statement_end(source, loop), "{}" if loop.parent is found.guard else ";")
        return
    if len(found.joins) > 1:
        source.replace(loop.start_offset, inside.start_offset, "")
    else:
        source.replace(loop.start_offset, found.joins[0].statement.start_offset, "")
        end = statement_end(source, found.joins[-1].statement)
        if end < loop.end_offset:
            source.replace(end, loop.end_offset, "")
    for join in found.joins:
        for index in _indices(join):
            source.replace(index.start_offset, index.end_offset, "0")


def _indices(join: _Join) -> list[Node]:
    """Of the array's element, which a condition may name, too."""
    names = uses(join.statement, join.array)
    return [user.children[1] for name in names if (user := name.user()) is not None and len(user.children) == 2]
