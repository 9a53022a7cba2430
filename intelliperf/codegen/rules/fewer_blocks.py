"""A grid of one thread for each element becomes a grid that fills the device, whose threads walk over the elements.

Proof obligations: those of `whole_waves`, so that elements are worked on alike whatever thread has them, and in no
order; the kernel does nothing but number its element, compare the number with the limit, and work on the element.
One thread may then work on several, one after the other.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import tree_sitter

from intelliperf.codegen.rules.blocks import Launch, Program, definitions, is_changed, text_of
from intelliperf.codegen.rules.declarations import unused_name
from intelliperf.codegen.rules.grid_edits import capped_grid, single_extent
from intelliperf.codegen.rules.guards import condition_text, line_starts, statement_end
from intelliperf.codegen.rules.lanes import initializer, written
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, body
from intelliperf.codegen.rules.uniformity import exits
from intelliperf.codegen.rules.whole_waves import covering_grid, element_limit, rounded_up
from intelliperf.codegen.syntax.source import Source
from intelliperf.codegen.syntax.tree import Node

BLOCKS_PER_UNIT = 8  # that a unit holds at a time, of common sizes
_FEWEST_ROUNDS = 4  # elements of a thread: for fewer the loop gains nothing
_NARROW = ("int", "unsigned int")  # 32 bits: numbers of 64 do not overflow


@dataclass(frozen=True)
class Walk:
    """What there is of such a kernel."""

    declared: Node  # the statement that numbers the element
    counter: Node
    number: Node  # its value
    limit: str
    guard: Node
    leaves: bool  # `if (number >= limit) return;` instead of an `if` around the work


def walk_of(problem: Problem, place: Place, kernel: Node) -> Walk:
    """Raises `NotApplicable` where the kernel is not so, or its grid small."""
    limit = element_limit(problem, place, kernel)
    parameter = [child for child in kernel.children if child.kind == "ParmVarDecl"][limit]
    first, *rest = body(kernel).children
    counter = first.children[0] if first.kind == "DeclStmt" and len(first.children) == 1 else None
    if counter is None or not rest or rest[0].kind != "IfStmt" or first.in_macro or rest[0].in_macro:
        raise NotApplicable(f"{place}: the kernel does more than number its element before it looks at the limit")
    if any(_plain(node) not in _NARROW for node in (counter, parameter)):
        raise NotApplicable(f"{place}: the elements are not numbered in 32 bits")
    initial = initializer(counter)
    if initial is None or initial.in_macro:
        raise NotApplicable(f"{place}: {counter.name} is written by a macro, or later")
    inside = {id(node) for node in initial.walk()}
    for node in body(kernel).walk():
        if node.kind == "Coordinate" and id(node) not in inside:
            raise NotApplicable(f"{place}: the element is numbered on line {node.line}, too")
    if not any(node.kind == "Coordinate" for node in initial.walk()):
        raise NotApplicable(f"{place}: {counter.name} is not the element's number")
    guard = rest[0]
    condition_text(problem.source(place.path), str(place), guard)  # not by a macro
    leaves = guard.children[0].bare().opcode == ">="
    left = [jump for jump in exits(kernel) if jump.kind == "ReturnStmt"]
    if len(left) > leaves:
        raise NotApplicable(f"{place}: the kernel also returns on line {left[-1].line}")
    for node in kernel.walk():
        if written(node) in (counter.id, parameter.id):
            raise NotApplicable(f"{place}: {counter.name} or {parameter.name} is modified on line {node.line}")
    return Walk(first, counter, initial, parameter.name, guard, leaves)


def cap_launches(problem: Problem, place: Place, kernel: Node, per_unit: int = BLOCKS_PER_UNIT) -> int:
    """The most blocks that the launches have afterwards. Raises `NotApplicable`."""
    limit = element_limit(problem, place, kernel)
    most = problem.task.device.limits.compute_units * per_unit
    if not is_larger(problem, most):
        raise NotApplicable(f"{place}: the grid is not several times {most} blocks, {per_unit} for each unit")
    program = Program(problem.task.sources)
    for launch in program.launches(kernel.name):
        covers(launch, limit)
        program.threads(launch)
        capped_grid(problem.source(launch.path), launch, most)
    return most


def is_larger(problem: Problem, most: int) -> bool:
    """Is every grid several times `most` blocks?"""
    shapes = problem.task.finding.profile.geometries
    return min(math.prod(shape.grid) for shape in shapes) >= _FEWEST_ROUNDS * most


def covers(launch: Launch, limit: int) -> None:
    """Raise `NotApplicable` unless the launch has a thread for each element, by the argument with that number."""
    if launch.function is None or limit >= len(launch.arguments):
        raise NotApplicable(f"{launch}: the launch cannot be read")
    grid, block = single_extent(launch, launch.grid), single_extent(launch, launch.block)
    if grid is not None and block is not None:
        count = _packed(launch.arguments[limit])
        sizes = [_packed(block), *([f"{text_of(launch.block)}.x"] if block is not launch.block else [])]
        if grid.type in ("identifier", "parameter_declaration") and launch.function is not None:
            values = [value for value, _ in definitions(launch.function, text_of(grid))]
            grid = values[0] if len(values) == 1 and not is_changed(launch.function, text_of(grid)) else grid
        if any(_packed(grid) in rounded_up(count, size) for size in sizes):
            return
    covering_grid(launch, limit)


def _packed(node: tree_sitter.Node) -> str:
    return re.sub(r"\s+", "", text_of(node))


def walk_elements(
    problem: Problem, source: Source, place: Place, kernel: Node, walk: Walk, around: tuple[str, str]
) -> None:
    """`around`: texts before the loop over the elements and after it."""
    first, last = around
    step, at = unused_name(problem, "grid_threads"), unused_name(problem, "element")
    end = statement_end(source, walk.declared)
    number = source.slice(walk.declared.start_offset, walk.number.start_offset)
    number += f"static_cast<{_plain(walk.counter)}>({at}){source.slice(walk.number.end_offset, end)}"
    indent = source.indentation(walk.declared.start_offset)
    inner = indent + ("\t" if "\t" in indent else "  " if len(indent) <= 2 else indent)
    head = (
        f"{first}{indent}const long long {step} = static_cast<long long>(gridDim.x) * blockDim.x;\n"
        f"{indent}for (long long {at} = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; "
        f"{at} < {walk.limit}; {at} += {step}) {{\n{inner}{number}"
    )
    start = walk.declared.start_offset
    closing = body(kernel).end_offset - 1
    if walk.leaves:
        source.replace(start, statement_end(source, walk.guard), head)
        _close(source, closing, statement_end(source, walk.guard), indent, inner, last)
        return
    then = walk.guard.children[1]
    if then.kind == "CompoundStmt":
        source.replace(start, then.start_offset + 1, head)
        source.insert(then.end_offset, f"\n{indent}{last}")
        return
    source.replace(start, then.start_offset, f"{head}\n{inner}")
    source.insert(statement_end(source, then), f"\n{indent}}}\n{indent}{last}")


def _close(source: Source, closing: int, start: int, indent: str, inner: str, last: str) -> None:
    line = source.data.rfind(b"\n", 0, closing) + 1
    alone = not source.data[line:closing].strip()
    at = line if alone else closing
    for offset in line_starts(source, start, at):
        source.insert(offset, inner.removeprefix(indent))
    source.insert(at, f"{'' if alone else chr(10)}{indent}}}\n{indent}{last}\n")


def _plain(declared: Node) -> str:
    return declared.canonical.replace("const ", "").strip()
