"""Rounds block sizes up to a multiple of the wave, and enlarges blocks that are too small to be worth starting.

Proof obligations: the kernel uses its coordinates for nothing but the number of the element that a thread has, and
does nothing for numbers from its limit on; the grid is the limit divided by the block size, rounded up. Then the same
elements are worked on whatever the block size is. The number of blocks of one thread may be the block's. Barriers, LDS
and anything that depends on the wave end the proof.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import tree_sitter

from intelliperf.codegen.rules.blocks import Launch, Program, definitions, is_changed, text_of, walk
from intelliperf.codegen.rules.lds_arrays import is_shared
from intelliperf.codegen.rules.methods import METHOD_CALLS
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite, body, bounds_its_blocks
from intelliperf.codegen.rules.relabel import check_relabelling, kernel_of, kernel_place
from intelliperf.codegen.rules.statements import callee_name
from intelliperf.codegen.syntax import outline
from intelliperf.codegen.syntax.source import Source, without_comments
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import Declaration, Metric

STARTING_MATTERS = 0.2  # of the kernel's time: below it larger blocks gain less than their rounds may cost
LARGER = (256, 128, 64)
BLOCKS_PER_UNIT = 4  # so that no unit waits for the last ones
_CASTS = ("CStyleCastExpr", "CXXStaticCastExpr", "CXXFunctionalCastExpr")
_EFFECTS = ("CallExpr", "CXXOperatorCallExpr", "CXXMemberCallExpr", "ArraySubscriptExpr", "CompoundAssignOperator")
_BY_FUNCTIONS = ("UserDefinedConversion", "ConstructorConversion")  # casts
_COORDINATES = re.compile(r"\b(?:threadIdx|blockIdx|blockDim|gridDim|hip(?:Thread|Block|Grid)(?:Idx|Dim)_[xyz])\b")
_NUMBER = re.compile(r"(\d+)[uUlL]*")


class WholeWaves:
    name = "whole_waves"

    def rewrite(self, problem: Problem) -> Rewrite:
        place = kernel_place(problem)
        kernel = kernel_of(place)
        program = Program(problem.task.sources)
        threads = {program.threads(launch) for launch in program.launches(kernel.name)}
        written = _Written(min(threads) if len(threads) == 1 else None)
        limit = element_limit(problem, place, kernel, written)
        with problem.all_or_nothing():
            for node in {node.start_offset: node for node in written.constants}.values():
                problem.source(place.path).replace(node.start_offset, node.end_offset, "blockDim.x")
            for node in written.alone:
                bound = (user := node.user()) is None or user.kind == "VarDecl"
                text = "blockIdx.x * blockDim.x + threadIdx.x"
                problem.source(place.path).replace(node.start_offset, node.end_offset, text if bound else f"({text})")
            changed = [_resize(problem, program, launch, limit) for launch in program.launches(kernel.name)]
        sizes = ", ".join(f"{old} to {new}" for old, new in changed if old != new)
        if not sizes:
            raise NotApplicable(f"the blocks of {kernel.name} are whole waves, and starting them is not a bottleneck")
        paths = sorted({place.path, *(launch.path for launch in program.launches(kernel.name))})
        return Rewrite(
            tuple(problem.source(path) for path in paths),
            f"Give {kernel.name} blocks of whole waves, and of enough of them: {sizes}",
            Declaration(geometry=True, reason="the same elements in blocks of whole waves"),
        )


@dataclass
class _Written:
    """How freely the number and its limit may be written: the block size as a constant of this value, the limit as
    `n - 1`, and with other conditions beside it. `constants`: where the kernel says the block size so. `alone`: where
    it takes the block's number for the element's, as blocks have one thread.
    """

    threads: int | None
    constants: list[Node] = field(default_factory=list)
    alone: list[Node] = field(default_factory=list)


def element_limit(problem: Problem, place: Place, kernel: Node, written: _Written | None = None) -> int:
    """Which parameter limits the numbers of the elements; with `written`, not only in the plainest words."""
    check_relabelling(problem, place, kernel, of_blocks=True)
    _check_surroundings(problem, place, kernel)
    for node in kernel.everything():
        if node.kind == "VarDecl" and is_shared(node):
            raise NotApplicable(f"{place}: the kernel uses LDS ({node.name})")
        if node.kind == "CallExpr" and "sync" in callee_name(node):
            raise NotApplicable(f"{place}: what {callee_name(node)} does may depend on the block size")
        if node.kind == "Coordinate" and not any(_is_number(up, written) for up in (node, *node.ancestors())):
            if written is None or not _is_alone(node, written):
                raise NotApplicable(f"{place}: the kernel uses {node.name} by itself")
            written.alone.append(node)
    parameters = [child for child in kernel.children if child.kind == "ParmVarDecl"]
    for statement in body(kernel).children:
        if statement.kind == "DeclStmt" and not has_effects(statement):
            continue
        bound = _guarded_by(kernel, statement, statement is body(kernel).children[-1], written)
        for number, parameter in enumerate(parameters):
            if bound is not None and parameter.id == bound:
                return number
        break
    raise NotApplicable(f"{place}: the kernel does not begin by comparing the thread's element with a parameter")


def _check_surroundings(problem: Problem, place: Place, kernel: Node) -> None:
    """Raise `NotApplicable` where the block size may matter outside of the kernel's own text."""
    if bounds_its_blocks(problem, place, kernel):
        raise NotApplicable(f"{place}: the kernel has bounds for its blocks")
    objects = any(_makes_or_asks_object(node) for node in kernel.everything())
    for text in problem.task.sources.values():
        if re.search(r"extern\s+__shared__", without_other_kernels(text, kernel.name)):
            raise NotApplicable(f"{place}: there is LDS of any size (extern __shared__) in the sources")
        for region in outline.functions(text):
            body = outline.encoded(text)[region.start : region.end]
            inside = without_comments(body.decode("utf-8", "surrogateescape"))
            used = _COORDINATES.search(inside)
            if used and not region.is_kernel and objects:
                raise NotApplicable(f"{place}: the device function {region.name} uses {used.group()}")


def without_other_kernels(text: str, kernel: str) -> str:
    """The code of a source but for what only other kernels see."""
    data, kept, end = outline.encoded(text), b"", 0
    for region in outline.functions(text):
        if region.is_kernel and region.name != kernel and region.start >= end:
            kept, end = kept + data[end : region.start], region.end
    return without_comments((kept + data[end:]).decode("utf-8", "surrogateescape"))


def _makes_or_asks_object(node: Node) -> bool:
    """Whether functions are called that no `CallExpr` names: methods, operators, constructors, conversions."""
    return node.kind in (*METHOD_CALLS, "CXXConstructExpr", "CXXNewExpr") or node.cast in _BY_FUNCTIONS


def _guarded_by(kernel: Node, statement: Node, last: bool, written: _Written | None) -> str | None:
    """The declaration that a leading `if (number < n)` or `if (number >= n) return` compares with."""
    if statement.kind != "IfStmt" or len(statement.children) != 2:
        return None
    then = statement.children[1]
    inner = then.children if then.kind == "CompoundStmt" else [then]
    leaves = len(inner) == 1 and inner[0].kind == "ReturnStmt"
    joined, opcode = ("&&", "<") if last and not leaves else ("||", ">=") if leaves else ("", "")
    pending = [statement.children[0].bare()]
    while pending:
        test = pending.pop(0)
        if test.kind == "BinaryOperator" and test.opcode == joined and written is not None:
            pending = [child.bare() for child in test.children] + pending
        elif test.kind == "BinaryOperator" and test.opcode == opcode and _is_element(kernel, test.children[0], written):
            return _parameter(test.children[1].bare(), written)
        elif has_effects(test):
            return None
    return None


def _parameter(bound: Node, written: _Written | None) -> str | None:
    """Of `n`; also of `n - 1`, which is below it wherever n is not 0, for which there is no launch."""
    if written is not None and bound.kind == "BinaryOperator" and bound.opcode == "-":
        if _stripped(bound.children[1]).value != "1":
            return None
        bound = bound.children[0].bare()
    if bound.kind != "DeclRefExpr" or bound.reference is None or bound.reference.kind != "ParmVarDecl":
        return None
    return bound.reference.id


def _is_element(kernel: Node, expression: Node, written: _Written | None) -> bool:
    """The element's number itself, or the variable that was initialised with it."""
    node = _stripped(expression)
    if _is_number(node, written) or (written is not None and _is_alone(node, written)):
        return True
    if node.kind != "DeclRefExpr" or node.reference is None:
        return False
    for declared in kernel.walk():
        if declared.kind == "VarDecl" and declared.id == node.reference.id:
            return bool(declared.children) and _is_element(kernel, declared.children[-1], written)
    return False


def _is_number(node: Node, written: _Written | None) -> bool:
    """blockIdx.x * blockDim.x + threadIdx.x"""
    node = _stripped(node)
    if node.kind != "BinaryOperator" or node.opcode != "+":
        return False
    for whole, rest in (node.children, node.children[::-1]):
        product = _stripped(whole)
        if product.kind != "BinaryOperator" or product.opcode != "*" or _coordinate(rest) != "threadIdx.x":
            continue
        named = {_coordinate(factor) for factor in product.children}
        if named == {"blockIdx.x", "blockDim.x"}:
            return True
        others = [factor for factor in product.children if not _coordinate(factor)]
        if written is not None and "blockIdx.x" in named and len(others) == 1 and _is_constant(others[0], written):
            return True
    return False


def _is_alone(node: Node, written: _Written) -> bool:
    """The number of a block of one thread."""
    plain = not node.in_macro or node.is_whole_macro
    return written.threads == 1 and plain and _coordinate(node) == "blockIdx.x"


def _is_constant(factor: Node, written: _Written) -> bool:
    """The block size of all launches, as a number or a macro that stands for it."""
    node = _stripped(factor)
    plain = not node.in_macro or node.is_whole_macro
    found = node.kind == "IntegerLiteral" and plain and written.threads is not None
    if found and int(node.value) == written.threads:
        written.constants.append(node)
        return True
    return False


def _coordinate(node: Node) -> str:
    stripped = _stripped(node)
    return stripped.name if stripped.kind == "Coordinate" else ""


def _stripped(node: Node) -> Node:
    node = node.bare()
    while node.kind in _CASTS and node.children:
        node = node.children[-1].bare()
    return node


def has_effects(statement: Node) -> bool:
    """Whether it may write, call, or read memory."""
    return any(
        node.kind in _EFFECTS
        or (node.kind == "UnaryOperator" and node.opcode in ("*", "++", "--"))
        or (node.kind == "BinaryOperator" and node.opcode == "=")
        or (node.kind == "MemberExpr" and "isArrow" in node.flags)
        for node in statement.walk()
    )


def _resize(problem: Problem, program: Program, launch: Launch, limit: int) -> tuple[int, int]:
    """Old and new block size of a launch whose grid is the limit's argument by the block size, rounded up."""
    if launch.function is None or limit >= len(launch.arguments):
        raise NotApplicable(f"{launch}: the launch cannot be read")
    old = program.threads(launch)
    new = _better(problem, old)
    if new == old:
        return old, new
    block = _single(launch.block)
    size = text_of(block)
    grid, covered = covering_grid(launch, limit)
    if old == 1 or not all(_serves_alone(launch, text_of(_single(node))) for node in (launch.grid, launch.block)):
        _resize_at_launch(problem.source(launch.path), launch, launch.arguments[limit], new)
        return old, new
    if _is_outside(launch, size):  # a macro or a constant of the file, which others may use, too
        source = problem.source(launch.path)
        for node in (*walk(block), *walk(grid)):
            if node.type == "identifier" and text_of(node) == size:
                source.replace(node.start_byte, node.end_byte, str(new))
        return old, new
    written = [block] if block.type == "number_literal" else _own_values(launch, size)
    if block.type == "number_literal":
        if re.search(rf"\b{size}\b", covered):
            raise NotApplicable(f"{launch}: {size} is the number of elements, too")
        written += [node for node in walk(grid) if node.type == "number_literal" and text_of(node) == size]
    source = problem.source(launch.path)
    for node in written:
        literal = _NUMBER.fullmatch(text_of(node))
        if literal is None or int(literal[1]) != old:
            raise NotApplicable(f"{launch}: the block size is not written as a number")
        source.replace(node.start_byte, node.end_byte, text_of(node).replace(literal[1], str(new)))
    return old, new


def _resize_at_launch(source: Source, launch: Launch, covered: tree_sitter.Node, new: int) -> None:
    """Write the sizes into the launch: the variables that hold them now are used elsewhere, too."""
    for node in walk(covered):
        if launch.function is not None and node.type == "identifier" and is_changed(launch.function, text_of(node)):
            raise NotApplicable(f"{launch}: {text_of(node)} is changed in the launching function")
    elements = text_of(covered) if covered.type in ("identifier", "number_literal") else f"({text_of(covered)})"
    source.replace(launch.grid.start_byte, launch.grid.end_byte, f"({elements} + {new - 1}) / {new}")
    source.replace(launch.block.start_byte, launch.block.end_byte, str(new))


def _is_outside(launch: Launch, name: str) -> bool:
    """Is it a name that the launching function does not define itself?"""
    return _is_name(name) and launch.function is not None and not any(definitions(launch.function, name))


def _is_name(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z_]\w*", text) is not None


def covering_grid(launch: Launch, limit: int) -> tuple[tree_sitter.Node, str]:
    """The grid's value, which is the limit's argument, as written, by the block size, rounded up.

    Raises `NotApplicable` where it is something else.
    """
    grid, size = _single(launch.grid), text_of(_single(launch.block))
    covered = re.sub(r"\s+", "", text_of(launch.arguments[limit]))
    if size == "1" and re.sub(r"\s+", "", text_of(grid)) == covered:
        return grid, covered
    if grid.type == "identifier":
        (grid,) = _own_values(launch, text_of(grid))
    if re.sub(r"\s+", "", text_of(grid)) not in rounded_up(covered, size):
        raise NotApplicable(f"{launch}: the grid is not {covered} divided by {size} and rounded up")
    return grid, covered


def rounded_up(count: str, size: str) -> list[str]:
    """How `count` divided by `size` and rounded up is written, without spaces."""
    found = [f"({count}+{size}-1)/{size}", f"({count}-1)/{size}+1", f"1+({count}-1)/{size}"]
    if literal := _NUMBER.fullmatch(size):
        found.append(f"({count}+{int(literal[1]) - 1})/{size}")
    return found


def _better(problem: Problem, old: int) -> int:
    """Whole waves; where starting blocks takes a good part of the time, as many as leave work for all units."""
    device, profile = problem.task.device, problem.task.finding.profile
    whole = -(-old // device.wave_size) * device.wave_size
    if not profile.has(Metric.DISPATCH_TIME_NS, Metric.DEVICE_TIME_NS):
        return whole
    starting = profile.quantity(Metric.DISPATCH_TIME_NS).value / profile.quantity(Metric.DEVICE_TIME_NS).value
    if starting < STARTING_MATTERS:
        return whole
    threads = min(math.prod(geometry.grid) * old for geometry in profile.geometries)
    room = [size for size in LARGER if size > whole and size % device.wave_size == 0]
    enough = device.limits.compute_units * BLOCKS_PER_UNIT
    return next((size for size in room if threads >= size * enough), whole)


def _single(node: tree_sitter.Node) -> tree_sitter.Node:
    """Without a `dim3` of one extent around it."""
    function = node.child_by_field_name("function")
    arguments = node.child_by_field_name("arguments")
    if function is None or arguments is None or text_of(function) != "dim3" or len(arguments.named_children) != 1:
        return node
    return arguments.named_children[0]


def _own_values(launch: Launch, name: str) -> list[tree_sitter.Node]:
    """The one value that a variable of the launching function ever has."""
    function = launch.function
    found = [value for value, _ in definitions(function, name)] if function is not None else []
    if function is None or len(found) != 1 or is_changed(function, name):
        raise NotApplicable(f"{launch}: {name} is not a constant of the launching function")
    return found


def _serves_alone(launch: Launch, name: str) -> bool:
    """Is a variable of the launching function used in this launch's configuration alone? Whatever is none is."""
    function = launch.function
    values = [value for value, _ in definitions(function, name)] if function is not None and _is_name(name) else []
    if function is None or not values:
        return True
    declared = {(value.parent or value).start_byte for value in values}
    zones = list(_zones(launch, function))
    return all(
        node.start_byte in declared or any(start <= node.start_byte < end for start, end in zones)
        for node in walk(function)
        if node.type == "identifier" and text_of(node) == name
    )


def _zones(launch: Launch, function: tree_sitter.Node) -> Iterator[tuple[int, int]]:
    """Byte ranges that belong to this launch's configuration."""
    yield launch.grid.start_byte, launch.grid.end_byte
    yield launch.block.start_byte, launch.block.end_byte
    grid = _single(launch.grid)
    if grid.type == "identifier":
        for value, _ in definitions(function, text_of(grid)):
            yield value.start_byte, value.end_byte
