"""Several columns per program, where one program per column leaves most of each line that it fetches unused.

The kernel's values get a second dimension: what a program did for its column, it does for neighbouring ones side by
side. The host stays as it is: programs beyond those that are needed return.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from intelliperf.codegen.rules.problem import NotApplicable, Problem, Rewrite
from intelliperf.codegen.rules.triton import (
    Kernel,
    argument,
    depends,
    launched_kernel_at,
    program_ids,
    read,
)
from intelliperf.codegen.rules.triton_lane_order import BY_ELEMENT, written_out
from intelliperf.codegen.rules.triton_launches import launch_of
from intelliperf.codegen.rules.triton_shapes import shape_of
from intelliperf.project.pythonsource import body_nodes
from intelliperf.records import SourceEvidence

_LINE_BYTES = 64
_LEAST_COLUMNS = 4
_MOST_ELEMENTS = 16384  # of a value in a program's registers
_REDUCING = frozenset({"sum", "max", "min"})
_SCALAR = frozenset({"cdiv", "num_programs", "range", "static_range"})


@dataclass(frozen=True, eq=False)
class _Column:
    """A program number under a name of its own."""

    call: ast.Call
    axis: int
    name: str
    definition: ast.Assign


class TritonColumnTile:
    name = "triton_column_tile"

    def rewrite(self, problem: Problem) -> Rewrite:
        return problem.rewrite_lines(
            "A program takes neighbouring columns, whose elements share lines of memory",
            lambda evidence: self._edit(problem, evidence),
        )

    def _edit(self, problem: Problem, evidence: SourceEvidence) -> list[str]:
        kernel = launched_kernel_at(problem, evidence)
        column = _column_id(kernel)
        columns = _columns(problem, evidence)
        grid = max((geometry.grid[column.axis] for geometry in problem.task.finding.profile.geometries), default=0)
        if grid < 2 * columns:
            raise NotApplicable(f"{kernel.where(column.call)}: only {grid} programs along this axis")
        _Tiling(kernel, column, columns).write()
        return [f"{kernel.where(column.call)}: {columns} columns"]


def _columns(problem: Problem, evidence: SourceEvidence) -> int:
    """As many as share a line, or fewer where the program's values would not stay in registers."""
    columns = _LINE_BYTES // max(1, evidence.element_bytes or 4)
    try:
        elements = launch_of(problem, evidence).elements()
    except NotApplicable:
        return columns  # the sizes are not in the source
    while columns > _LEAST_COLUMNS and elements * columns > _MOST_ELEMENTS:
        columns //= 2
    if elements * columns > _MOST_ELEMENTS:
        raise NotApplicable(f"{elements} elements per program leave no registers for more columns")
    return columns


def _column_id(kernel: Kernel) -> _Column:
    """The only program number that counts what lies side by side. Raises `NotApplicable`."""
    ids = list(program_ids(kernel))
    found = [_Column(call, axis, *named) for call, axis in ids if (named := _named(kernel, call)) is not None]
    beside = [column for column in found if _neighbours(kernel, column.name)]
    if not beside:
        raise NotApplicable(f"{kernel.source.path}: no row of addresses has a program's number as a term of its own")
    if len(beside) > 1 or sum(axis == beside[0].axis for _, axis in ids) > 1:
        raise NotApplicable(f"{kernel.source.path}: more than one program number counts neighbouring elements")
    return beside[0]


def _named(kernel: Kernel, call: ast.Call) -> tuple[str, ast.Assign] | None:
    """The name that the program's number has, and where it gets it."""
    for statement in kernel.body:
        if isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1:
            (target,) = statement.targets
            if isinstance(target, ast.Name) and kernel.definition(target.id) is call:
                return target.id, statement
    return None


def _neighbours(kernel: Kernel, name: str) -> bool:
    """Is there an address that has the column as a term of its own, beside lanes in larger steps?"""
    for call in (n for n in body_nodes(kernel.node) if isinstance(n, ast.Call)):
        if kernel.called(call) not in ("load", "store") or not call.args:
            continue
        alone = any(isinstance(term, ast.Name) and term.id == name for term in written_out(kernel, call.args[0]))
        if alone and len(shape_of(kernel, call.args[0]) or ()) == 1:
            return True
    return False


class _Tiling:
    def __init__(self, kernel: Kernel, column: _Column, columns: int) -> None:
        self._kernel = kernel
        self._id, self._axis = column.call, column.axis
        self._name, self._definition = column.name, column.definition
        self._columns = columns
        self._varying = depends(kernel, [column.call])
        self._live = kernel.fresh("present", "present_columns")

    def write(self) -> None:
        kernel = self._kernel
        self._refuse()
        ranges = [n for n in body_nodes(kernel.node) if kernel.called(n) == "arange"]
        if not ranges:
            raise NotApplicable(f"{kernel.where(self._id)}: the program has no lanes")
        for node in body_nodes(kernel.node):
            if isinstance(node, ast.Call):
                self._rewrite_call(node)
            if isinstance(node, ast.Assign) and self._is_start(node):
                kernel.replace(
                    node.value,
                    f"{kernel.tl}.full((1, {self._columns}), {kernel.text(node.value)}, dtype={kernel.tl}.float32)",
                )
        self._rewrite_column()

    def _is_start(self, statement: ast.Assign) -> bool:
        """Does a number begin here that a loop makes one of each column?"""
        target = statement.targets[0]
        name = target.id if isinstance(target, ast.Name) else ""
        plain = not read(statement.value) - {"float"}
        floating = any(
            isinstance(n, ast.Constant) and isinstance(n.value, (float, str)) for n in ast.walk(statement.value)
        )
        scalar = shape_of(self._kernel, statement.value) == ()
        return name in self._varying and len(self._kernel.definitions(name)) > 1 and plain and floating and scalar

    def _rewrite_column(self) -> None:
        kernel, tl = self._kernel, self._kernel.tl
        pad = kernel.source.indentation(kernel.span(self._definition)[0])
        first = kernel.fresh("first", "first_column")
        count = f"{tl}.num_programs({self._axis})"
        kernel.replace(
            self._definition,
            f"{first} = {tl}.program_id({self._axis}) * {self._columns}\n"
            f"{pad}if {first} >= {count}:\n"
            f"{pad}    return\n"
            f"{pad}{self._name} = {first} + {tl}.arange(0, {self._columns})[None, :]\n"
            f"{pad}{self._live} = {self._name} < {count}",
        )

    def _rewrite_call(self, call: ast.Call) -> None:
        kernel, word = self._kernel, self._kernel.called(call)
        if word == "arange":
            kernel.replace(call, f"{kernel.text(call)}[:, None]")
        elif word in ("zeros", "full"):
            shape = argument(call, 0, "shape")
            assert shape is not None
            (size,) = shape_of(kernel, call) or ("",)
            kernel.replace(shape, f"({size}, {self._columns})")
        elif word in _REDUCING:
            self._rewrite_reduction(call)
        elif word in ("load", "store") and self._varies(call.args[0]):
            self._rewrite_mask(call, 1 if word == "load" else 2)

    def _rewrite_reduction(self, call: ast.Call) -> None:
        kernel = self._kernel
        end = kernel.span(call)[1] - 1
        axis = argument(call, 1 if kernel.function.module.dotted(call.func) is not None else 0, "axis")
        more = ", keep_dims=True" if axis is not None else ", axis=0, keep_dims=True"
        kernel.source.insert(end, more if call.args or call.keywords else more.removeprefix(", "))

    def _rewrite_mask(self, call: ast.Call, place: int) -> None:
        kernel = self._kernel
        mask = argument(call, place, "mask")
        if mask is not None:
            kernel.replace(mask, f"{kernel.operand(mask)} & {self._live}")
        elif len(call.args) == place:
            last = [*call.args, *(k.value for k in call.keywords)][-1]
            kernel.source.insert(kernel.span(last)[1], f", mask={self._live}")
        else:
            raise NotApplicable(f"{kernel.where(call)}: the arguments of the access cannot be told")

    def _varies(self, node: ast.AST) -> bool:
        return bool(read(node) & self._varying)

    def _refuse(self) -> None:
        kernel = self._kernel
        for node in body_nodes(kernel.node):
            if isinstance(node, (ast.While, ast.If, ast.IfExp, ast.Subscript, ast.Return)):
                raise NotApplicable(f"{kernel.where(node)}: not a form that can take several columns at once")
            if isinstance(node, ast.For) and self._varies(node.iter):
                raise NotApplicable(f"{kernel.where(node)}: the rounds of the loop differ between columns")
            if isinstance(node, ast.Call):
                self._refuse_call(node)

    def _refuse_call(self, call: ast.Call) -> None:
        kernel, word = self._kernel, self._kernel.called(call)
        where = kernel.where(call)
        if call is self._id or word in ("arange", "program_id", *_SCALAR):
            return
        if isinstance(call.func, ast.Name) and call.func.id == "range":
            return
        if word in ("zeros", "full"):
            if len(shape_of(kernel, call) or ()) != 1:
                raise NotApplicable(f"{where}: a value that has not one dimension")
            return
        if word in _REDUCING:
            self._refuse_reduction(call)
            return
        if word not in BY_ELEMENT:
            raise NotApplicable(f"{where}: `{ast.unparse(call.func)}` cannot take several columns at once")
        if word == "store" and not self._varies(call.args[0]):
            raise NotApplicable(f"{where}: all programs store to one place")

    def _refuse_reduction(self, call: ast.Call) -> None:
        kernel = self._kernel
        first = call.args[0] if call.args else None
        method = kernel.function.module.dotted(call.func) is None
        operand = call.func.value if method and isinstance(call.func, ast.Attribute) else first
        axis = argument(call, 0 if method else 1, "axis")
        whole = axis is None or isinstance(axis, ast.Constant) and axis.value in (0, None)
        named = {k.arg for k in call.keywords} <= {"axis"}
        if operand is None or not whole or not named or len(shape_of(kernel, operand) or ()) != 1:
            raise NotApplicable(f"{kernel.where(call)}: not a reduction of a vector to one number")
        if isinstance(axis, ast.Constant) and axis.value is None:
            raise NotApplicable(f"{kernel.where(call)}: the axis is spelled as None")
