"""Threads that each walk a chunk of consecutive elements take every n-th element instead.

Thread t of T works on the elements t*P … t*P + P - 1, one after another; neighbouring lanes are P
elements apart. With the order t, t + T, t + 2T, … neighbours touch neighbours, and the same elements
below T*P are worked on once each. Proof obligations: the chunk bounds are that polynomial of the
grid's thread number, every thread reaches the loop, and the iterations are independent.

Where the loop adds its elements up, and the block then joins what its threads have, the order is the
block's own: its threads take the elements of its chunks in turn, so that each block keeps its part.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from intelliperf.codegen.rules.block_sizes import blocks_of
from intelliperf.codegen.rules.declarations import unused_name
from intelliperf.codegen.rules.guards import statement_end
from intelliperf.codegen.rules.independence import Independence
from intelliperf.codegen.rules.lanes import initializer
from intelliperf.codegen.rules.loops import counter_of, kind_of, upper_limits
from intelliperf.codegen.rules.polynomials import GRID_THREAD, Algebra, atom, constant
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite
from intelliperf.codegen.rules.reductions import Reduction, reductions
from intelliperf.codegen.rules.relabel import kernel_of
from intelliperf.codegen.rules.statements import callee_name, is_spelled_out
from intelliperf.codegen.syntax.source import Source
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import MemorySpace, SourceEvidence

_JOINING = re.compile(r"sync|shfl|reduce|atomic", re.IGNORECASE)  # what lanes of a block pass values on with


@dataclass(frozen=True)
class Chunk:
    """A loop `for (i = t * length; i < (t + 1) * length && i < others; ++i)` of one instantiation."""

    loop: Node
    counter: Node  # its declaration
    length: str  # of a chunk, in the program's names
    bounds: tuple[str, ...]  # that all threads share, besides the end of all chunks
    start: str  # the thread's number in the grid
    elements: tuple[Node, ...] = ()  # where the loop counts from 0: the expressions that name the turn's element
    joined: bool = False  # the block puts together what its threads carry out of the loop


class InterleaveChunks:
    name = "interleave_chunks"

    def rewrite(self, problem: Problem) -> Rewrite:
        done: set[int] = set()
        return problem.rewrite_lines(
            "Let neighbouring threads take neighbouring elements, a grid's width apart from their next ones",
            lambda evidence: [self._line(problem, evidence, done)],
        )

    def _line(self, problem: Problem, evidence: SourceEvidence, done: set[int]) -> str:
        if evidence.space is MemorySpace.SHARED:
            raise NotApplicable(f"{evidence.file.name}:{evidence.line} accesses LDS only")
        place = _at_call(problem, evidence)
        kernel_of(place)
        chunks = [_chunk(problem, place, function) for function in place.functions]
        first = chunks[0]
        if any((c.length, c.bounds, c.start) != (first.length, first.bounds, first.start) for c in chunks):
            raise NotApplicable(f"{place}: the instantiations of the kernel need different rewrites")
        if first.loop.start_offset not in done:
            _apply(problem, place, first)
            done.add(first.loop.start_offset)
        return f"the loop of chunks of {first.length} elements at {place.path}:{first.loop.line}"


def _at_call(problem: Problem, evidence: SourceEvidence) -> Place:
    """The place in the kernel that the access belongs to: its own line, or that of the outermost call."""
    place = problem.place(evidence)
    if any(child.kind == "CUDAGlobalAttr" for function in place.functions for child in function.children):
        return place
    if not evidence.chain:
        return place
    frame = evidence.chain[-1]
    outer = SourceEvidence(
        evidence.kernel, frame.file, frame.line, 0, "", evidence.access, evidence.space, evidence.operation,
        evidence.element_bytes, (), evidence.quantities,
    )  # fmt: skip
    return problem.place(outer)


def _chunk(problem: Problem, place: Place, kernel: Node) -> Chunk:
    loops = [
        node
        for node in kernel.walk()
        if node.kind == "ForStmt"
        and node.begin
        and node.end
        and node.begin.line <= place.evidence.line <= node.end.line
    ]
    if not loops:
        raise NotApplicable(f"{place} is not in a loop that walks elements")
    algebra = Algebra(kernel, blocks_of(problem, kernel))
    reasons: list[str] = []
    for loop in loops:
        try:
            chunk = _from_zero(problem, place, kernel, loop) or _bounds(place, algebra, loop)
        except NotApplicable as reason:
            reasons.append(str(reason))
            continue
        if algebra.uniform.divergent(loop) or algebra.uniform.divergent_exits(loop.start_offset):
            raise NotApplicable(f"{place}: some threads do not reach the loop on line {loop.line}")
        return _proven(problem, place, kernel, chunk)
    raise NotApplicable(reasons[0])


def _proven(problem: Problem, place: Place, kernel: Node, chunk: Chunk) -> Chunk:
    own = frozenset((chunk.counter.id,))

    def check(ids: frozenset[str]) -> None:
        Independence(problem, place, kernel, chunk.loop, chunk.counter.id, chunk.elements).check(ids)

    try:
        check(own)
        return chunk
    except NotApplicable:
        carried = _carried(place, chunk)
        if not carried:
            raise
    check(own | {one.variable for one in carried})
    later = [node for node in kernel.everything() if node.start_offset > chunk.loop.end_offset]
    if not any(node.kind == "CallExpr" and _JOINING.search(callee_name(node) or "") for node in later):
        names = ", ".join(one.name for one in carried)
        raise NotApplicable(f"{place}: each thread keeps what the loop on line {chunk.loop.line} makes of {names}")
    return replace(chunk, joined=True)


def _carried(place: Place, chunk: Chunk) -> list[Reduction]:
    """What the loop adds up, in whatever order; empty where it carries something else."""
    inside = frozenset(node.id for node in chunk.loop.everything() if node.kind == "VarDecl")
    try:
        found = reductions(place, chunk.loop, inside, chunk.counter)
    except NotApplicable:
        return []
    return [] if any(one.scanned or one.place is not None for one in found) else found


def _from_zero(problem: Problem, place: Place, kernel: Node, loop: Node) -> Chunk | None:
    """A loop of as many turns as a chunk has elements, numbered by `thread * length + turn`; None for others."""
    algebra, counter = Algebra(kernel, blocks_of(problem, kernel)), counter_of(place, loop)
    initial = initializer(counter)
    low = algebra.polynomial(initial) if initial is not None else None
    if low is None or low.terms:
        return None
    limits = upper_limits(place, algebra, loop, counter)
    if len(limits) != 1 or any(name.startswith(("threadIdx", "blockIdx")) for name in limits[0].atoms):
        return None
    (length,) = limits
    algebra.free.add(counter.id)
    wanted = GRID_THREAD * length + atom(counter.id)
    elements: list[Node] = []
    inside: set[int] = set()
    for node in loop.children[-1].walk():
        if id(node) in inside or not node.category or node.kind in ("DeclRefExpr", "ImplicitCastExpr"):
            continue
        found = algebra.polynomial(node)
        if found is not None and not (found - wanted).terms:
            elements.append(node)
            inside |= {id(part) for part in node.walk()}
    uses = [node for node in loop.children[-1].walk() if node.reference is not None and node.reference.id == counter.id]
    if not elements or any(id(node) not in inside for node in uses) or length == constant(1):
        return None
    return Chunk(loop, counter, algebra.text(length), (), _thread(algebra, loop), tuple(elements))


def _bounds(place: Place, algebra: Algebra, loop: Node) -> Chunk:
    """Raise `NotApplicable` unless the loop runs over the thread's own chunk in steps of one."""
    counter = counter_of(place, loop)
    initial = initializer(counter)
    low = algebra.polynomial(initial) if initial is not None else None
    if low is None:
        raise NotApplicable(f"{place}: the loop on line {loop.line} starts at what is not known to be a thread's chunk")
    length = low.factor_of("threadIdx.x")
    if not length.terms or (low - GRID_THREAD * length).terms or length == constant(1):
        raise NotApplicable(
            f"{place}: the loop on line {loop.line} does not start at the thread's number times a length"
        )
    if any(name.startswith(("threadIdx", "blockIdx")) for name in length.atoms):
        raise NotApplicable(f"{place}: the chunks of the loop on line {loop.line} are not equally long")
    shared: list[str] = []
    ends = 0
    for bound in upper_limits(place, algebra, loop, counter):
        if not (bound - low - length).terms:
            ends += 1
        elif any(name.startswith(("threadIdx", "blockIdx")) for name in bound.atoms):
            raise NotApplicable(f"{place}: the loop on line {loop.line} does not end where the next chunk begins")
        else:
            shared.append(algebra.text(bound))
    if not ends:
        raise NotApplicable(f"{place}: the loop on line {loop.line} does not end where the next chunk begins")
    return Chunk(loop, counter, algebra.text(length), tuple(shared), _thread(algebra, loop))


def _thread(algebra: Algebra, loop: Node) -> str:
    """The grid's number of the thread: a variable that holds it, or the sum itself."""
    for declared in algebra.declared.values():
        initial = initializer(declared)
        visible = declared.parent is not None and declared.parent.parent in list(loop.ancestors())
        if (
            not visible
            or initial is None
            or declared.id in algebra.modified
            or declared.start_offset > loop.start_offset
        ):
            continue
        value = algebra.polynomial(initial)
        if value is not None and not (value - GRID_THREAD).terms:
            return declared.name
    return ""


def _apply(problem: Problem, place: Place, chunk: Chunk) -> None:
    source = problem.source(place.path)
    loop, counter = chunk.loop, chunk.counter
    inside = loop.children[-1]
    closing = source.data.rfind(b")", loop.start_offset, inside.start_offset)
    opening = source.data.find(b"(", loop.start_offset)
    initial = initializer(counter)
    if loop.in_macro or inside.in_macro or closing < 0 or initial is None or counter.place is None:
        raise NotApplicable(f"{place}: the loop on line {loop.line} is written by a macro")
    if not is_spelled_out(source, initial):
        raise NotApplicable(f"{place}: the loop on line {loop.line} is written by a macro")
    kind, declared = kind_of(place, source, loop, counter)
    order = _order_of(problem, chunk, kind if not chunk.elements else chunk.elements[0].canonical.replace("const ", ""))
    if chunk.elements:
        _number_anew(source, place, chunk, order)
    else:
        limits = " && ".join(f"{counter.name} < {bound}" for bound in (*chunk.bounds, order.end))
        header = f"{declared}{counter.name} = {order.start}; {limits}; {counter.name} += {order.step}"
        source.replace(opening + 1, closing, header)
    source.insert(loop.start_offset, f"{order.declaration}\n{source.indentation(loop.start_offset)}")
    _remove_unused(source, chunk)


@dataclass(frozen=True)
class _Order:
    """Of a thread's elements: the first, how far the next one is, and the end of all; what is declared for that."""

    start: str
    step: str
    end: str
    declaration: str


def _order_of(problem: Problem, chunk: Chunk, kind: str) -> _Order:
    if chunk.joined:
        first = unused_name(problem, "block_first")
        step = f"static_cast<{kind}>(blockDim.x)"
        declaration = f"const {kind} {first} = {_product(f'static_cast<{kind}>(blockIdx.x) * {step}', chunk.length)};"
        start = f"{first} + static_cast<{kind}>(threadIdx.x)"
        return _Order(start, step, f"{first} + {_product(step, chunk.length)}", declaration)
    threads = unused_name(problem, "grid_threads")
    start = chunk.start or f"static_cast<{kind}>(blockIdx.x) * blockDim.x + threadIdx.x"
    declaration = f"const {kind} {threads} = static_cast<{kind}>(gridDim.x) * static_cast<{kind}>(blockDim.x);"
    return _Order(start, threads, _product(threads, chunk.length), declaration)


def _number_anew(source: Source, place: Place, chunk: Chunk, order: _Order) -> None:
    """The turns stay as they are; the elements that they are for become every n-th one."""
    for element in chunk.elements:
        if element.in_macro:
            raise NotApplicable(f"{place}: the element on line {element.line} is numbered by a macro")
        user = element.user()
        alone = user is None or user.kind in ("VarDecl", "ArraySubscriptExpr")
        text = f"{order.start} + {chunk.counter.name} * {order.step}"
        source.replace(element.start_offset, element.end_offset, text if alone else f"({text})")


def _product(threads: str, length: str) -> str:
    return f"{threads} * {length}" if " + " not in length else f"{threads} * ({length})"


def _remove_unused(source: Source, chunk: Chunk) -> None:
    """Take out the declarations that only the loop's old header used."""
    function = next(parent for parent in chunk.loop.ancestors() if parent.kind == "FunctionDecl")
    gone = list(chunk.elements) or [chunk.loop.children[0], chunk.loop.children[2]]
    start = set() if chunk.joined else {chunk.start}
    kept_names = {*start, *chunk.length.split(), *(word for bound in chunk.bounds for word in bound.split())}
    while True:
        found = _unused(function, gone, kept_names)
        if found is None:
            return
        gone.append(found)
        line = source.data.rfind(b"\n", 0, found.start_offset)
        if not source.data[line : found.start_offset].strip():
            source.replace(line, statement_end(source, found), "")


def _unused(function: Node, gone: list[Node], kept: set[str]) -> Node | None:
    """A declaration of one plain variable that nothing uses but what is `gone`, and that something there does use."""
    hidden = {id(node) for part in gone for node in part.walk()}
    uses: dict[str, list[bool]] = {}
    for node in function.walk():
        if node.kind == "DeclRefExpr" and node.reference is not None:
            uses.setdefault(node.reference.id, []).append(id(node) in hidden)
    for node in function.walk():
        if node.kind != "DeclStmt" or len(node.children) != 1 or id(node) in hidden or node.in_macro:
            continue
        declared = node.children[0]
        initial = initializer(declared)
        pure = initial is not None and not any(
            part.kind == "CallExpr" and callee_name(part) not in ("min", "max") for part in initial.walk()
        )
        if declared.name not in kept and pure and uses.get(declared.id) and all(uses[declared.id]):
            return node
    return None
