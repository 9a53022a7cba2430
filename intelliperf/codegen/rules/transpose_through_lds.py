"""A kernel's strided loads or its strided store become contiguous: its values go through LDS to other threads.

Every thread leaves its value in LDS; after a barrier each takes over the store of the thread
that it is in a numbering with y running fastest, and works out that thread's index and guards
again. So the same values go to the same addresses, by neighbours that touch neighbouring
memory. Proof obligations: the store is the last thing that the kernel does, and its index and
guards are computed from coordinates, parameters and constants alone. It may be the last thing
in each turn of a loop that ends the kernel, if all threads of the block go through the loop
together; then the loop's counter is one more constant, and a second barrier ends each turn.

Where the loads are the strided ones, it is the other way round: the threads do everything but the store as the thread
that they are in the numbering with y running fastest, and the store is done by the threads that did it before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from intelliperf.codegen.rules.block_plans import check_no_barrier_after, written_element
from intelliperf.codegen.rules.constants import outside_constant
from intelliperf.codegen.rules.declarations import unused_name
from intelliperf.codegen.rules.guards import condition_text, enclose_rest, statement_end
from intelliperf.codegen.rules.interchange_index import geometries, interchanged
from intelliperf.codegen.rules.lanes import written
from intelliperf.codegen.rules.lds_arrays import ELEMENT_BYTES, array_of, assigned, owner_of
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite, body
from intelliperf.codegen.rules.relabel import (
    Traffic,
    blocks_to_follow,
    check_relabelling,
    coordinate_reads,
    global_access,
    renumbering,
    spelling,
)
from intelliperf.codegen.rules.uniformity import Uniformity, exits
from intelliperf.codegen.syntax.narrowing import is_moved, written_type
from intelliperf.codegen.syntax.source import Source
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import AccessKind, SourceEvidence

MAX_THREADS = 1024  # of a block, by both vendors
WORTH_IT = 0.5  # at most this share of the store's sectors may remain
ALL_WORTH_IT = 0.75  # of the sectors of all accesses
_PURE = frozenset(
    (
        "IntegerLiteral", "CharacterLiteral", "CXXBoolLiteralExpr", "DeclRefExpr", "Coordinate", "ImplicitCastExpr",
        "CStyleCastExpr", "CXXStaticCastExpr", "CXXFunctionalCastExpr", "ParenExpr", "ConditionalOperator",
        "ConstantExpr", "SubstNonTypeTemplateParmExpr", "UnaryExprOrTypeTraitExpr", "ExprWithCleanups", "BuiltinType",
        "NonTypeTemplateParmDecl", "MemberExpr",
    )
)  # fmt: skip


@dataclass
class Path:
    """The statements from the kernel's body down to the store, with the declarations on the way."""

    store: Node
    target: Node  # what it writes
    levels: list[tuple[Node | None, list[Node]]] = field(default_factory=list)  # guard, declarations below it
    leave: Node | None = None  # an `if (…) return;` in front
    turn: Node | None = None  # the body of the loop that ends the kernel
    counter: str = ""  # id of the loop's variable


class TransposeThroughLds:
    name = "transpose_through_lds"

    def rewrite(self, problem: Problem) -> Rewrite:
        done: set[str] = set()
        return problem.rewrite_lines(
            "Move values through LDS so that neighbours read and write neighbouring memory",
            lambda evidence: [self._line(problem, evidence, done)],
        )

    def _line(self, problem: Problem, evidence: SourceEvidence, done: set[str]) -> str:
        place, kernel = global_access(problem, evidence)
        loads = evidence.access is AccessKind.LOAD
        told = "the loads" if loads else "the store"
        if kernel.name in done and loads:
            return f"{told} of {kernel.name}"
        path = store_path(place, kernel, any_line=loads)
        if path.leave is not None:
            check_no_barrier_after(problem, place, body(kernel), path.leave)
        needed = needed_variables(place, kernel, path)
        before, after = _load_sectors(problem, place, kernel) if loads else _sectors(problem, place, kernel)
        if after > (ALL_WORTH_IT if loads else WORTH_IT) * before:
            raise NotApplicable(
                f"{place}: by other threads of the block {told} would touch {after} memory sectors "
                f"instead of {before}, which is not worth a barrier"
            )
        _apply(problem, place, kernel, path, needed, loads)
        done.add(kernel.name)
        return f"{told} of {kernel.name}, {before} → {after} sectors per wave"


def store_path(place: Place, kernel: Node, any_line: bool) -> Path:
    """Raises `NotApplicable` unless the blamed store, or any, comes last, under plain guards only."""
    block = body(kernel)
    found = [
        (node, target)
        for node in kernel.walk()
        if (target := assigned(node)) is not None
        and target.kind == "ArraySubscriptExpr"
        and (any_line or node.line == place.evidence.line)
    ]
    if (any_line and not found) or (not any_line and len(found) != 1):
        told = f"{len(found)} plain stores to an array, not one" if found else "no plain store to an array"
        raise NotApplicable(f"{place} has {told}")
    path = Path(*found[-1])
    returns = [jump for jump in exits(block) if jump.kind == "ReturnStmt"]
    path.leave = _leave(place, block, returns)
    guard: Node | None = None
    while True:
        path.levels.append((guard, [child for child in block.children if child.kind == "DeclStmt"]))
        last = block.children[-1] if block.kind == "CompoundStmt" and block.children else block
        while last.kind == "IfStmt":
            if len(last.children) != 2 or last.in_macro:
                raise NotApplicable(f"{place}: the condition on line {last.line} is not a plain guard")
            guard = last
            if last.children[1].kind == "CompoundStmt":
                break
            last = last.children[1]
            path.levels.append((guard, []))
        if last.kind == "AttributedStmt":  # #pragma unroll
            last = last.children[-1]
        if last.kind == "ForStmt" and path.turn is None:
            _enter(place, kernel, path, last)
            block, guard = last.children[4], None
            continue
        if last.bare() is path.store.bare():
            return path
        if last.kind != "IfStmt":
            raise NotApplicable(f"{place}: the store is not the last thing that the kernel does")
        block = last.children[1]


def _enter(place: Place, kernel: Node, path: Path, loop: Node) -> None:
    """Raises `NotApplicable` unless all threads of the block go through the turns of the loop together."""
    first, turn = loop.children[0], loop.children[4]
    counters = [child for child in first.children if child.kind == "VarDecl"] if first.kind == "DeclStmt" else []
    names = [node for node in loop.children[2].walk() if node.kind == "DeclRefExpr" and node.reference is not None]
    named = [node for node in names if counters and node.reference and node.reference.id == counters[0].id]
    uniform = Uniformity(kernel)
    guarded = path.leave is not None or any(guard is not None for guard, _ in path.levels)
    if guarded or len(counters) != 1 or not named or uniform.varying(named[0]) or uniform.divergent(turn):
        raise NotApplicable(f"{place}: threads of a block need not go through the loop on line {loop.line} together")
    if loop.in_macro or any(True for _ in exits(turn)):
        raise NotApplicable(f"{place}: the loop on line {loop.line} is written by a macro, or left early")
    if any(written(node) == counters[0].id for node in turn.walk()):
        raise NotApplicable(f"{place}: the loop on line {loop.line} changes its counter inside")
    path.turn, path.counter = turn, counters[0].id


def _leave(place: Place, block: Node, returns: list[Node]) -> Node | None:
    if not returns:
        return None
    guard = next((child for child in block.children if any(part is returns[0] for part in child.walk())), None)
    if len(returns) > 1 or guard is None or guard.kind != "IfStmt" or len(guard.children) != 2 or guard.in_macro:
        raise NotApplicable(f"{place}: threads leave the kernel on line {returns[0].line}")
    branch = guard.children[1]
    if branch is not returns[0] and not (branch.kind == "CompoundStmt" and branch.children == [returns[0]]):
        raise NotApplicable(f"{place}: the early return on line {returns[0].line} does more than leave")
    return guard


def _conditions(path: Path) -> list[Node]:
    guards = [guard for guard, _ in path.levels if guard is not None]
    return [guard.children[0] for guard in (*guards, *([path.leave] if path.leave else []))]


def needed_variables(place: Place, kernel: Node, path: Path) -> set[str]:
    """Ids of the local variables that the index and the guards are made of. Raises if they are not pure."""
    target = path.target
    array = array_of(target)
    root = array if array.kind == "DeclRefExpr" else owner_of(array)
    parameters = {child.id for child in kernel.children if child.kind == "ParmVarDecl"}
    if root is None or root.reference is None or root.reference.id not in parameters:
        raise NotApplicable(f"{place}: the store does not go through a pointer parameter")
    modified = {identity for node in kernel.everything() if (identity := written(node)) is not None}
    declared = {node.id: node for node in kernel.walk() if node.kind == "VarDecl"}
    on_path = {node.id for _, statements in path.levels for statement in statements for node in statement.children}
    pending: list[Node] = [target.children[1], *_conditions(path)]
    needed: set[str] = set()
    if root.reference.id in modified or target.children[0].bare() is not array:
        raise NotApplicable(f"{place}: the stored array is not a plain parameter")
    while pending:
        expression = pending.pop()
        for node in expression.walk():
            _check_pure(place, node)
            identity = node.reference.id if node.kind == "DeclRefExpr" and node.reference is not None else ""
            if identity and identity == path.counter:
                continue
            if identity in modified:
                raise NotApplicable(
                    f"{place}: {node.reference.name if node.reference else ''} changes after its declaration"
                )
            if identity in declared and identity not in needed:
                if identity not in on_path:
                    raise NotApplicable(f"{place}: line {node.line} uses a variable of an inner block")
                needed.add(identity)
                pending.append(declared[identity])
    return needed


def _check_pure(place: Place, node: Node) -> None:
    operators = node.kind in ("BinaryOperator", "UnaryOperator") and node.opcode not in ("=", "++", "--", "*", "&", ",")
    arithmetic = node.kind == "BinaryOperator" and node.opcode in ("*", "&")
    plain = node.kind in _PURE and "isArrow" not in node.flags
    if node.kind == "VarDecl" and (
        any(c.kind == "CUDASharedAttr" for c in node.children) or node.canonical.endswith("&")
    ):
        plain = False
    elif node.kind == "VarDecl":
        plain = True
    if not (plain or operators or arithmetic):
        raise NotApplicable(f"{place}: the index or a guard depends on more than coordinates and parameters")
    if node.kind == "DeclRefExpr" and node.reference is not None and node.reference.kind == "VarDecl":
        outside = not any(
            node.reference.id == declared.id for declared in _top(node).walk() if declared.kind == "VarDecl"
        )
        if outside and not node.canonical.startswith("const "):
            raise NotApplicable(f"{place}: the index or a guard reads {node.reference.name}")
    if node.kind == "Coordinate" and node.in_macro and not node.is_whole_macro:
        raise NotApplicable(f"{place}: a coordinate is read by a macro")


def _top(node: Node) -> Node:
    return next((parent for parent in node.ancestors() if parent.kind == "FunctionDecl"), node)


def _sectors(problem: Problem, place: Place, kernel: Node) -> tuple[int, int]:
    traffic = Traffic(problem, kernel, outside_constant(problem), stores=True)
    before = after = 0
    line = place.evidence.line
    for geometry in geometries(problem, place):
        for number in blocks_to_follow(geometry):
            plain = traffic.sectors(geometry, lambda thread: thread, number)
            traded = traffic.sectors(geometry, partial(interchanged, block=geometry.block), number)
            if line in plain:
                before, after = before + plain[line], after + traded.get(line, 0)
                break
    if not before:
        raise NotApplicable(f"{place}: which elements the threads of a wave store to is not told by the source alone")
    return before, after


def _load_sectors(problem: Problem, place: Place, kernel: Node) -> tuple[int, int]:
    """Of all that the kernel accesses, as the store stays with its threads."""
    everything = Traffic(problem, kernel, outside_constant(problem))
    stores = Traffic(problem, kernel, outside_constant(problem), stores=True)
    before = after = 0
    for geometry in geometries(problem, place):
        trade = partial(interchanged, block=geometry.block)
        line = place.evidence.line
        for number in blocks_to_follow(geometry):
            plain, written_plain = (each.sectors(geometry, lambda one: one, number) for each in (everything, stores))
            traded, written_traded = (each.sectors(geometry, trade, number) for each in (everything, stores))
            if line in plain:
                break
        if line not in plain:
            raise NotApplicable(f"{place}: which elements the threads of a wave load is not told by the source alone")
        before += sum(plain.values())
        after += sum(traded.values()) - sum(written_traded.values()) + sum(written_plain.values())
    return before, after


def _renumber(problem: Problem, place: Place, kernel: Node, path: Path, names: Mapping[str, str]) -> None:
    """All that the kernel does but the store is done by the thread with y running fastest; `names` are its x and y."""
    check_relabelling(problem, place, kernel)
    reads = coordinate_reads(place, "threadIdx")
    if path.leave is not None and any(node.kind == "Coordinate" for node in path.leave.children[0].walk()):
        raise NotApplicable(f"{place}: the early return on line {path.leave.line} asks for coordinates itself")
    source = problem.source(place.path)
    target = path.target
    for node in reads:
        spelling(source, place, node)
        inside = target.start_offset <= node.start_offset < target.end_offset
        if node.name[-1] in "xy" and not inside:
            source.replace(node.start_offset, node.end_offset, names[node.name[-1]])


def stored_type(place: Place, kernel: Node, target: Node) -> str:
    """The type of what is stored, in the program's own words."""
    array = array_of(target)
    if array.kind == "DeclRefExpr" and array.reference is not None:
        return written_element(place, kernel, array.reference.name)
    if len(place.functions) > 1:
        raise NotApplicable(f"{place}: the kernel is a template with {len(place.functions)} instantiations")
    return target.canonical


def _apply(problem: Problem, place: Place, kernel: Node, path: Path, needed: set[str], loads: bool) -> None:
    source = problem.source(place.path)
    whole = body(kernel)
    target = path.target
    element = stored_type(place, kernel, target)
    size = ELEMENT_BYTES.get(target.canonical)
    if size is None:
        raise NotApplicable(f"{place}: elements of type {target.canonical} have an unknown size")
    limit = problem.task.device.limits.lds_bytes_per_block
    rows = MAX_THREADS + MAX_THREADS // 32
    if rows * size > limit or Uniformity(kernel).divergent(whole):
        raise NotApplicable(f"{place}: {rows * size} bytes of LDS are more than the device has")
    if target.in_macro or whole.in_macro or path.store.in_macro:
        raise NotApplicable(f"{place}: the store is written by a macro")
    keys = ("store_tile", "store_slot", "thread_x", "thread_y", "thread_number")
    tile, slot, x, y, number = (unused_name(problem, key) for key in keys)
    anew = renumbering(number, x, y)
    first, second = (x, y), ("threadIdx.x", "threadIdx.y")
    if loads:
        _renumber(problem, place, kernel, path, {"x": x, "y": y})
        opening = [
            "// The threads of the block renumbered with y running fastest; what they work out goes through LDS and is",
            "// stored by the threads in their own order.",
            *anew,
        ]
    else:
        first, second = second, first
        opening = [
            "// The result goes through LDS and is stored by the thread for which it is next to its neighbours'.",
        ]
    indent = source.indentation(whole.children[0].start_offset)
    linear = "(threadIdx.z * blockDim.y + {1}) * blockDim.x + {0}"
    opening += [
        f"__shared__ {element} {tile}[{MAX_THREADS} + {MAX_THREADS} / 32];  // skewed: no bank conflicts",
        f"const unsigned int {slot} = {linear.format(*first)};",
    ]
    source.insert(whole.start_offset + 1, "".join(f"\n{indent}{line}" for line in opening))
    source.replace(target.start_offset, target.end_offset, f"{tile}[{slot} + {slot} / 32]")
    value = f"{tile}[{slot} + {slot} / 32]"
    names = {"threadIdx.x": second[0], "threadIdx.y": second[1]}
    stored = second_half(source, place, path, needed, partial(_renamed, source, place, names), value)
    lines = [
        "__syncthreads();",
        "{" if loads else "{  // renumbered with y running fastest",
        *(f"  {line}" for line in ([] if loads else anew)),
        f"  const unsigned int {slot} = {linear.format(*second)};",
        *(f"  {line}" for line in stored),
        "}",
    ]
    added = f"\n{indent}".join(lines)
    if path.turn is not None:
        lines.append("__syncthreads();  // before the next turn's values")
        if path.turn.kind != "CompoundStmt":
            _brace(source, path.turn, lines)
            return
        indent = source.indentation(path.turn.children[0].start_offset)
        added = f"\n{indent}".join(lines)
    end = (path.turn or whole).end_offset - 1
    if path.leave is not None:
        enclose_rest(source, str(place), path.leave, end, ("", added))
        return
    start = source.data.rfind(b"\n", 0, end) + 1
    alone = not source.data[start:end].strip()
    source.insert(start if alone else end, f"{'' if alone else chr(10)}{indent}{added}\n")


def _brace(source: Source, turn: Node, after: list[str]) -> None:
    """Braces around the one statement of a loop and what comes after it."""
    start = turn.start_offset
    indent = source.indentation(turn.parent.start_offset if turn.parent is not None else start)
    alone = not source.data[source.data.rfind(b"\n", 0, start) + 1 : start].strip()
    inner = source.indentation(start) if alone else f"{indent}  "
    source.insert(len(source.data[:start].rstrip()), " {")
    source.insert(statement_end(source, turn), "".join(f"\n{inner}{line}" for line in after) + f"\n{indent}}}")


def second_half(
    source: Source, place: Place, path: Path, needed: set[str], renamed: Callable[[Node, str], str], value: str
) -> list[str]:
    """Declarations, guards and store once more, for the thread that `renamed` makes of it; it gets nodes and texts."""
    lines: list[str] = []
    depth = 0

    def opened(guard: Node, form: str) -> None:
        nonlocal depth
        text = renamed(guard.children[0], condition_text(source, str(place), guard))
        lines.append("  " * depth + form.format(text))
        depth += 1

    leave = path.leave
    for guard, statements in path.levels:
        if guard is not None:
            opened(guard, "if ({}) {{")
        for statement in statements:
            if leave is not None and statement.start_offset > leave.start_offset:
                opened(leave, "if (!({})) {{")
                leave = None
            wanted = [child.id in needed for child in statement.children]
            if any(wanted) and not all(wanted):
                raise NotApplicable(f"{place}: line {statement.line} declares more than index variables")
            if any(wanted):
                text = renamed(statement, source.slice(statement.start_offset, statement.end_offset))
                (declared, *_) = statement.children
                lines.append("  " * depth + (f"{written_type(declared)} {text};" if is_moved(declared) else text))
        if leave is not None and guard is None:
            opened(leave, "if (!({})) {{")
            leave = None
    target = path.target
    text = renamed(target, source.slice(target.start_offset, target.end_offset))
    lines.append("  " * depth + f"{text} = {value};")
    return lines + ["  " * level + "}" for level in reversed(range(depth))]


def _renamed(source: Source, place: Place, names: Mapping[str, str], node: Node, text: str) -> str:
    """`text`, which holds `node`, with the thread's coordinates replaced by the new ones."""
    reads = [part for part in node.walk() if part.kind == "Coordinate" and part.name in names]
    for word, name in {spelling(source, place, read): read.name for read in reads}.items():
        text = re.sub(rf"\b{re.escape(word)}\b", names[name], text)
    if any(name in text for name, new in names.items() if name != new):
        raise NotApplicable(f"line {node.line}: a coordinate is not written plainly")
    return " ".join(text.split())
