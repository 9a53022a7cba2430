"""An atomic that a loop performs in every round: added up in registers, and performed once behind the loop."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from intelliperf.codegen.rules.problem import NotApplicable, Problem, Rewrite
from intelliperf.codegen.rules.triton import (
    Kernel,
    depends,
    launched_kernel_at,
    pointer_of,
    program_ids,
    read,
    refuse_spread_strings,
    written,
)
from intelliperf.codegen.rules.triton_atomics import SUM, atomic_at, options_of
from intelliperf.codegen.rules.triton_shapes import Shape, shape_of, spelled, together
from intelliperf.records import SourceEvidence


class TritonHoistAtomic:
    name = "triton_hoist_atomic"

    def rewrite(self, problem: Problem) -> Rewrite:
        return problem.rewrite_lines(
            "What a loop adds to one address is added up first, and then added once",
            lambda evidence: self._edit(problem, evidence),
        )

    def _edit(self, problem: Problem, evidence: SourceEvidence) -> list[str]:
        kernel = launched_kernel_at(problem, evidence)
        atomic = atomic_at(kernel, evidence, SUM)
        statement, address, value, mask = atomic.statement, atomic.address, atomic.value, atomic.mask
        where = kernel.where(statement)
        loop, conditions = _loop_of(kernel, statement, address)
        kept = mask if mask is not None and not _changes(mask, loop) else None
        added = None if kept is mask else mask
        if (conditions or added is not None) and _own_address(kernel, address):
            raise NotApplicable(f"{where}: whether the program accesses its address at all differs between rounds")
        pointer = pointer_of(kernel, statement, address)
        if any(
            pointer in read(other) for other in loop.body if other is not statement and not _holds(other, statement)
        ):
            raise NotApplicable(f"{where}: the loop looks at what it adds to")
        shape = _shape(kernel, statement, (address, value, *((mask,) if mask is not None else ())))
        _replace(kernel, loop, statement, _Sum(address, value, added, kept, shape, pointer))
        return [f"{where}: atomic_add once behind the loop of line {loop.lineno}"]


@dataclass(frozen=True)
class _Sum:
    address: ast.expr
    value: ast.expr
    added: ast.expr | None  # a mask that changes from round to round
    kept: ast.expr | None  # one that does not
    shape: Shape
    pointer: str  # the argument that the address begins with


def _loop_of(kernel: Kernel, statement: ast.stmt, address: ast.expr) -> tuple[ast.For, bool]:
    """The outermost loop around the statement in which its address stays; whether it is conditional there."""
    where = kernel.where(statement)
    chosen: ast.For | None = None
    inside: list[ast.stmt] = []
    for around in reversed(_around(kernel, statement)):
        if isinstance(around, ast.While):
            break
        if not isinstance(around, ast.For):
            continue
        if _changes(address, around):
            reason = f"{where}: the address differs between the rounds of its loop"
            break
        others = [s for s in ast.walk(around) if isinstance(s, ast.stmt) and s is not statement]
        disturbing = next((s for s in others if not _holds(s, statement) and kernel.has_effects(s)), None)
        if disturbing is not None or any(isinstance(s, (ast.Break, ast.Continue)) for s in others):
            at = kernel.where(disturbing) if disturbing is not None else where
            reason = f"{at} does something in the loop beside the atomic"
            break
        chosen, inside = around, others
    else:
        reason = f"{where} is in no loop"
    if chosen is None:
        raise NotApplicable(reason)
    refuse_spread_strings(kernel, [chosen])
    return chosen, any(isinstance(s, ast.If) and _holds(s, statement) for s in inside)


def _around(kernel: Kernel, statement: ast.stmt) -> list[ast.stmt]:
    """Statements that hold this one, the outermost first."""
    found = (n for n in ast.walk(kernel.node) if isinstance(n, (ast.For, ast.While, ast.If)) and _holds(n, statement))
    return sorted(found, key=lambda node: node.lineno)


def _holds(outer: ast.stmt, inner: ast.stmt) -> bool:
    return outer is not inner and any(node is inner for node in ast.walk(outer))


def _changes(node: ast.expr, loop: ast.For) -> bool:
    return bool(read(node) & written(loop))


def _own_address(kernel: Kernel, address: ast.expr) -> bool:
    """May another program's address be another, so that this one's might be no memory where it adds nothing?"""
    ids = [call for call, _ in program_ids(kernel)]
    inside = {id(node) for node in ast.walk(address)}
    return bool(read(address) & depends(kernel, ids)) or any(id(call) in inside for call in ids)


def _shape(kernel: Kernel, statement: ast.stmt, parts: tuple[ast.expr, ...]) -> Shape:
    result: Shape | None = ()
    for part in parts:
        other = shape_of(kernel, part)
        result = None if result is None or other is None else together(result, other)
    if result is None:
        raise NotApplicable(f"{kernel.where(statement)}: how many lanes take part cannot be told")
    return result


def _replace(kernel: Kernel, loop: ast.For, statement: ast.stmt, total: _Sum) -> None:
    tl, last, end = kernel.tl, loop.end_lineno or loop.lineno, statement.end_lineno or statement.lineno
    assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    call = statement.value
    name = kernel.fresh("partial", "partial_sum")
    kind = f"{total.pointer}.dtype.element_ty"
    zero = f"{tl}.zeros({spelled(total.shape)}, dtype={kind})"
    if not total.shape:
        zero = f"{tl}.full((), 0, dtype={kind})"
    text = kernel.text(total.value)
    if total.added is not None:
        text = f"{tl}.where({kernel.text(total.added)}, {text}, 0).to({kind})"
    elif not kernel.is_constexpr(total.value):
        text = f"{kernel.operand(total.value)}.to({kind})"
    arguments = [kernel.text(total.address), name]
    arguments += [f"mask={kernel.text(total.kept)}"] if total.kept is not None else []
    arguments += options_of(kernel, call)
    pad, inner = " " * loop.col_offset, " " * statement.col_offset
    above = [kernel.lines(loop.lineno, statement.lineno - 1)] if statement.lineno > loop.lineno else []
    below = [kernel.lines(end + 1, last)] if end < last else []
    lines = [
        f"{pad}{name} = {zero}",
        *above,
        f"{inner}{name} += {text}",
        *below,
        f"{pad}{kernel.text(call.func)}({', '.join(arguments)})",
    ]
    kernel.replace_lines(loop.lineno, last, "\n".join(lines))
