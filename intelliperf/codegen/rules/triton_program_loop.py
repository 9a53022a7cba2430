"""Kernels that do more than add to one address: the whole body in a loop over blocks, each sum added once behind it.

Any number of atomics is taken, beside stores and early returns. A program that does the work of several, one after
another, is an order that the launch might have had, as long as programs do not wait for each other.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from intelliperf.codegen.rules.problem import NotApplicable, Problem, Rewrite
from intelliperf.codegen.rules.triton import (
    Kernel,
    argument,
    blocks_of,
    carried,
    depends,
    indented,
    launched_kernel_at,
    pointer_of,
    program_ids,
    read,
    refuse_spread_strings,
    word_of,
    written,
)
from intelliperf.codegen.rules.triton_atomics import SUM, atomic_of, options_of
from intelliperf.codegen.rules.triton_block_loop import programs_along, shared_axis
from intelliperf.codegen.rules.triton_shapes import Shape, shape_of, spelled, together
from intelliperf.project.pythonsource import body_nodes
from intelliperf.records import SourceEvidence

_STEP = "    "


@dataclass(frozen=True, eq=False)
class _Sum:
    """An atomic that becomes a sum of the program's blocks."""

    statement: ast.Expr
    call: ast.Call
    address: ast.expr
    value: ast.expr
    mask: ast.expr | None
    folded: bool  # the mask differs between blocks: lanes outside add zero
    guarded: bool  # a block may add nothing at all
    shape: Shape
    pointer: str
    name: str


class TritonProgramLoop:
    name = "triton_program_loop"

    def rewrite(self, problem: Problem) -> Rewrite:
        return problem.rewrite_lines(
            "As many programs as the device runs at once do the work of all in turn, and each adds its sums once",
            lambda evidence: self._edit(problem, evidence),
        )

    def _edit(self, problem: Problem, evidence: SourceEvidence) -> list[str]:
        kernel = launched_kernel_at(problem, evidence)
        atomics = _atomics(kernel)
        blamed = [s for s in atomics if s.lineno <= evidence.line <= (s.end_lineno or s.lineno)]
        if len(blamed) != 1:
            raise NotApplicable(f"{kernel.source.path}:{evidence.line} is not an atomic whose old value is unused")
        atomic = atomic_of(kernel, blamed[0], evidence, SUM)
        _refuse_waiting(kernel, atomics)
        axis = shared_axis(kernel, blamed[0], atomic.address, problem)
        programs = programs_along(problem, axis)
        loop = _Loop(kernel, axis, atomics, blamed[0])
        loop.write(programs)
        return [f"{kernel.where(total.statement)}: once per program, {programs} programs" for total in loop.sums]


def _atomics(kernel: Kernel) -> list[ast.Expr]:
    """Statements that are an atomic sum."""
    return [
        node
        for node in body_nodes(kernel.node)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and kernel.called(node.value) == "atomic_add"
    ]


def _address(kernel: Kernel, statement: ast.Expr) -> ast.expr:
    assert isinstance(statement.value, ast.Call)
    address = argument(statement.value, 0, "pointer")
    if address is None or argument(statement.value, 1, "val") is None:
        raise NotApplicable(f"{kernel.where(statement)}: the atomic's arguments cannot be told")
    return address


def _refuse_waiting(kernel: Kernel, atomics: list[ast.Expr]) -> None:
    """Programs that ask what others did may wait for one whose turn comes later."""
    unused = {id(statement.value) for statement in atomics}
    helpers = kernel.program.reached([kernel.function])
    for function in helpers:
        for node in body_nodes(function.node):
            own = function.node is kernel.node
            if isinstance(node, ast.While):
                raise NotApplicable(f"{function.module.path}:{node.lineno}: programs may wait for each other here")
            if not isinstance(node, ast.Call):
                continue
            word = word_of(node)
            asks = word.startswith("atomic_") and id(node) not in unused
            if asks or word in ("inline_asm_elementwise", "debug_barrier"):
                raise NotApplicable(f"{function.module.path}:{node.lineno}: programs may wait for each other here")
            if word == "num_programs" or (word == "program_id" and not own):
                raise NotApplicable(f"{function.module.path}:{node.lineno} reads the program's place in the grid")


class _Loop:
    def __init__(self, kernel: Kernel, axis: int, atomics: list[ast.Expr], blamed: ast.Expr) -> None:
        self._kernel = kernel
        self._axis = axis
        self._ids = [call for call, number in program_ids(kernel) if number == axis]
        refuse_spread_strings(kernel, kernel.body)
        self._inner = self._inner_statements()
        bound = set().union(*(written(statement) for statement in self._inner))
        self.sums: list[_Sum] = []
        for statement in atomics:
            if statement is blamed or self._can_sum(statement, bound):
                self.sums.append(self._sum(statement, bound))

    def write(self, programs: int) -> None:
        kernel, pad, tl = self._kernel, self._kernel.indentation, self._kernel.tl
        first_line = kernel.body[0].lineno
        texts = dict(zip(map(id, kernel.body), self._texts(first_line), strict=True))
        variable, dropped = self._variable()
        outside = [texts[id(s)] for s in kernel.body if s not in self._inner and s is not dropped]
        first = kernel.fresh("first", "first_program")
        lines = [
            f"{pad}{first} = {tl}.program_id({self._axis})",
            f"{pad}if {first} >= {programs}:",
            f"{pad}{_STEP}return",
            *outside,
            *(self._zero(total) for total in self.sums),
            f"{pad}for {variable} in range({first}, {tl}.num_programs({self._axis}), {programs}):",
        ]
        depth = _STEP
        for statement in self._inner:
            if statement is dropped:
                continue
            text = self._renamed(texts[id(statement)], variable)
            left = _left_by(statement)
            if left is not None:
                condition = self._renamed(kernel.text(left), variable)
                lines.append(f"{pad}{depth}if not ({condition}):")
                depth += _STEP
            else:
                lines.append(indented(text, depth))
        if lines[-1].endswith("):"):
            raise NotApplicable(f"{kernel.where(self._inner[-1])}: nothing follows the return")
        lines += [f"{pad}{self._atomic(total)}" for total in self.sums]
        kernel.replace_lines(first_line, kernel.body[-1].end_lineno or 0, "\n".join(lines))

    # ---- what goes into the loop --------------------------------------------------------------------

    def _varies(self, node: ast.AST) -> bool:
        inside = {id(n) for n in ast.walk(node)}
        return bool(read(node) & depends(self._kernel, self._ids)) or any(id(call) in inside for call in self._ids)

    def _inner_statements(self) -> list[ast.stmt]:
        """What depends on the block or acts, and what binds the same names. Order is kept."""
        kernel = self._kernel
        for node in (n for s in kernel.body if _left_by(s) is None for n in ast.walk(s)):
            if isinstance(node, ast.Return):
                raise NotApplicable(f"{kernel.where(node)}: the kernel returns from within another statement")
        inner = [s for s in kernel.body if self._varies(s) or kernel.has_effects(s)]
        while True:
            names = set().union(*(written(s) for s in inner))
            more = [s for s in kernel.body if s in inner or written(s) & names or read(s) & names]
            if len(more) == len(inner):
                break
            inner = more
        early = carried(inner, names)
        if early is not None:
            raise NotApplicable(f"{kernel.where(inner[0])}: {early} goes from statement to statement")
        return inner

    def _can_sum(self, statement: ast.Expr, bound: set[str]) -> bool:
        try:
            self._sum(statement, bound)
        except NotApplicable:
            return False
        return True

    def _sum(self, statement: ast.Expr, bound: set[str]) -> _Sum:
        kernel, where = self._kernel, self._kernel.where(statement)
        call, address = statement.value, _address(self._kernel, statement)
        assert isinstance(call, ast.Call)
        value, mask = argument(call, 1, "val"), argument(call, 2, "mask")
        assert value is not None
        if read(address) & bound or self._varies(address):
            raise NotApplicable(f"{where}: the address is found anew for each block")
        folded = mask is not None and (bool(read(mask) & bound) or self._varies(mask))
        shape = shape_of(kernel, address)
        for part in (value, mask):
            other = shape_of(kernel, part) if part is not None else ()
            shape = None if shape is None or other is None else together(shape, other)
        if shape is None:
            raise NotApplicable(f"{where}: how many lanes take part cannot be told")
        left = [s for s in self._inner if _left_by(s) is not None and s.lineno < statement.lineno]
        guarded = bool(left) or statement not in kernel.body
        pointer = pointer_of(kernel, statement, address)
        taken = {total.name for total in self.sums}
        wanted = [f"{pointer}_part", *(f"{pointer}_part_{n}" for n in range(2, 9))]
        name = kernel.fresh(*(one for one in wanted if one not in taken))
        return _Sum(statement, call, address, value, mask, folded, guarded, shape, pointer, name)

    # ---- text ---------------------------------------------------------------------------------------

    def _texts(self, first_line: int) -> list[str]:
        """Of the body's statements, with additions in place of the atomics."""
        kernel = self._kernel
        blocks = blocks_of(kernel, kernel.body, first_line)
        found = []
        start = first_line
        for statement, block in zip(kernel.body, blocks, strict=True):
            rows = block.split("\n")
            for total in sorted(self.sums, key=lambda one: -one.statement.lineno):
                low, high = total.statement.lineno, total.statement.end_lineno or 0
                if statement.lineno <= low and high <= (statement.end_lineno or 0):
                    if rows[low - start][: total.statement.col_offset].strip():
                        raise NotApplicable(f"{kernel.where(total.statement)}: several statements share a line")
                    pad = " " * total.statement.col_offset
                    rows[low - start : high - start + 1] = [f"{pad}{self._addition(total)}"]
            found.append("\n".join(rows))
            start = (statement.end_lineno or statement.lineno) + 1
        return found

    def _addition(self, total: _Sum) -> str:
        kernel, kind = self._kernel, f"{total.pointer}.dtype.element_ty"
        text = kernel.text(total.value)
        if total.folded and total.mask is not None:
            text = f"{kernel.tl}.where({kernel.text(total.mask)}, {text}, 0).to({kind})"
        elif not kernel.is_constexpr(total.value):
            text = f"{kernel.operand(total.value)}.to({kind})"
        return f"{total.name} += {text}"

    def _zero(self, total: _Sum) -> str:
        tl, kind = self._kernel.tl, f"{total.pointer}.dtype.element_ty"
        made = f"{tl}.zeros({spelled(total.shape)}, dtype={kind})" if total.shape else f"{tl}.full((), 0, dtype={kind})"
        return f"{self._kernel.indentation}{total.name} = {made}"

    def _atomic(self, total: _Sum) -> str:
        """A sum that stayed zero is not added: its address may be none."""
        kernel = self._kernel
        arguments = [kernel.text(total.address), total.name]
        kept = [kernel.operand(total.mask)] if total.mask is not None and not total.folded else []
        kept += [f"({total.name} != 0)" if kept else f"{total.name} != 0"] if total.folded or total.guarded else []
        arguments += [f"mask={' & '.join(kept)}"] if kept else []
        arguments += options_of(kernel, total.call)
        return f"{kernel.text(total.call.func)}({', '.join(arguments)})"

    def _variable(self) -> tuple[str, ast.stmt | None]:
        """The loop's variable: the name of the program's number where the kernel gives it one."""
        for statement in self._kernel.body:
            if isinstance(statement, ast.Assign) and statement.value in self._ids and len(statement.targets) == 1:
                target = statement.targets[0]
                if isinstance(target, ast.Name) and len(self._kernel.definitions(target.id)) == 1:
                    return target.id, statement
        return self._kernel.fresh("block", "block_number"), None

    def _renamed(self, text: str, variable: str) -> str:
        for spelling in sorted({self._kernel.text(call) for call in self._ids}):
            text = text.replace(spelling, variable)
        return text


def _left_by(statement: ast.stmt) -> ast.expr | None:
    """The condition of `if …: return`."""
    if isinstance(statement, ast.If) and not statement.orelse and len(statement.body) == 1:
        (only,) = statement.body
        if isinstance(only, ast.Return) and only.value is None:
            return statement.test
    return None
