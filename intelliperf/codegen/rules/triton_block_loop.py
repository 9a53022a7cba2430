"""Fewer programs that add to one address: each takes many blocks, and adds once.

The host stays as it is: programs beyond as many as the device runs at once have nothing to do and return.
"""

from __future__ import annotations

import ast
import math
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
    statement_at,
    word_of,
    written,
)
from intelliperf.codegen.rules.triton_atomics import LEAST_BYTES, Atomic, atomic_of, options_of
from intelliperf.codegen.rules.triton_reduce_lanes import neutral
from intelliperf.codegen.rules.triton_shapes import shape_of, spelled
from intelliperf.project.pythonsource import body_nodes
from intelliperf.records import Metric, SourceEvidence

_PROGRAMS_PER_UNIT = 2  # as many as keep a compute unit busy while one of them waits for memory
_ROUND_NS = 1000.0  # of a loop that waits for its loads, on today's chips under load
_ATOMIC_NS = 0.7  # of one in a queue for an address, where the profile has no time for them
COMBINING = {"atomic_add": "sum", "atomic_max": "max", "atomic_min": "min"}  # and the reduction of lanes


@dataclass(frozen=True)
class _Atomic(Atomic):
    bytes: int  # of an element; 0 where that was not recorded
    around: ast.If | None  # a condition that stands around it alone

    @property
    def outermost(self) -> ast.stmt:
        return self.around or self.statement


@dataclass(frozen=True)
class _Value:
    """What is added up over the blocks: `combined` at the end of each, `final` of it in the atomic."""

    combined: str
    final: str  # with {} for the accumulator
    shape: tuple[str, ...]
    left_out: ast.stmt | None  # a statement that the accumulator makes needless


class TritonBlockLoop:
    name = "triton_block_loop"

    def rewrite(self, problem: Problem) -> Rewrite:
        return problem.rewrite_lines(
            "As many programs as the device runs at once take all blocks in turn, and each adds its sum once",
            lambda evidence: self._edit(problem, evidence),
        )

    def _edit(self, problem: Problem, evidence: SourceEvidence) -> list[str]:
        kernel = launched_kernel_at(problem, evidence)
        atomic = _atomic_at(kernel, evidence)
        axis = shared_axis(kernel, atomic.statement, atomic.address, problem)
        _refuse_other_effects(kernel, atomic)
        programs = programs_along(problem, axis)
        _Rewriter(kernel, atomic, axis, programs).write()
        return [f"{kernel.where(atomic.statement)}: {word_of(atomic.call)} once per program, {programs} programs"]


def _atomic_at(kernel: Kernel, evidence: SourceEvidence) -> _Atomic:
    statement, _ = statement_at(kernel, evidence.line)
    where = kernel.where(statement)
    atomic = atomic_of(kernel, statement, evidence, COMBINING)
    last = kernel.body[-1]
    around = last if isinstance(last, ast.If) and last.body == [statement] and not last.orelse else None
    if statement is not last and around is None:
        raise NotApplicable(f"{where}: the atomic is not the last statement of the kernel")
    if around is not None and atomic.mask is not None:
        raise NotApplicable(f"{where}: the atomic has a mask and a condition")
    return _Atomic(**vars(atomic), bytes=evidence.element_bytes, around=around)


def shared_axis(kernel: Kernel, statement: ast.stmt, address: ast.expr, problem: Problem) -> int:
    """The axis of the grid along which all programs add to the same address; the longest."""
    calls: dict[int, list[ast.Call]] = {}
    for call, axis in program_ids(kernel):
        calls.setdefault(axis, []).append(call)
    shared = []
    for axis, nodes in calls.items():
        inside = {id(n) for n in ast.walk(address)}
        if not (read(address) & depends(kernel, nodes)) and not any(id(node) in inside for node in nodes):
            shared.append(axis)
    if not shared:
        raise NotApplicable(f"{kernel.where(statement)}: each program has an address of its own")
    if any(kernel.called(n) == "num_programs" for n in body_nodes(kernel.node)):
        raise NotApplicable(f"{kernel.source.path}: the kernel reads its number of programs")
    return max(shared, key=lambda axis: _length(problem, axis))


def _length(problem: Problem, axis: int) -> int:
    return max((geometry.grid[axis] for geometry in problem.task.finding.profile.geometries if axis < 3), default=0)


def programs_along(problem: Problem, axis: int) -> int:
    """As many that the queue of their atomics and the rounds of their loops take the least time together.

    N atomics of `a` ns and length / N rounds of `r`: N = sqrt(length * r / a). A power of two, to be plain to see.
    """
    length = _length(problem, axis)
    profile = problem.task.finding.profile
    queue_ns = profile.quantities.get(Metric.ATOMIC_TIME_NS)
    atomic_ns = queue_ns.value / length if queue_ns is not None and queue_ns.value > 0 and length else _ATOMIC_NS
    busy = problem.task.device.limits.compute_units * _PROGRAMS_PER_UNIT
    best = max(float(busy), math.sqrt(length * _ROUND_NS / atomic_ns))
    programs = 1 << int(math.log2(best))
    if length < 2 * programs:
        raise NotApplicable(f"only {length} programs add to an address; {programs} would be the best number")
    return programs


def _refuse_other_effects(kernel: Kernel, atomic: _Atomic) -> None:
    for statement in kernel.body:
        if statement is not atomic.outermost and kernel.has_effects(statement):
            raise NotApplicable(f"{kernel.where(statement)} does something beside the atomic that others may see")
    refuse_spread_strings(kernel, kernel.body)


class _Rewriter:
    def __init__(self, kernel: Kernel, atomic: _Atomic, axis: int, programs: int) -> None:
        self._kernel = kernel
        self._atomic = atomic
        self._axis = axis
        self._programs = programs
        self._ids = [call for call, number in program_ids(kernel) if number == axis]
        self._value = self._summed()
        self._inner = self._inner_statements()

    def write(self) -> None:
        kernel, atomic, value = self._kernel, self._atomic, self._value
        first_line = (kernel.body[0].lineno) if kernel.body else 1
        texts = dict(zip(map(id, kernel.body), blocks_of(kernel, kernel.body, first_line), strict=True))
        variable, dropped = self._variable()
        before = [
            texts[id(s)]
            for s in kernel.body
            if s not in self._inner and s not in (atomic.outermost, value.left_out, dropped)
        ]
        inner = [self._renamed(s, texts[id(s)], variable) for s in self._inner if s not in (value.left_out, dropped)]
        kernel.replace_lines(
            first_line, kernel.body[-1].end_lineno or 0, "\n".join([*before, *self._loop(variable, inner)])
        )

    def _loop(self, variable: str, inner: list[str]) -> list[str]:
        kernel, value, tl = self._kernel, self._value, self._kernel.tl
        pad = kernel.indentation
        first, total = kernel.fresh("first", "first_program"), kernel.fresh("partial", "partial_sum")
        kind = f"{pointer_of(kernel, self._atomic.statement, self._atomic.address)}.dtype.element_ty"
        word, least = self._atomic.word, self._neutral()
        zero = f"{tl}.full({spelled(value.shape)}, {least}, dtype={kind})"
        if word == "atomic_add" and value.shape:
            zero = f"{tl}.zeros({spelled(value.shape)}, dtype={kind})"
        combined = value.combined.replace("{kind}", kind).replace("{neutral}", least)
        added = f"{total} += {combined}"
        if word != "atomic_add":
            added = f"{total} = {tl}.{word.replace('atomic_', '')}imum({total}, {combined})"
        atomic_text = f"{pad}{self._atomic_text(value.final.format(total))}"
        around = self._atomic.around
        if around is not None and not self._masked():
            atomic_text = f"{pad}if {kernel.text(around.test)}:\n{indented(atomic_text)}"
        return [
            f"{pad}{first} = {tl}.program_id({self._axis})",
            f"{pad}if {first} >= {self._programs}:",
            f"{pad}    return",
            f"{pad}{total} = {zero}",
            f"{pad}for {variable} in range({first}, {tl}.num_programs({self._axis}), {self._programs}):",
            *(indented(text) for text in inner),
            f"{pad}    {added}",
            atomic_text,
        ]

    def _neutral(self) -> str:
        """What a sum begins with; for a maximum the literal that the source itself fills lanes outside with."""
        kernel, atomic = self._kernel, self._atomic
        if atomic.word == "atomic_add":
            return "0"
        found = fills(kernel, atomic.value)
        for literal in found:
            if neutral(literal, COMBINING[atomic.word], atomic.bytes):
                return kernel.text(literal)
        raise NotApplicable(
            f"{kernel.where(atomic.statement)}: {atomic.word} has no neutral element that the source names"
        )

    def _atomic_text(self, value: str) -> str:
        call, kernel = self._atomic.call, self._kernel
        kept = [kernel.text(self._atomic.address), value]
        if self._atomic.mask is not None and not self._masked():
            kept.append(f"mask={kernel.text(self._atomic.mask)}")
        kept += options_of(kernel, call)
        return f"{kernel.text(call.func)}({', '.join(kept)})"

    def _variable(self) -> tuple[str, ast.stmt | None]:
        """The loop's variable: the name of the program's number where the kernel gives it one."""
        for statement in self._kernel.body:
            if isinstance(statement, ast.Assign) and statement.value in self._ids and len(statement.targets) == 1:
                target = statement.targets[0]
                if isinstance(target, ast.Name) and len(self._kernel.definitions(target.id)) == 1:
                    return target.id, statement
        return self._kernel.fresh("block", "block_number"), None

    def _renamed(self, statement: ast.stmt, text: str, variable: str) -> str:
        """With the loop's variable in place of further calls of program_id."""
        calls = [call for call in self._ids if any(node is call for node in ast.walk(statement))]
        for spelling in {self._kernel.text(call) for call in calls}:
            text = text.replace(spelling, variable)
        return text

    # ---- what is added up ---------------------------------------------------------------------------

    def _mask(self) -> ast.expr | None:
        return self._atomic.around.test if self._atomic.around is not None else self._atomic.mask

    def _masked(self) -> bool:
        """Does the atomic's mask or condition differ between blocks?"""
        mask = self._mask()
        return mask is not None and self._varies(mask)

    def _varies(self, node: ast.AST) -> bool:
        inside = {id(n) for n in ast.walk(node)}
        return bool(read(node) & depends(self._kernel, self._ids)) or any(id(call) in inside for call in self._ids)

    def _summed(self) -> _Value:
        kernel, value = self._kernel, self._atomic.value
        reduction = COMBINING[self._atomic.word]
        left_out: ast.stmt | None = None
        if isinstance(value, ast.Name) and (bound := kernel.definition(value.id)) is not None:
            uses = [n for n in body_nodes(kernel.node) if isinstance(n, ast.Name) and n.id == value.id]
            (statement,) = kernel.definitions(value.id)
            if len(uses) == 2 and statement in kernel.body and kernel.called(bound) == reduction:
                value, left_out = bound, statement
        lane_wise = self._atomic.bytes == LEAST_BYTES and not self._masked()
        if lane_wise and isinstance(value, ast.Call) and kernel.called(value) == reduction:
            operand = value.args[0] if value.args else None
            shape = shape_of(kernel, operand) if operand is not None else None
            if operand is not None and shape and shape_of(kernel, value) is not None:
                rest = [kernel.text(a) for a in value.args[1:]] + [
                    f"{k.arg}={kernel.text(k.value)}" for k in value.keywords
                ]
                return _Value(
                    _cast(kernel, operand), f"{kernel.text(value.func)}({', '.join(['{}', *rest])})", shape, left_out
                )
        value = self._atomic.value
        shape = shape_of(kernel, value)
        if shape is None:
            raise NotApplicable(f"{kernel.where(self._atomic.statement)}: the shape of what is added cannot be told")
        combined = _cast(kernel, value)
        mask = self._mask()
        if self._masked() and mask is not None:
            combined = f"{kernel.tl}.where({kernel.text(mask)}, {kernel.text(value)}, {{neutral}}).to({{kind}})"
            masked = shape_of(kernel, mask)
            if masked != shape:
                raise NotApplicable(f"{kernel.where(self._atomic.statement)}: mask and value differ in shape")
        return _Value(combined, "{}", shape, None)

    def _inner_statements(self) -> list[ast.stmt]:
        """What depends on the block, and what binds the same names: it belongs into the loop. Order is kept."""
        kernel = self._kernel
        statements = [s for s in kernel.body if s is not self._atomic.outermost]
        inner = [s for s in statements if self._varies(s)]
        while True:
            names = set().union(*(written(s) for s in inner))
            more = [s for s in statements if s in inner or written(s) & names]
            if len(more) == len(inner):
                break
            inner = more
        kept = [s for s in inner if s is not self._value.left_out]
        early = carried(kept, names)
        if early is not None:
            raise NotApplicable(f"{kernel.where(inner[0])}: {early} goes from statement to statement")
        return inner


def fills(kernel: Kernel, value: ast.expr) -> list[ast.expr]:
    """Literals that stand for lanes outside: `other` of loads and of `where`, of all that the value is made of."""
    found: list[ast.expr] = []
    seen: set[str] = set()
    waiting: list[ast.AST] = [value]
    while waiting:
        node = waiting.pop()
        for call in (n for n in ast.walk(node) if isinstance(n, ast.Call)):
            place = {"load": (2, "other"), "where": (2, "y")}.get(kernel.called(call))
            fill = argument(call, *place) if place else None
            found += [fill] if fill is not None else []
        for name in sorted(read(node) - seen):
            seen.add(name)
            waiting += kernel.definitions(name)
    return found


def _cast(kernel: Kernel, node: ast.expr) -> str:
    return kernel.text(node) if isinstance(node, ast.Constant) else f"{kernel.operand(node)}.to({{kind}})"
