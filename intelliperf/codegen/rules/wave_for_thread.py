"""What one thread of a block does alone, while the others wait, becomes the work of the first 32 of them.

`if (threadIdx.x == 0) { loop; store; }` lets 32 lanes in: they share the loops out as `row_per_wave` does, put together
what these carry, and the first of them stores. Proof obligations, besides those of the loops: blocks are whole groups
of 32 in one dimension, all of whose threads get there; what the part reads of the thread's own variables is the same
for all of a block; what it sets, nobody else reads; nobody leaves the kernel in it; where its loops touch memory that
is written elsewhere, barriers stand before and behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from intelliperf.codegen.rules import groups
from intelliperf.codegen.rules.addresses import Addresses, accesses
from intelliperf.codegen.rules.block_sizes import blocks_of
from intelliperf.codegen.rules.blocks import Program
from intelliperf.codegen.rules.bounds import conjuncts
from intelliperf.codegen.rules.declarations import unused_name
from intelliperf.codegen.rules.lanes import initializer, written
from intelliperf.codegen.rules.methods import METHOD_CALLS
from intelliperf.codegen.rules.polynomials import GRID_THREAD, Algebra, Polynomial, atom, constant
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite, body
from intelliperf.codegen.rules.relabel import check_relabelling, kernel_of, kernel_place
from intelliperf.codegen.rules.row_loops import RowAlgebra, lds_variables
from intelliperf.codegen.rules.row_per_wave import Names, level, write_plan
from intelliperf.codegen.rules.row_plans import RowPlan
from intelliperf.codegen.rules.statements import callee_name
from intelliperf.codegen.rules.uniformity import LOOPS, Uniformity, exits
from intelliperf.codegen.syntax.source import Splice
from intelliperf.codegen.syntax.tree import Node

_THREAD = atom("threadIdx.x")
_FIRST = {  # a thread that is the first, and how the first 32 are told
    "block": (_THREAD, f"threadIdx.x < {groups.LANES}"),
    "grid": (GRID_THREAD, f"(blockIdx.x == 0 && threadIdx.x < {groups.LANES})"),
}


@dataclass(frozen=True)
class Alone:
    """An `if` that lets one thread of a block in. `test`: the part of its condition that does, to become `text`."""

    guard: Node
    test: Node
    text: str

    @property
    def branch(self) -> Node:
        return self.guard.children[1]


class WaveForThread:
    name = "wave_for_thread"

    def rewrite(self, problem: Problem) -> Rewrite:
        place = kernel_place(problem)
        kernel = kernel_of(place)
        program = Program(problem.task.sources)
        for launch in program.launches(kernel.name):
            width, *others = program.extents(launch)
            if width % groups.LANES or any(other != 1 for other in others):
                raise NotApplicable(f"{launch}: blocks of {width} threads are not whole groups of {groups.LANES}")
        source = problem.source(place.path)
        edits: list[list[Splice]] = []
        lines: list[int] = []
        with problem.all_or_nothing():
            for function in place.functions:
                before = list(source.splices)
                plans = _plans(problem, place, function)
                lines = sorted({row.loop.line for _, plan in plans for row in plan.loops})
                for alone, plan in plans:
                    _write(problem, place, alone, plan)
                edits.append([splice for splice in source.splices if splice not in before])
                if edits[1:] and edits[-1]:
                    raise NotApplicable(f"{place}: the instantiations of the kernel need different rewrites")
        return Rewrite(
            (source,),
            f"Let {groups.LANES} threads of a block of {kernel.name} share the loops that one of them ran alone, "
            f"on line {', '.join(map(str, lines))}",
        )


def _plans(problem: Problem, place: Place, kernel: Node) -> list[tuple[Alone, RowPlan]]:
    """The parts of one thread whose loops can be shared out. Raises `NotApplicable` where there are none."""
    found: list[tuple[Alone, RowPlan]] = []
    refused: list[str] = []
    for alone in _parts(problem, kernel):
        if not any(node.kind in LOOPS for node in alone.branch.walk()):
            continue
        plan = RowPlan(kernel, (alone.branch,), alone=True)
        try:
            _check(problem, place, plan, alone)
        except NotApplicable as reason:
            refused.append(str(reason))
            continue
        refused += plan.refused
        if plan.loops:
            found.append((alone, plan))
    if not found:
        told = f"{place}: no thread of a block runs a loop that the others wait for"
        raise NotApplicable("; ".join(dict.fromkeys(refused)) or told)
    return found


def _parts(problem: Problem, kernel: Node) -> Iterator[Alone]:
    algebra = Algebra(kernel, blocks_of(problem, kernel))
    uniform = Uniformity(kernel)
    for guard in kernel.walk():
        if guard.kind != "IfStmt" or len(guard.children) != 2 or guard.parent is None:
            continue
        tests = list(conjuncts(guard.children[0]))
        firsts = [(test, text) for test in tests if (text := _tells_first(algebra, test)) is not None]
        if len(firsts) != 1 or guard.parent.kind != "CompoundStmt":
            continue
        if not any(uniform.varying(test) for test in tests if test is not firsts[0][0]):
            yield Alone(guard, *firsts[0])


def _tells_first(algebra: Algebra, test: Node) -> str | None:
    """What is true for the first 32 threads where `test` is for the first alone; None for another test."""
    right: Polynomial | None
    if test.kind == "UnaryOperator" and test.opcode == "!":
        left, right = algebra.polynomial(test.children[0]), constant(0)
    elif test.kind == "BinaryOperator" and test.opcode in ("==", "<"):
        left, right = algebra.polynomial(test.children[0]), algebra.polynomial(test.children[1])
        if test.opcode == "==" and left == constant(0):
            left, right = right, left
    else:
        return None
    wanted: Polynomial = constant(1 if test.opcode == "<" else 0)
    unsigned = test.opcode != "<" or test.children[0].bare().kind == "Coordinate"
    return next((text for who, text in _FIRST.values() if (left, right) == (who, wanted) and unsigned), None)


def _check(problem: Problem, place: Place, plan: RowPlan, alone: Alone) -> None:
    """Fill in the plan. Raises `NotApplicable`."""
    kernel, uniform, at = plan.function, Uniformity(plan.function), alone.guard.line
    check_relabelling(problem, place, kernel)
    if uniform.divergent(alone.guard) or uniform.divergent_exits(alone.guard.start_offset):
        raise NotApplicable(f"{place}: threads of a block may not get to line {at} together")
    if alone.guard.in_macro or alone.test.in_macro:
        raise NotApplicable(f"{place}: the condition on line {at} is written by a macro")
    for jump in exits(alone.branch):
        loops = [up for up in jump.ancestors() if up.kind in (*LOOPS, "SwitchStmt")]
        inside = bool(loops) and any(up is alone.branch for up in (loops[0], *loops[0].ancestors()))
        if jump.kind not in ("BreakStmt", "ContinueStmt") or not inside:
            raise NotApplicable(f"{place}: line {jump.line} leaves what one thread does alone")
    _check_variables(place, plan, alone, uniform)
    level(problem, place, plan, alone.branch)
    if plan.called:
        raise NotApplicable(f"{place}: line {plan.called[0].line} hands a pointer to {callee_name(plan.called[0])}")
    _check_others(place, plan, alone)


def _check_variables(place: Place, plan: RowPlan, alone: Alone, uniform: Uniformity) -> None:
    """Of the thread's own variables the part may read what all of a block have alike, and set what is its own."""
    shared = lds_variables(plan.function)
    inside = {id(node) for node in alone.branch.everything()}
    declared = {node.id: node for node in plan.function.everything() if node.kind in ("VarDecl", "ParmVarDecl")}
    outer = {key for key, node in declared.items() if id(node) not in inside and key not in shared}
    names = [node for node in plan.function.everything() if node.kind == "DeclRefExpr" and node.reference is not None]
    changed = {key for node in alone.branch.everything() if (key := written(node)) is not None} & outer
    for node in alone.branch.everything():
        if node.kind == "Coordinate" and node.name.startswith("threadIdx"):
            raise NotApplicable(f"{place}: line {node.line} uses {node.name}, which 32 threads do not share")
    for name in names:
        key = name.reference.id if name.reference is not None else ""
        if key not in outer:
            continue
        start = initializer(declared[key])
        if key in changed:
            own = id(name) in inside and (start is None or not uniform.varying(start))
        else:
            own = id(name) not in inside or not uniform.varying(name)
        if not own:
            told = "is set by one thread" if key in changed else "may differ between the threads that share the work"
            raise NotApplicable(f"{place}: {name.reference.name if name.reference else ''} on line {name.line} {told}")


def _check_others(place: Place, plan: RowPlan, alone: Alone) -> None:
    """Raise `NotApplicable` where lanes touch what is written outside of their part without a barrier between."""
    addresses = Addresses(RowAlgebra(plan.function))
    within = {id(node) for node in alone.branch.everything()}
    everywhere = accesses(plan.function, lds_variables(plan.function))
    written_at = {
        addresses.element(item.place).root for item in everywhere if item.stores and id(item.place) not in within
    }
    by_first = {id(node) for statement in plan.single for node in statement.everything()}
    for item in plan.accesses():
        root = addresses.element(item.place).root
        harmless = root not in written_at and "" not in written_at if root else not written_at
        if id(item.place) in by_first or (harmless and not item.stores):
            continue
        if not all(_meets(plan.function, alone.guard, direction, root) for direction in (-1, 1)):
            raise NotApplicable(
                f"{place}: no barrier keeps line {item.place.line} apart from what else is written there"
            )


def _meets(kernel: Node, guard: Node, direction: int, root: str) -> bool:
    """On that side of the `if`, is there a barrier before the array is touched, or nothing that could touch it?"""
    block, shared, addresses = guard.parent, lds_variables(kernel), Addresses(RowAlgebra(kernel))
    if block is None:
        return False
    at = block.children.index(guard)
    others = block.children[at + 1 :] if direction > 0 else block.children[:at][::-1]
    for statement in others:
        if callee_name(statement.bare()) == "__syncthreads":
            return True
        touched = {addresses.element(item.place).root for item in accesses(statement, shared)}
        calls = any(node.kind in ("CallExpr", *METHOD_CALLS) for node in statement.walk())
        if calls or {root, ""} & touched or (not root and touched):
            return False
    return block is body(kernel)


def _write(problem: Problem, place: Place, alone: Alone, plan: RowPlan) -> None:
    source = problem.source(place.path)
    lane, part, value = (unused_name(problem, word) for word in ("lane", "part", "row_value"))
    names = Names(lane, part, value, problem.dialect.cuda, groups.ROW)
    write_plan(problem, place, source, plan, names)
    indent = source.indentation(alone.guard.start_offset)
    comment = f"  // {groups.LANES} threads share what was one's work"
    source.insert(alone.guard.start_offset, f"const int {names.lane} = threadIdx.x;{comment}\n{indent}")
    source.replace(alone.test.start_offset, alone.test.end_offset, alone.text)
