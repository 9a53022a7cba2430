"""A thread that walks a row becomes a group of 32 lanes that walk it together: neighbours touch neighbours.

Everything that a thread does hangs on its number in the grid alone, its row. So the lanes of a group, which share the
number, go the same way through the kernel: what one thread computed once, all of them compute; what it stored, the
first of them stores; loops along the row are shared out, and what these carry from turn to turn is a reduction, an
extreme and its place, or a running sum. The launches get 32 times as many blocks, or blocks of 32 threads where they
had one. Proof obligations: no coordinate is used but for the number and those that a block shares; every store outside
a shared loop is one statement; the turns of a shared loop touch elements of their own; blocks are whole groups, or one
thread, at every launch; no barrier, wave operation, volatile memory or LDS, but for a table in which each block
collects sums or extremes for global memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from intelliperf.codegen.rules import groups
from intelliperf.codegen.rules.block_sizes import blocks_of
from intelliperf.codegen.rules.block_tables import without_tables
from intelliperf.codegen.rules.blocks import Program
from intelliperf.codegen.rules.declarations import declare, unused_name
from intelliperf.codegen.rules.grid_edits import scaled_grid
from intelliperf.codegen.rules.guards import statement_end
from intelliperf.codegen.rules.independence import Independence
from intelliperf.codegen.rules.lanes import written
from intelliperf.codegen.rules.lds_arrays import is_shared
from intelliperf.codegen.rules.polynomials import GRID_THREAD, Algebra, atom
from intelliperf.codegen.rules.problem import (
    NotApplicable,
    Place,
    Problem,
    Rewrite,
    body,
    bounds_its_blocks,
    resolved_functions,
)
from intelliperf.codegen.rules.relabel import check_relabelling, kernel_of, kernel_place
from intelliperf.codegen.rules.row_loops import lds_variables, row_loop
from intelliperf.codegen.rules.row_plans import (
    RowPlan,
    needs_meeting,
    reads_that_wait,
    sharing_of_columns,
    sharing_of_rows,
    troubled_arrays,
)
from intelliperf.codegen.rules.row_shares import Words, renders, share_out, starts_neutral
from intelliperf.codegen.rules.statements import callee_name, is_replaceable, pointee, value_used
from intelliperf.codegen.rules.uniformity import LOOPS
from intelliperf.codegen.rules.uses import is_use, uses_of
from intelliperf.codegen.syntax import outline
from intelliperf.codegen.syntax.source import Source, Splice
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import AccessKind, Declaration

_THREADS, _THREAD = atom("blockDim.x"), atom("threadIdx.x")
_ROWS_OF_BLOCKS = atom("blockIdx.y") * atom("gridDim.x")
_NUMBERS = {  # of threads among all, and how many all are, with the block's number among all or their count
    "blockIdx.x": GRID_THREAD,
    "(blockIdx.x + blockIdx.y * gridDim.x)": (atom("blockIdx.x") + _ROWS_OF_BLOCKS) * _THREADS + _THREAD,
}
_COUNTS = {"gridDim.x": atom("gridDim.x") * _THREADS}
_LOOPS = ("ForStmt", "WhileStmt", "DoStmt")
_JUMPS = ("ReturnStmt", "BreakStmt", "ContinueStmt", "NullStmt")


@dataclass(frozen=True)
class Names:
    """New names in the rewritten text, and how wave operations are spelled."""

    lane: str
    part: str
    value: str
    cuda: bool
    sharing: groups.Sharing


@dataclass(frozen=True)
class RowPerWave:
    """With `columns`: threads that each walk down one of few columns, of which the device could hold many more."""

    name: str = "row_per_wave"
    columns: bool = False

    def rewrite(self, problem: Problem) -> Rewrite:
        place = kernel_place(problem)
        kernel_of(place)
        edits: list[list[Splice]] = []
        plans: list[RowPlan] = []
        program = Program(problem.task.sources)
        launches = program.launches(place.functions[0].name)
        single = not self.columns and all(program.threads(launch) == 1 for launch in launches)
        sharing = sharing_of_columns(problem) if self.columns else groups.ROW
        with problem.all_or_nothing():
            for kernel, tables in (without_tables(problem, one) for one in place.functions):
                plans = _plans(problem, place, kernel, tables, self.columns)
                if not self.columns and not single:
                    sharing = sharing_of_rows(problem, plans)
                before = {path: list(problem.source(path).splices) for path in problem.task.sources}
                _write(problem, place, kernel, plans, sharing, single)
                new = [s for path in before for s in problem.source(path).splices if s not in before[path]]
                edits.append(new)
                if edits[1:] and new:
                    raise NotApplicable(f"{place}: the instantiations of the kernel need different rewrites")
            for launch in launches:
                width, *others = program.extents(launch)
                if single:
                    problem.source(launch.path).replace(
                        launch.block.start_byte, launch.block.end_byte, str(groups.LANES)
                    )
                    continue
                if width % groups.LANES or any(other != 1 for other in others):
                    raise NotApplicable(f"{launch}: blocks of {width} threads are not whole groups of {groups.LANES}")
                scaled_grid(problem.source(launch.path), launch, sharing.lanes)
        lines = sorted({row.loop.line for plan in plans for row in plan.loops})
        return Rewrite(
            tuple(problem.source(path) for path in sorted(problem.task.sources)),
            f"Let {sharing.words} walk each {_what(plans)} of {place.functions[0].name} together, "
            f"in the loops on line {', '.join(map(str, lines))}"
            + (" (sums of floating-point numbers are added up in another order)" if _floats(plans) else ""),
            Declaration(geometry=True, reason=f"{sharing.lanes} lanes for each {_what(plans)} of one thread"),
        )


def _what(plans: Sequence[RowPlan]) -> str:
    return "column" if plans[0].columns else "row"


def _floats(plans: list[RowPlan]) -> bool:
    return any(
        item.whole or (item.type in ("float", "double") and item.neutral is not None)
        for plan in plans
        for row in plan.loops
        for item in row.carried
    ) or any(row.sums for plan in plans for row in plan.loops)


def _plans(problem: Problem, place: Place, kernel: Node, tables: frozenset[str], columns: bool) -> list[RowPlan]:
    """The kernel and the functions its lanes run together. `tables`: see `block_tables`. Raises `NotApplicable`."""
    check_relabelling(problem, place, kernel)
    for node in kernel.everything():
        if node.kind == "VarDecl" and (is_shared(node) or node.storage == "static") and node.id not in tables:
            raise NotApplicable(f"{place}: the kernel uses LDS ({node.name})")
        if node.kind in ("LambdaExpr", "GotoStmt", "SwitchStmt", "CXXForRangeStmt", "CXXTryStmt"):
            raise NotApplicable(f"{place}: line {node.line} holds a {node.kind}, which is not followed")
    plans = [RowPlan(kernel, (body(kernel),), columns)]
    at = 0
    while at < len(plans):
        plan = plans[at]
        level(problem, place, plan, body(plan.function))
        for call in plan.called:
            known = [other.function.name for other in plans]
            if callee_name(call) not in known:
                called = _callee(problem, place, call)
                plans.append(RowPlan(called, (body(called),), columns))
        at += 1
    if not any(plan.loops for plan in plans):
        reasons = list(dict.fromkeys(reason for plan in plans for reason in plan.refused))
        walks = "down columns side by side" if columns else "neighbouring elements in neighbouring turns"
        loops = any(node.kind in LOOPS for plan in plans for node in plan.function.everything())
        told = f"no loop of the kernel walks {walks}" if loops else "the kernel has no loop"
        raise NotApplicable("; ".join(reasons) or f"{place}: {told}")
    _check_blamed(problem, place, plans)
    return plans


def _check_blamed(problem: Problem, place: Place, plans: list[RowPlan]) -> None:
    """Raise `NotApplicable` where the loops that can be shared out are not those that the evidence blames."""
    accesses_blamed = [item for item in problem.task.evidence if item.access in (AccessKind.LOAD, AccessKind.STORE)]
    blamed = {line for item in accesses_blamed for line in (item.line, *(frame.line for frame in item.chain))}
    spans = [(row.loop.line, row.loop.end.line) for plan in plans for row in plan.loops if row.loop.end]
    if blamed and not any(first <= line <= last for line in blamed for first, last in spans):
        reasons = list(dict.fromkeys(reason for plan in plans for reason in plan.refused))
        raise NotApplicable("; ".join(reasons) or f"{place}: the blamed lines are in no loop along a row")


def level(problem: Problem, place: Place, plan: RowPlan, statement: Node) -> None:
    """A statement that all lanes of a group run together."""
    kind = statement.kind
    if kind in ("CompoundStmt", "AttributedStmt", "IfStmt", "DoStmt"):
        for child in statement.children:
            level(problem, place, plan, child)
    elif kind in ("ForStmt", "WhileStmt"):
        _loop(problem, place, plan, statement)
    elif kind == "DeclStmt" or kind in _JUMPS or kind == "Empty":
        _plain(problem, place, plan, statement, False)
    elif statement.category or kind in ("CallExpr", "ExprWithCleanups"):
        _plain(problem, place, plan, statement, True)
    elif "Attr" not in kind:
        raise NotApplicable(f"{place}: line {statement.line} holds a {kind}, which is not followed")


def _loop(problem: Problem, place: Place, plan: RowPlan, loop: Node) -> None:
    """Shared out if it can be, else run by all lanes, turn for turn."""
    try:
        found = row_loop(problem, place, plan.function, loop)
        if plan.columns and any(item.scanned for item in found.carried):
            raise NotApplicable(f"{place}: the loop on line {loop.line} carries a running sum down a column")
        if plan.alone or (found.abreast if plan.columns else found.neighbours):
            plan.loops.append(found)
            return
    except NotApplicable as reason:
        plan.refused.append(str(reason))
    refused = plan.refused[-1:]
    try:
        for child in loop.children:
            level(problem, place, plan, child)
    except NotApplicable as reason:
        raise NotApplicable("; ".join(dict.fromkeys((*refused, str(reason))))) from None


def _plain(problem: Problem, place: Place, plan: RowPlan, statement: Node, alone: bool) -> None:
    """An expression that all lanes compute, or a store for the first of them."""
    stores = [item for item in plan.accesses(statement) if item.stores]
    for call in statement.walk():
        if call.kind in ("CXXNewExpr", "CXXDeleteExpr"):
            raise NotApplicable(f"{place}: line {call.line} allocates")
        if call.kind == "CXXMemberCallExpr":
            Independence(problem, place, plan.function, call, "").check_method(call)
        if call.kind == "CallExpr" and not callee_name(call).startswith(("atomic", "unsafeAtomic")):
            _call(problem, place, plan, call)
        elif call.kind == "CallExpr" and (value_used(call) or not alone):
            raise NotApplicable(f"{place}: line {call.line} uses what {callee_name(call)} returns")
    if not stores:
        return
    changed = {identity for node in statement.walk() if (identity := written(node)) is not None}
    changed -= lds_variables(plan.function)
    root = statement.bare()
    one = root.kind in ("BinaryOperator", "CompoundAssignOperator", "UnaryOperator", "CallExpr", "CXXOperatorCallExpr")
    if statement.kind == "DeclStmt":
        raise NotApplicable(f"{place}: line {statement.line} binds a reference, through which memory may be written")
    if not alone or len(stores) > 1 or changed or not one or statement.in_macro:
        raise NotApplicable(f"{place}: line {statement.line} does more than one store")
    plan.single.append(statement)


def _call(problem: Problem, place: Place, plan: RowPlan, call: Node) -> None:
    if any(pointee(argument.canonical) is not None for argument in call.children[1:]):
        plan.called.append(call)
        return
    Independence(problem, place, plan.function, call, "").check_call(call)


def _callee(problem: Problem, place: Place, call: Node) -> Node:
    """The one definition of a function that gets pointers. Raises `NotApplicable`."""
    name = callee_name(call)
    if not name:
        raise NotApplicable(f"{place}: line {call.line} calls through a pointer")
    homes = [
        path
        for path, text in problem.task.sources.items()
        if name in text and any(region.name == name for region in outline.functions(text))
    ]
    found = [
        function
        for path in homes
        for root in problem.declarations(path, name)
        for function in resolved_functions(root)
        if function.name == name
    ]
    if len(found) != 1 or found[0].kind != "FunctionDecl":
        raise NotApplicable(f"{place}: {name}, which gets a pointer on line {call.line}, has {len(found)} definitions")
    return found[0]


def _own_path(problem: Problem, place: Place, function: Node) -> str:
    if function.place is None:
        raise NotApplicable(f"{place}: {function.name} has no place in the sources")
    for path in problem.task.sources:
        if function.place.file.endswith(path) and any(
            region.name == function.name for region in outline.functions(problem.task.sources[path])
        ):
            return path
    raise NotApplicable(f"{place}: {function.name} is not in the project's sources")


def _check_callers(problem: Problem, place: Place, plans: list[RowPlan]) -> None:
    """Raise `NotApplicable` where a function that is rewritten is called from elsewhere, too."""
    for plan in plans[1:]:
        name = plan.function.name
        if not plan.loops:
            continue
        seen = {
            (place.path if other is plans[0] else _own_path(problem, place, other.function), node.start_offset)
            for other in plans
            for call in other.called
            for node in call.children[0].walk()
            if is_use(node, name)
        }
        for path, offset in sorted(uses_of(problem, name) - seen):
            line = outline.encoded(problem.task.sources[path]).count(b"\n", 0, offset) + 1
            raise NotApplicable(f"{place}: {name} is also used elsewhere ({path}:{line}), not by whole groups of lanes")


def _write(
    problem: Problem, place: Place, kernel: Node, plans: list[RowPlan], sharing: groups.Sharing, single: bool
) -> None:
    _check_callers(problem, place, plans)
    if single:
        _number_of_single(problem, place, kernel)
    else:
        _number(problem, place, kernel, sharing)
    names = Names(
        unused_name(problem, "lane"),
        unused_name(problem, "part"),
        unused_name(problem, "row_value"),
        problem.dialect.cuda,
        sharing,
    )
    for plan in plans:
        if plan.loops or plan.single:
            _write_function(problem, place, plan, names, plan.function is kernel)


def _write_function(problem: Problem, place: Place, plan: RowPlan, names: Names, first: bool) -> None:
    source = problem.source(place.path if first else _own_path(problem, place, plan.function))
    if not first and troubled_arrays(plan):
        raise NotApplicable(f"{place}: lanes would have to agree on what {plan.function.name} writes")
    write_plan(problem, place, source, plan, names)
    whole = body(plan.function)
    start = next((child for child in whole.children if child.begin is not None), whole)
    source.insert(
        whole.start_offset + 1,
        f"\n{source.indentation(start.start_offset)}const int {names.lane} = {names.sharing.lane};"
        + (f"  // {names.sharing.lanes} lanes share a {_what([plan])}" if first else ""),
    )


def write_plan(problem: Problem, place: Place, source: Source, plan: RowPlan, names: Names) -> None:
    """What the lanes do, each of which knows its number."""
    whole, troubled = body(plan.function), troubled_arrays(plan)

    def helper(base: str, render: Callable[[str], str]) -> str:
        return declare(problem, source, whole.start_offset, base, render)

    def meeting(statement: Node) -> str:
        if not needs_meeting(plan, statement, troubled):
            return ""
        return helper("group_meet", lambda name: groups.meeting(name, names.cuda, names.sharing)) + "();"

    for statement in reads_that_wait(place, plan, troubled):
        text = helper("group_meet", lambda name: groups.meeting(name, names.cuda, names.sharing))
        source.insert(statement.start_offset, f"{text}();\n{source.indentation(statement.start_offset)}")
    for row in plan.loops:
        helpers = {
            item.variable: helper(f"group_{item.kind}", partial(renders, item, names.cuda, names.sharing))
            for item in row.carried
        }
        for most in (item.scaled[0] for item in row.carried if item.scaled is not None):
            rendered = partial(renders, most, names.cuda, names.sharing)
            helpers[most.variable] = helper(f"group_{most.kind}", rendered)
        if row.sums:
            helpers[""] = helper(
                "group_sum", lambda name: groups.reduction(name, "{a} + {b}", names.cuda, names.sharing)
            )
        if any(item.scanned for item in row.carried):
            helpers["last"] = helper("group_last", lambda name: groups.last(name, names.cuda))
        plain = {item.variable for item in row.carried if starts_neutral(plan.function, row, item)}
        words = Words(names.lane, names.sharing, names.part, meeting(row.loop))
        share_out(source, place, row, words, helpers, plain)
    together = {id(call) for call in plan.called}
    for number, statement in enumerate(plan.single):
        value = names.value + (f"_{number + 1}" if number else "")
        _store_once(source, place, statement, (names.lane, value, meeting(statement)), together)


def _store_once(source: Source, place: Place, statement: Node, words: tuple[str, str, str], together: set[int]) -> None:
    """The store by the first lane; what all lanes have to compute together is computed before."""
    lane, value, meet = words
    indent = source.indentation(statement.start_offset)
    lead = f"{meet}\n{indent}" if meet else ""
    alone = statement.parent is None or statement.parent.kind != "CompoundStmt"
    calls = [node for node in statement.walk() if id(node) in together]
    if not calls:
        opened, closed = ("{ ", " }") if alone and lead else ("", "")
        source.insert(statement.start_offset, f"{opened}{lead}if ({lane} == 0) ")
        if closed:
            source.insert(statement_end(source, statement), closed)
        return
    target, operand = statement.bare().children[0], statement.bare().children[-1]
    inside = {id(node) for node in operand.walk()}
    if not statement.bare().opcode.endswith("=") or any(id(call) not in inside for call in calls):
        raise NotApplicable(f"{place}: line {statement.line} stores to where a function of rows leads")
    written_to = source.slice(target.start_offset, target.end_offset)
    source.replace(statement.start_offset, operand.start_offset, f"{'{ ' if alone else ''}{lead}const auto {value} = ")
    end = f"\n{indent}if ({lane} == 0) {written_to} {statement.bare().opcode} {value};{' }' if alone else ''}"
    source.insert(statement_end(source, statement), end)


def _number(problem: Problem, place: Place, kernel: Node, sharing: groups.Sharing) -> None:
    """Every use of the thread's number becomes that of its group; other uses of coordinates end the proof."""
    source = problem.source(place.path)
    algebra = Algebra(kernel, blocks_of(problem, kernel))
    done: set[int] = set()
    for node in kernel.everything():
        if node.kind != "Coordinate" or id(node) in done or _is_shared_by_block(node):
            continue
        found = _whole_number(algebra, node)
        if found is None:
            raise NotApplicable(f"{place}: line {node.line} uses {node.name} other than for the thread's number")
        top, block, count = found
        done |= {id(part) for part in top.walk()}
        if top.begin is None or top.end is None or not (is_replaceable(source, top) or _ends_whole(top)):
            raise NotApplicable(f"{place}: the thread's number on line {top.line} is written by a macro")
        wide = top.canonical.replace("const ", "") not in ("int", "unsigned int", "short", "unsigned short")
        opened, closed = (f"static_cast<{top.canonical}>(", ")") if wide else ("", "")
        block = f"{opened}{block}{closed}"
        text = f"{block} * (blockDim.x / {sharing.lanes})" + ("" if count else f" + {sharing.number}")
        user = top.user()
        bound = user is None or user.kind in ("VarDecl", "BinaryOperator") and user.opcode in ("", "=")
        source.replace(top.start_offset, top.end_offset, text if bound else f"({text})")


def _whole_number(algebra: Algebra, coordinate: Node) -> tuple[Node, str, bool] | None:
    """The expression around a coordinate that is the thread's number or their count, and that of its blocks."""
    for parent in coordinate.ancestors():
        found = algebra.polynomial(parent) if parent.category else None
        for known in (_NUMBERS, _COUNTS) if found is not None else ():
            for block, value in known.items():
                if found is not None and not (found - value).terms:
                    return parent, block, known is _COUNTS
    return None


def _is_shared_by_block(coordinate: Node) -> bool:
    """All threads of a block have it, and a grid that grows in its first dimension changes it for none."""
    return coordinate.name[-1] in "yz" and coordinate.name.startswith(("blockIdx", "gridDim"))


def _number_of_single(problem: Problem, place: Place, kernel: Node) -> None:
    """What the one thread of a block read of its place, as all lanes of a group have to read it."""
    if bounds_its_blocks(problem, place, kernel):
        raise NotApplicable(f"{place}: the kernel has bounds for its blocks")
    source = problem.source(place.path)
    for node in kernel.everything():
        if node.kind != "Coordinate" or not node.name.startswith(("threadIdx", "blockDim")):
            continue
        if node.in_macro and not node.is_whole_macro:
            raise NotApplicable(f"{place}: {node.name} is read by a macro")
        source.replace(node.start_offset, node.end_offset, "0" if node.name.startswith("threadIdx") else "1")


def _ends_whole(top: Node) -> bool:
    """Are the first and the last word macros that stand for a coordinate alone?"""
    edges = [node for node in top.walk() if node.kind == "Coordinate"]
    return all(not node.in_macro or node.is_whole_macro for node in edges)
