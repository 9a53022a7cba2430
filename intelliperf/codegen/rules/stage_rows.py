"""Threads that each walk along a row of their own read it through LDS, filled by neighbours together.

Thread t reads in[t * S + j] for j = 0, 1, …: neighbouring lanes are a row apart. The block copies a
strip of its rows to LDS first, with neighbouring lanes on neighbouring elements, and each thread then
works on its part of the strip as before, so that sums keep their order. Proof obligations: the row is
the grid's thread number; every element that is copied is one that the original reads; nothing is
stored before the loop ends; all threads reach the barriers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from intelliperf.codegen.rules.block_plans import written_element
from intelliperf.codegen.rules.block_sizes import blocks_of
from intelliperf.codegen.rules.declarations import unused_name
from intelliperf.codegen.rules.guards import condition_text, statement_end
from intelliperf.codegen.rules.independence import Independence
from intelliperf.codegen.rules.lanes import initializer
from intelliperf.codegen.rules.lds_arrays import ELEMENT_BYTES, is_stored
from intelliperf.codegen.rules.loops import counter_of, kind_of, upper_limits
from intelliperf.codegen.rules.polynomials import GRID_THREAD, Algebra, Polynomial, atom
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite, body
from intelliperf.codegen.rules.relabel import kernel_of
from intelliperf.codegen.rules.statements import callee_name
from intelliperf.codegen.rules.uniformity import LOOPS, exits
from intelliperf.codegen.syntax.source import Source
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import AccessKind, SourceEvidence

MAX_TILE_BYTES = 20 * 1024  # three such blocks fit into 64 KiB
STRIP_BYTES = (128, 64)  # of a row, widest first: whole lines
MAX_ROWS = 256
_UNSAFE = re.compile(r"sync|barrier|atomic|fence|shfl|ballot|\basm\b|volatile|__shared__|\bgoto\b")
_CONDITIONAL = ("IfStmt", "ConditionalOperator", "SwitchStmt", "LambdaExpr", *LOOPS)


@dataclass(frozen=True)
class Walk:
    """The loop of one instantiation. `guard` keeps threads without a row out, by `if (row < rows)`."""

    loop: Node
    counter: Node
    reads: tuple[Node, ...]  # of the staged array, all of the thread's row
    width: str  # of a row as far as it is walked, in the program's names
    stride: str
    guard: Node | None
    leaves: bool  # is the guard an early return?
    rows: str
    root: str


class StageRows:
    name = "stage_rows"

    def rewrite(self, problem: Problem) -> Rewrite:
        return problem.rewrite_lines(
            "Read rows through LDS, filled by neighbouring threads together",
            lambda evidence: [self._line(problem, evidence)],
            AccessKind.LOAD,
        )

    def _line(self, problem: Problem, evidence: SourceEvidence) -> str:
        place = problem.place(evidence)
        kernel_of(place)
        walks = [_walk(problem, place, function) for function in place.functions]
        if any((w.width, w.stride, w.rows) != (walks[0].width, walks[0].stride, walks[0].rows) for w in walks):
            raise NotApplicable(f"{place}: the instantiations of the kernel need different rewrites")
        size = max(_size(place, walk) for walk in walks)
        strip = _strip(problem, place, size)
        _apply(problem, place, place.functions[0], walks[0], strip)
        return f"{walks[0].root} at {place}, {strip[1]} elements of {strip[0]} rows at a time"


def _size(place: Place, walk: Walk) -> int:
    element = re.sub(r"\b(?:const|volatile) ", "", walk.reads[0].canonical)
    if element not in ELEMENT_BYTES:
        raise NotApplicable(f"{place}: elements of type {element} have an unknown size")
    return ELEMENT_BYTES[element]


def _strip(problem: Problem, place: Place, size: int) -> tuple[int, int]:
    """(rows, elements of a row) of the tile."""
    rows = max((geometry.block[0] for geometry in problem.task.finding.profile.geometries), default=0)
    if not 32 <= rows <= MAX_ROWS:
        raise NotApplicable(f"{place}: a tile for the rows of {rows} threads is not worth its LDS")
    for wide in STRIP_BYTES:
        if rows * (wide + size) <= min(MAX_TILE_BYTES, problem.task.device.limits.lds_bytes_per_block):
            return rows, wide // size
    raise NotApplicable(f"{place}: a strip of {rows} rows of {size}-byte elements is too large for LDS")


def _walk(problem: Problem, place: Place, kernel: Node) -> Walk:
    loops = [
        node
        for node in kernel.walk()
        if node.kind == "ForStmt"
        and node.begin
        and node.end
        and node.begin.line <= place.evidence.line <= node.end.line
    ]
    reasons = []
    for loop in reversed(loops):
        try:
            return _walk_of(problem, place, kernel, loop)
        except NotApplicable as reason:
            reasons.append(reason)
    raise reasons[0] if reasons else NotApplicable(f"{place} is not in a loop along a row")


def _walk_of(problem: Problem, place: Place, kernel: Node, loop: Node) -> Walk:
    algebra = Algebra(kernel, blocks_of(problem, kernel))
    counter = counter_of(place, loop)
    initial = initializer(counter)
    start = algebra.polynomial(initial) if initial is not None else None
    limits = upper_limits(place, algebra, loop, counter)
    if start is None or start.terms or len(limits) != 1 or _differs(limits[0]):
        raise NotApplicable(
            f"{place}: the loop on line {loop.line} does not run from 0 to a length that all threads share"
        )
    guard, leaves, rows = _guard(place, algebra, kernel, loop)
    reads, stride, root = _reads(place, algebra, kernel, loop, counter)
    return Walk(loop, counter, reads, algebra.text(limits[0]), stride, guard, leaves, rows, root)


def _differs(polynomial: Polynomial) -> bool:
    return any(name.startswith(("threadIdx", "blockIdx")) for name in polynomial.atoms)


def _guard(place: Place, algebra: Algebra, kernel: Node, loop: Node) -> tuple[Node | None, bool, str]:
    """The statement that keeps threads without a row out of the loop, its form, and the number of rows."""
    top = body(kernel)
    returns = [jump for jump in exits(kernel) if jump.kind in ("ReturnStmt", "GotoStmt")]
    parent = loop.parent
    if parent is top and not returns:
        return None, False, ""
    if parent is top:
        guard = next((node for node in top.children if any(part is returns[0] for part in node.walk())), top)
        branch = guard.children[1] if guard.kind == "IfStmt" else guard
        plain = branch is returns[0] or (branch.kind == "CompoundStmt" and branch.children == [returns[0]])
        if len(returns) > 1 or guard.kind != "IfStmt" or len(guard.children) != 2 or not plain:
            raise NotApplicable(f"{place}: threads leave the kernel on line {returns[0].line}")
        opcode, leaves = ">=", True
    else:
        block = parent if parent is not None and parent.kind == "CompoundStmt" else loop
        guard = block.parent if block.parent is not None else top
        if guard.kind != "IfStmt" or guard.parent is not top or len(guard.children) != 2 or returns:
            raise NotApplicable(
                f"{place}: the loop on line {loop.line} is not at the top of the kernel or of one guard"
            )
        opcode, leaves = "<", False
    test = guard.children[0].bare()
    sides = [algebra.polynomial(child) for child in test.children] if test.opcode == opcode else []
    if len(sides) != 2 or sides[0] is None or sides[1] is None or (sides[0] - GRID_THREAD).terms or _differs(sides[1]):
        told = "is not just a comparison of the thread's number with that of the rows"
        raise NotApplicable(f"{place}: the guard on line {guard.line} {told}")
    if guard.start_offset > loop.start_offset or guard.in_macro:
        raise NotApplicable(f"{place}: the guard on line {guard.line} is not a plain guard in front of the loop")
    return guard, leaves, algebra.text(sides[1])


def _reads(
    place: Place, algebra: Algebra, kernel: Node, loop: Node, counter: Node
) -> tuple[tuple[Node, ...], str, str]:
    """The accesses to the thread's row, the rows' distance, and the name of the array."""
    algebra.free.add(counter.id)
    parameters = {child.id: child.name for child in kernel.children if child.kind == "ParmVarDecl"}
    found: dict[str, list[Node]] = {}
    stride = ""
    for node in loop.children[-1].walk():
        base = node.children[0].bare() if node.kind == "ArraySubscriptExpr" else node
        if base is node or is_stored(node) or base.reference is None or base.reference.id not in parameters:
            continue
        index = algebra.polynomial(node.children[1])
        step = index.factor_of("threadIdx.x") if index is not None else Polynomial({})
        if index is None or not step.terms or _differs(step) or (index - GRID_THREAD * step - atom(counter.id)).terms:
            continue
        if node.line == place.evidence.line or base.reference.id in found:
            found.setdefault(base.reference.id, []).append(node)
            stride = algebra.text(step)
    if len(found) != 1:
        raise NotApplicable(
            f"{place} reads no array parameter at the grid's thread number times a length plus the counter"
        )
    ((identity, reads),) = found.items()
    for node in reads:
        between = [parent for parent in node.ancestors() if any(up is loop for up in parent.ancestors())]
        if any(p.kind in _CONDITIONAL or (p.kind == "BinaryOperator" and p.opcode in ("&&", "||")) for p in between):
            raise NotApplicable(f"{place}: line {node.line} does not read every element of the row")
    return tuple(reads), stride, parameters[identity]


def _check_pure(problem: Problem, place: Place, kernel: Node, walk: Walk) -> list[Node]:
    """The declarations between guard and loop. Raises `NotApplicable` where the order of memory could matter."""
    source = problem.source(place.path)
    top = body(kernel)
    if match := _UNSAFE.search(source.code(top.start_offset, top.end_offset)):
        raise NotApplicable(f"{place}: the kernel uses {match.group()}")
    for jump in exits(walk.loop.children[-1]):
        if jump.kind != "ContinueStmt":
            raise NotApplicable(f"{place}: line {jump.line} leaves the loop early")
    callees = Independence(problem, place, kernel, walk.loop, walk.counter.id)
    for node in kernel.walk():
        if 0 <= node.start_offset < walk.loop.end_offset:
            _check_order(place, node, callees)
    parent = walk.loop.parent
    start = walk.guard.start_offset if walk.guard is not None else walk.loop.start_offset
    between = [
        node
        for node in (parent.children if parent is not None else [])
        if start < node.start_offset < walk.loop.start_offset
    ]
    for node in between:
        loads = any(
            part.kind in ("ArraySubscriptExpr", "CallExpr") or (part.kind == "UnaryOperator" and part.opcode == "*")
            for part in node.walk()
        )
        if node.kind != "DeclStmt" or loads or node.in_macro:
            raise NotApplicable(f"{place}: line {node.line} is not for threads without a row")
    return between


def _check_order(place: Place, node: Node, callees: Independence) -> None:
    """Raise `NotApplicable` where memory may be written."""
    if _stores(node):
        raise NotApplicable(f"{place}: line {node.line} stores before the row has been read")
    if node.kind in ("CXXMemberCallExpr", "CXXOperatorCallExpr", "CXXNewExpr"):
        raise NotApplicable(f"{place}: line {node.line} calls a method or operator before the row has been read")
    if node.kind == "CallExpr":
        name = callee_name(node)
        if not name or any(_open(child) for child in node.children[1:]):
            raise NotApplicable(f"{place}: line {node.line} hands memory to a function before the row has been read")
        callees.check_function(name)


def _open(argument: Node) -> bool:
    """Could the function write through it?"""
    return argument.category != "prvalue" or argument.canonical.rstrip().endswith("*")


def _stores(node: Node) -> bool:
    if node.kind not in ("BinaryOperator", "CompoundAssignOperator", "UnaryOperator"):
        return False
    writes = node.opcode in ("++", "--") or (node.opcode.endswith("=") and node.opcode not in ("==", "!=", "<=", ">="))
    return writes and node.children[0].bare().kind not in ("DeclRefExpr", "MemberExpr")


def _apply(problem: Problem, place: Place, kernel: Node, walk: Walk, strip: tuple[int, int]) -> None:
    source = problem.source(place.path)
    loop, counter, guard = walk.loop, walk.counter, walk.guard
    hoisted = _check_pure(problem, place, kernel, walk)
    inside = loop.children[-1]
    if loop.in_macro or inside.in_macro or any(read.in_macro for read in walk.reads):
        raise NotApplicable(f"{place}: the loop on line {loop.line} is written by a macro")
    kind, declared = kind_of(place, source, loop, counter)
    rows, width = strip
    keys = ("tile", "staged", "strip", "has_row", "tile_row", "tile_column", "cell", "cells")
    tile, staged, start, owner, row, column, cell, cells = (unused_name(problem, key) for key in keys)
    element = written_element(place, kernel, walk.root).replace("const ", "")
    indent = source.indentation(guard.start_offset if guard is not None else loop.start_offset)
    for read in walk.reads:
        text = source.slice(read.start_offset, read.end_offset)
        source.replace(
            read.start_offset,
            read.end_offset,
            # A value, not a place: the compiler must not choose between addresses in two memories.
            f"({staged} ? static_cast<{element}>({tile}[threadIdx.x][{counter.name} - {start}]) : {text})",
        )
    index = _plain_type(walk.reads[0].children[1])
    kept = index if walk.guard is None else _plain_type(walk.guard.children[0].bare().children[0])
    wide = row if kept == index else f"static_cast<{index}>({row})"
    known = f" && {row} < {walk.rows}" if walk.guard is not None else ""
    mine = f"if ({owner}) " if walk.guard is not None else ""
    here, name = f"{tile}[{cell} / {width}][{cell} % {width}]", counter.name
    opening = [
        "// Strips of the block's rows go through LDS, so that neighbouring threads read neighbouring elements.",
        f"__shared__ {element} {tile}[{rows}][{width} + 1];  // one more against bank conflicts",
        f"const bool {staged} = blockDim.x <= {rows} && blockDim.y * blockDim.z == 1;",
        f"for ({kind} {start} = 0; {start} < {walk.width}; {start} += {width}) {{",
        f"  const unsigned int {cells} = {staged} ? blockDim.x * {width} : 0;",
        f"  for (unsigned int {cell} = threadIdx.x; {cell} < {cells}; {cell} += blockDim.x) {{",
        f"    const {kept} {row} = static_cast<{kept}>(blockIdx.x) * blockDim.x + {cell} / {width};",
        f"    const {kind} {column} = {start} + static_cast<{kind}>({cell} % {width});",
        f"    if ({column} < {walk.width}{known}) {here} = {walk.root}[{wide} * {_factor(walk.stride)} + {column}];",
        "  }",
        "  __syncthreads();",
        f"  {mine}for ({declared}{name} = {start}; {name} < {walk.width} && {name} < {start} + {width}; ++{name}) ",
    ]
    lead = f"\n{indent}".join(opening)
    first = source.data.rfind(b")", loop.start_offset, inside.start_offset)
    _replace_head(source, place, walk, hoisted, (indent, owner, lead), first)
    _close(source, kernel, walk, indent, owner)


def _factor(stride: str) -> str:
    return f"({stride})" if " + " in stride else stride


def _plain_type(expression: Node) -> str:
    return re.sub(r"\bconst ", "", expression.canonical)


def _replace_head(
    source: Source, place: Place, walk: Walk, hoisted: list[Node], texts: tuple[str, str, str], closing: int
) -> None:
    indent, owner, lead = texts
    loop, guard = walk.loop, walk.guard
    inside = loop.children[-1].start_offset
    if closing < 0:
        raise NotApplicable(f"{place}: the loop on line {loop.line} is written by a macro")
    if guard is None:
        source.replace(loop.start_offset, inside, lead)
        return
    condition = condition_text(source, str(place), guard)
    if walk.leaves:
        source.replace(guard.start_offset, statement_end(source, guard), f"const bool {owner} = !({condition});")
        source.replace(loop.start_offset, inside, lead)
        return
    moved = "".join(f"{source.slice(node.start_offset, statement_end(source, node))}\n{indent}" for node in hoisted)
    source.replace(guard.start_offset, inside, f"const bool {owner} = {condition};\n{indent}{moved}{lead}")


def _line_end(source: Source, end: int) -> int:
    """Past a comment that belongs to the statement before `end`."""
    stop = source.data.find(b"\n", end)
    rest = source.slice(end, stop) if stop >= 0 else ""
    return end + len(rest.rstrip("\r").encode()) if rest.strip().startswith("//") else end


def _close(source: Source, kernel: Node, walk: Walk, indent: str, owner: str) -> None:
    """End the loop over strips; what follows is for threads that have a row."""
    end = _line_end(source, statement_end(source, walk.loop))
    closed = f"\n{indent}  __syncthreads();\n{indent}}}"
    compound = walk.loop.parent is not None and walk.loop.parent.parent is walk.guard
    if walk.guard is None or not (compound or walk.leaves):
        source.insert(end, closed)
        return
    source.insert(end, f"{closed}\n{indent}if ({owner}) {{")
    if walk.leaves:
        last = body(kernel).end_offset - 1
        line = source.data.rfind(b"\n", 0, last) + 1
        source.insert(line if not source.data[line:last].strip() else last, f"{indent}}}\n")
