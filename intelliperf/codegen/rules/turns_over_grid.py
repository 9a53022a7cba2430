"""The turns of a loop that every thread runs are shared out over a second dimension of a grid that is too small.

A thread that numbers a column, a pixel or a sample and then writes one element in each turn needs no other thread for
that: further blocks, which have the same numbers in the first dimension, take every so manieth turn. Proof obligations:
the turns are independent and carry nothing; the kernel writes no memory but in this loop, which is in no other one, and
reads what is written nowhere else; it knows nothing of the second dimension; no barrier, LDS or wave operation; every
launch has a grid of one dimension.
"""

from __future__ import annotations

import math

from tree_sitter import Node as Text

from intelliperf.codegen.rules.addresses import Addresses
from intelliperf.codegen.rules.blocks import Launch, Program, definitions, is_changed, text_of
from intelliperf.codegen.rules.lanes import initializer
from intelliperf.codegen.rules.lds_arrays import is_shared
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite, body
from intelliperf.codegen.rules.relabel import check_relabelling, kernel_of, kernel_place
from intelliperf.codegen.rules.row_loops import RowAlgebra, RowLoop
from intelliperf.codegen.rules.row_per_wave import level
from intelliperf.codegen.rules.row_plans import RowPlan
from intelliperf.codegen.rules.row_walks import write_walk
from intelliperf.codegen.rules.spread_over_grid import filling
from intelliperf.codegen.rules.uniformity import LOOPS
from intelliperf.codegen.syntax.source import Splice
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import Declaration

MOST = 64  # blocks that share the turns of one: more have too few turns to be worth numbering their threads again


class TurnsOverGrid:
    name = "turns_over_grid"

    def rewrite(self, problem: Problem) -> Rewrite:
        place = kernel_place(problem)
        kernel = kernel_of(place)
        launches = Program(problem.task.sources).launches(kernel.name)
        shares = _shares(problem, place)
        source = problem.source(place.path)
        edits: list[list[Splice]] = []
        lines: list[int] = []
        with problem.all_or_nothing():
            for function in place.functions:
                before = list(source.splices)
                row = _loop(problem, place, function)
                lines.append(row.loop.line)
                if not row.walk.is_plain:
                    raise NotApplicable(f"{place}: the loop on line {row.loop.line} moves more than a counter")
                write_walk(source, place, row.loop, row.walk, _number(row), "gridDim.y")
                edits.append([splice for splice in source.splices if splice not in before])
                if edits[1:] and edits[-1]:
                    raise NotApplicable(f"{place}: the instantiations of the kernel need different rewrites")
            for launch in launches:
                first = _first(launch)
                problem.source(launch.path).replace(
                    launch.grid.start_byte, launch.grid.end_byte, f"dim3({first}, {shares})"
                )
        return Rewrite(
            tuple(problem.source(path) for path in sorted({place.path, *(launch.path for launch in launches)})),
            f"Let {shares} blocks share the turns of the loop on line {lines[0]} that one block of {kernel.name} took",
            Declaration(geometry=True, reason=f"{shares} blocks for each one, which share its turns"),
        )


def _shares(problem: Problem, place: Place) -> int:
    """How many blocks are to share the turns of one. Raises `NotApplicable` where the device is full."""
    shapes = problem.task.finding.profile.geometries
    if not shapes or any(extent != 1 for shape in shapes for extent in shape.grid[1:]):
        raise NotApplicable(f"{place}: the grid has more than one dimension")
    wanted = min(filling(problem, math.prod(shape.block)) // max(1, shape.grid[0]) for shape in shapes)
    if wanted < 2:
        raise NotApplicable(f"{place}: the grid fills the device already")
    return min(wanted, MOST)


def _number(row: RowLoop) -> str:
    """Of a block among those that share the turns. A first value that may be negative is not added to an unsigned."""
    start = initializer(row.counter)
    natural = row.counter.canonical.startswith("unsigned") or (start is not None and start.bare().value == "0")
    return "blockIdx.y" if natural else "static_cast<int>(blockIdx.y)"


def _loop(problem: Problem, place: Place, kernel: Node) -> RowLoop:
    check_relabelling(problem, place, kernel)
    for node in kernel.everything():
        if node.kind == "Coordinate" and node.name in ("blockIdx.y", "gridDim.y"):
            raise NotApplicable(f"{place}: the kernel uses {node.name} on line {node.line}")
        if node.kind == "VarDecl" and (is_shared(node) or node.storage == "static"):
            raise NotApplicable(f"{place}: the kernel uses LDS ({node.name})")
        if node.kind in ("LambdaExpr", "GotoStmt", "SwitchStmt", "CXXForRangeStmt", "CXXTryStmt"):
            raise NotApplicable(f"{place}: line {node.line} holds a {node.kind}, which is not followed")
    plan = RowPlan(kernel, (body(kernel),), alone=True)
    level(problem, place, plan, body(kernel))
    addresses = Addresses(RowAlgebra(kernel))
    writing = [row for row in plan.loops if any(item.stores for item in plan.accesses(row.loop.children[-1]))]
    if len(writing) != 1 or plan.single or plan.called:
        at = plan.single or plan.called
        told = (
            f"line {at[0].line} writes outside of a loop" if at else "not one loop alone writes elements of its turns"
        )
        raise NotApplicable("; ".join(dict.fromkeys(plan.refused)) or f"{place}: {told}")
    (row,) = writing
    if row.carried or row.sums or any(up.kind in LOOPS for up in row.loop.ancestors()):
        name = row.carried[0].name if row.carried else "what it works on"
        raise NotApplicable(f"{place}: the loop on line {row.loop.line} carries {name} from one turn to the next")
    inside = {id(node) for node in row.loop.everything()}
    stored = {addresses.element(item.place).root for item in plan.accesses(row.loop.children[-1]) if item.stores}
    for item in plan.accesses():
        if id(item.place) not in inside and addresses.element(item.place).root in {*stored, ""}:
            raise NotApplicable(
                f"{place}: line {item.place.line} reads what the loop on line {row.loop.line} may write"
            )
    return row


def _first(launch: Launch) -> str:
    """The grid's first dimension, the only one. Raises `NotApplicable`."""
    grid = launch.grid
    if grid.type == "identifier" and launch.function is not None:
        values = [value for value, _ in definitions(launch.function, text_of(grid))]
        shape = _alone(values[0]) if len(values) == 1 else None
        if shape is not None and not is_changed(launch.function, text_of(grid)):
            return f"{text_of(grid)}.x"
        if any(value.type in ("argument_list", "initializer_list", "parameter_list") for value in values):
            raise NotApplicable(f"{launch}: the grid ({text_of(grid)}) may have more than one dimension")
    if grid.type == "initializer_list" or _is_dim3(grid):
        shape = _alone(grid)
        if shape is None:
            raise NotApplicable(f"{launch}: the grid ({text_of(grid)}) may have more than one dimension")
        return text_of(shape)
    return text_of(grid)


def _alone(shape: Text) -> Text | None:
    """The first of a dim3's parts where the others are 1; None for others and for numbers."""
    arguments = shape.child_by_field_name("arguments") if _is_dim3(shape) else shape
    if arguments is None or arguments.type not in ("argument_list", "initializer_list", "parameter_list"):
        return None
    parts = arguments.named_children
    return parts[0] if parts and all(text_of(part) in ("1", "1u", "1U") for part in parts[1:]) else None


def _is_dim3(node: Text) -> bool:
    function = node.child_by_field_name("function")
    return node.type == "call_expression" and function is not None and text_of(function) == "dim3"
