"""A loop over elements that one thread, one block or a small grid walks is shared out over a full grid.

The loop becomes a grid-stride loop, whatever its stride was: one, where a single thread is launched; the block, where a
single block is; the grid. Proof obligations: all that the kernel does it does in this loop, whose turns are
independent; a turn asks for no coordinate but by its element; the end of the loop is the same for all threads; no
barrier, LDS or wave operation; the launches of a loop with a smaller stride start no more than walks it. A counter of
32 bits gets 64, because the stride of a large grid can take it past the largest number where the old one did not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from intelliperf.codegen.rules.addresses import Addresses, accesses
from intelliperf.codegen.rules.block_sizes import blocks_of
from intelliperf.codegen.rules.blocks import Launch, Program
from intelliperf.codegen.rules.independence import Independence
from intelliperf.codegen.rules.lanes import initializer, written
from intelliperf.codegen.rules.lds_arrays import is_shared
from intelliperf.codegen.rules.loops import upper_limits
from intelliperf.codegen.rules.polynomials import GRID_THREAD, Algebra, atom, constant
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite, body, bounds_its_blocks
from intelliperf.codegen.rules.relabel import check_relabelling, kernel_of, kernel_place
from intelliperf.codegen.rules.statements import is_constant, is_replaceable
from intelliperf.codegen.rules.whole_waves import has_effects
from intelliperf.codegen.syntax.narrowing import is_moved, written_type
from intelliperf.codegen.syntax.source import Source
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import Declaration

THREADS = 256  # of a block, where a single thread was launched
_MOST_PER_UNIT = 16  # blocks that every unit holds at a time, where threads are not what limits them
_WIDE = {"int": "long long", "unsigned int": "unsigned long long"}
_STRIDES = {
    "thread": (constant(0), constant(1)),
    "block": (atom("threadIdx.x"), atom("blockDim.x")),
    "grid": (GRID_THREAD, atom("gridDim.x") * atom("blockDim.x")),
}
_PLAIN = ("int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long")


@dataclass(frozen=True)
class Walk:
    """The loop of one instantiation. `start` and `step`: the expressions to be written anew."""

    stride: str  # a key of _STRIDES
    start: Node
    step: Node
    counts: bool  # the step is `++i`: `step` is all of it, and `counter` what it counts
    counter: str
    narrow: Node | None  # the counter's declaration, where it has 32 bits
    loop: Node


class SpreadOverGrid:
    name = "spread_over_grid"

    def rewrite(self, problem: Problem) -> Rewrite:
        place = kernel_place(problem)
        kernel = kernel_of(place)
        walks = [_walk(problem, place, function) for function in place.functions]
        first, source = walks[0], problem.source(place.path)
        if any((w.stride, w.start.start_offset) != (first.stride, first.start.start_offset) for w in walks):
            raise NotApplicable(f"{place}: the instantiations of the kernel need different rewrites")
        shapes = problem.task.finding.profile.geometries
        if any(math.prod(shape.grid) * 2 > filling(problem, math.prod(shape.block)) for shape in shapes):
            raise NotApplicable(f"{place}: the grid fills the device already")
        with problem.all_or_nothing():
            if first.stride != "grid":
                source.replace(
                    first.start.start_offset, first.start.end_offset, "blockIdx.x * blockDim.x + threadIdx.x"
                )
                step = "gridDim.x * blockDim.x"
                text = f"{first.counter} += {step}" if first.counts else step
                source.replace(first.step.start_offset, first.step.end_offset, text)
            narrow = next((walk for walk in walks if walk.narrow is not None), None)
            if narrow is not None and narrow.narrow is not None:
                _widen(source, place, narrow.loop, narrow.narrow)
            program = Program(problem.task.sources)
            launches = program.launches(kernel.name)
            blocks = max(_enlarge(problem, program, launch, first.stride) for launch in launches)
        paths = {place.path, *(launch.path for launch in launches)}
        return Rewrite(
            tuple(problem.source(path) for path in sorted(paths)),
            f"Let {blocks} blocks share the elements that one {first.stride} of {kernel.name} walks over",
            Declaration(geometry=True, reason="the same elements, shared out over a grid that fills the device"),
        )


def _walk(problem: Problem, place: Place, kernel: Node) -> Walk:
    """Raises `NotApplicable` where the kernel is more than one such loop."""
    check_relabelling(problem, place, kernel)
    for node in kernel.everything():
        if node.kind == "VarDecl" and (is_shared(node) or node.storage == "static"):
            raise NotApplicable(f"{place}: the kernel uses LDS ({node.name})")
    loop: Node | None = None
    for statement in body(kernel).children:
        if statement.kind in ("ForStmt", "WhileStmt") and loop is None:
            loop = statement
        elif statement.kind != "DeclStmt" or has_effects(statement):
            raise NotApplicable(f"{place}: line {statement.line} does something besides the one loop over elements")
    if loop is None:
        raise NotApplicable(f"{place}: the kernel has no loop over elements")
    algebra = Algebra(kernel, blocks_of(problem, kernel))
    counter, step = _counter(place, algebra, loop)
    walk = _stride(place, algebra, loop, counter, step)
    source = problem.source(place.path)
    if not is_replaceable(source, walk.start) or not is_replaceable(source, walk.step):
        raise NotApplicable(f"{place}: the loop on line {loop.line} is written by a macro")
    upper_limits(place, algebra, loop, counter)  # which nothing changes, and which know no coordinate
    Independence(problem, place, kernel, loop, counter.id).check(frozenset((counter.id,)))
    if walk.stride == "thread":
        _check_alone(problem, place, kernel, loop, counter)
    return walk


def _check_alone(problem: Problem, place: Place, kernel: Node, loop: Node, counter: Node) -> None:
    """Raise `NotApplicable` where one thread may have been relied upon: arrays that overlap, bounds for the block."""
    if bounds_its_blocks(problem, place, kernel):
        raise NotApplicable(f"{place}: the kernel has bounds for its blocks")
    algebra = Algebra(kernel)
    algebra.free.add(counter.id)
    addresses = Addresses(algebra)
    for item in accesses(loop.children[-1]):
        if addresses.element(item.place).index != atom(counter.id):
            told = "touches another element than the turn's own, maybe of the array that is written"
            raise NotApplicable(f"{place}: line {item.place.line} {told}")


def _counter(place: Place, algebra: Algebra, loop: Node) -> tuple[Node, Node]:
    """The variable that numbers the element, and what changes it at the end of a turn."""
    step = loop.children[3].bare() if loop.kind == "ForStmt" else _last(loop.children[-1])
    target = step.children[0].bare() if step is not None and step.children else None
    counter = algebra.declared.get(target.reference.id) if target is not None and target.reference else None
    if step is None or counter is None:
        raise NotApplicable(f"{place}: the loop on line {loop.line} has no counter that it moves at the end of a turn")
    if loop.kind == "ForStmt" and loop.children[0].children != [counter]:
        raise NotApplicable(f"{place}: the loop on line {loop.line} does not declare one counter")
    writes = [node for node in loop.everything() if written(node) == counter.id]
    uses = [node for node in _after(loop) if node.reference is not None and node.reference.id == counter.id]
    if len(writes) != 1 or uses or counter.canonical not in _PLAIN or loop.in_macro or step.in_macro:
        raise NotApplicable(f"{place}: {counter.name}, by which the loop on line {loop.line} counts, is used otherwise")
    return counter, step


def _after(loop: Node) -> list[Node]:
    """What follows the loop in its function."""
    around = loop.parent
    return [node for node in around.walk() if node.start_offset > loop.end_offset] if around is not None else []


def _last(inside: Node) -> Node | None:
    return inside.children[-1].bare() if inside.kind == "CompoundStmt" and inside.children else None


def _stride(place: Place, algebra: Algebra, loop: Node, counter: Node, step: Node) -> Walk:
    """How far apart the elements of a thread are. Raises `NotApplicable`."""
    initial = initializer(counter)
    first = algebra.polynomial(initial) if initial is not None else None
    counts = step.kind == "UnaryOperator" and step.opcode == "++"
    amount: Node | None = step
    if step.kind == "CompoundAssignOperator" and step.opcode == "+=":
        amount = step.children[1]
    elif step.kind == "BinaryOperator" and step.opcode == "=":
        total = step.children[1].bare()
        sums = total.kind == "BinaryOperator" and total.opcode == "+"
        left = total.children[0].bare() if sums else total
        own = left.reference is not None and left.reference.id == counter.id
        amount = total.children[1] if sums and own else None
    far = constant(1) if counts else algebra.polynomial(amount) if amount is not None else None
    for stride, (start, distance) in _STRIDES.items():
        if initial is None or amount is None or (first, far) != (start, distance):
            continue
        begin, end = (_source_of(algebra, loop, node) for node in (initial, amount))
        known = {id(part) for node in (begin, end, initial, amount) for part in node.walk()}
        kernel = next(up for up in loop.ancestors() if up.kind == "FunctionDecl")
        settled = {node.id for node in algebra.declared.values() if id(initializer(node)) in known}
        for node in kernel.everything():
            if node.kind == "Coordinate" and id(node) not in known and not _unused(algebra, kernel, node):
                raise NotApplicable(f"{place}: the kernel uses {node.name} by itself on line {node.line}")
            reference = node.reference.id if node.reference is not None else ""
            if reference in settled - {counter.id} and id(node) not in known:
                raise NotApplicable(f"{place}: line {node.line} uses {node.reference.name if node.reference else ''}")
        narrow = counter if counter.canonical in _WIDE else None
        return Walk(stride, begin, end, counts, counter.name, narrow, loop)
    raise NotApplicable(f"{place}: the loop on line {loop.line} does not walk by the thread, the block or the grid")


def _unused(algebra: Algebra, kernel: Node, coordinate: Node) -> bool:
    """Does it only initialise a variable that nobody reads?"""
    holder = next((up for up in coordinate.ancestors() if up.kind == "VarDecl"), None)
    return holder is not None and not any(
        node.reference is not None and node.reference.id == holder.id for node in kernel.everything()
    )


def _source_of(algebra: Algebra, loop: Node, expression: Node) -> Node:
    """Where the value is written: the initial value of the variable that the expression is, if it is one."""
    node = expression.bare()
    reference = node.reference if node.kind == "DeclRefExpr" else None
    if reference is None or reference.id in algebra.modified or reference.id not in algebra.declared:
        return expression
    initial = initializer(algebra.declared[reference.id])
    if initial is None or is_constant(initial) or any(up is loop for up in initial.ancestors()):
        return expression
    return _source_of(algebra, loop, initial)


def _widen(source: Source, place: Place, loop: Node, counter: Node) -> None:
    """Count in 64 bits what was counted in 32; elsewhere than in an index the number keeps its type."""
    text = source.slice(counter.start_offset, counter.place.offset) if counter.place else ""
    around = counter.parent
    alone = around is not None and around.kind == "DeclStmt" and around.children == [counter]
    begins_by_macro = counter.begin is None or counter.begin.macro
    if begins_by_macro or not alone or (is_moved(counter) and loop.kind != "ForStmt"):
        raise NotApplicable(f"{place}: {counter.name}, which would need 64 bits, is not declared by itself")
    wide = _WIDE[counter.canonical]
    if is_moved(counter):
        source.insert(counter.start_offset, f"{wide} ")
    else:
        source.replace(counter.start_offset, counter.start_offset + len(text.rstrip().encode()), wide)
    kind = text.strip() if not is_moved(counter) and text.strip() != "auto" else written_type(counter)
    inside = loop.children[-1]
    last = _last(inside) if loop.kind == "WhileStmt" else None  # which moves the counter
    moving = {id(node) for node in last.walk()} if last is not None else set()
    for node in inside.everything():
        mine = node.kind == "DeclRefExpr" and node.reference is not None and node.reference.id == counter.id
        if not mine or id(node) in moving or _only_an_index(node):
            continue
        if node.in_macro:
            raise NotApplicable(f"{place}: a macro uses {counter.name}, which would need 64 bits, on line {node.line}")
        source.replace(node.start_offset, node.end_offset, f"static_cast<{kind}>({counter.name})")


def _only_an_index(node: Node) -> bool:
    """Does the number do nothing but say which element of an array is meant, by arithmetic that cannot wrap round?"""
    child, parent = node, node.parent
    while parent is not None and parent.kind != "ArraySubscriptExpr":
        arithmetic = parent.kind == "BinaryOperator" and parent.opcode in ("+", "-", "*") and parent.canonical == "int"
        if not arithmetic and parent.kind not in ("ParenExpr", "ImplicitCastExpr"):
            return False
        child, parent = parent, parent.parent
    return parent is not None and parent.children[1] is child


def filling(problem: Problem, threads: int) -> int:
    """How many blocks of so many threads the device holds at a time, if nothing else limits them."""
    device = problem.task.device
    held = device.limits.max_waves_per_compute_unit * device.wave_size // max(1, threads)
    return device.limits.compute_units * min(_MOST_PER_UNIT, max(1, held))


def _enlarge(problem: Problem, program: Program, launch: Launch, stride: str) -> int:
    """Returns how many blocks it starts afterwards."""
    source = problem.source(launch.path)
    threads = program.extents(launch)
    if any(other != 1 for other in threads[1:]):
        raise NotApplicable(f"{launch}: the blocks have more than one dimension")
    grid = program.grid(launch)
    if stride != "grid" and math.prod(grid) != 1:
        raise NotApplicable(f"{launch}: {math.prod(grid)} blocks would each do the work of all")
    if any(other != 1 for other in grid[1:]):
        raise NotApplicable(f"{launch}: the grid has more than one dimension")
    if stride == "thread" and threads[0] != 1:
        raise NotApplicable(f"{launch}: {threads[0]} threads would each do the work of all")
    blocks = filling(problem, THREADS if stride == "thread" else threads[0])
    _write(source, launch, "grid", blocks)
    if stride == "thread":
        _write(source, launch, "block", THREADS)
    return blocks


def _write(source: Source, launch: Launch, what: str, number: int) -> None:
    node = launch.grid if what == "grid" else launch.block
    source.replace(node.start_byte, node.end_byte, str(number))
