"""Records of two numbers: one contiguous store of both, joined in registers, instead of two with gaps."""

from __future__ import annotations

import ast

from intelliperf.codegen.rules.problem import NotApplicable, Problem, Rewrite
from intelliperf.codegen.rules.triton import Kernel, argument, kernel_at, read, statement_at
from intelliperf.codegen.rules.triton_pairs import (
    Half,
    belong_together,
    between,
    delete,
    half_of,
    mask_of_pairs,
    offsets_of_pairs,
    records_of,
    refuse_between,
)
from intelliperf.codegen.rules.triton_shapes import shape_of
from intelliperf.records import SourceEvidence


class TritonJoinPairs:
    name = "triton_join_pairs"

    def rewrite(self, problem: Problem) -> Rewrite:
        return problem.rewrite_lines(
            "Both numbers of a record are written at once",
            lambda evidence: self._edit(problem, evidence),
        )

    def _edit(self, problem: Problem, evidence: SourceEvidence) -> list[str]:
        kernel = kernel_at(problem, evidence)
        statement, holder = statement_at(kernel, evidence.line)
        half = _stored(kernel, statement)
        if half is None:
            raise NotApplicable(f"{kernel.where(statement)} writes no second element of each record")
        others = [o for s in holder if (o := _stored(kernel, s)) is not None and belong_together(o, half)]
        if len(others) != 1:
            raise NotApplicable(f"{kernel.where(statement)}: the other half of each record is not written here")
        earlier, later, statements = between(holder, half, others[0])
        refuse_between(kernel, statements, earlier, read(_value(earlier)))
        _refuse_loads(kernel, [*statements, later.statement])
        self._write(kernel, earlier, later)
        return [f"{kernel.where(later.statement)}: records of {half.index.id}"]

    def _write(self, kernel: Kernel, earlier: Half, later: Half) -> None:
        tl = kernel.tl
        pad = kernel.source.indentation(kernel.span(later.statement)[0])
        _, lanes = records_of(kernel, later.index)
        first, second = sorted((earlier, later), key=lambda half: half.which)
        values = [self._lanes(kernel, _value(half), lanes) for half in (first, second)]
        at = kernel.fresh("pairs", "pair_offsets")
        options = [f"mask={mask_of_pairs(kernel, later, at)}"] if later.mask is not None else []
        options += [f"{k.arg}={kernel.text(k.value)}" for k in later.call.keywords if k.arg not in ("mask", "value")]
        joined = f"{tl}.interleave({values[0]}, {values[1]})"
        lines = [
            f"{pad}{at} = {offsets_of_pairs(kernel, later)}",
            f"{pad}{tl}.store({', '.join([f'{kernel.operand(later.base)} + {at}', joined, *options])})",
        ]
        statement = later.statement
        kernel.replace_lines(statement.lineno, statement.end_lineno or 0, "\n".join(lines))
        delete(kernel, earlier.statement)

    def _lanes(self, kernel: Kernel, value: ast.expr, lanes: str) -> str:
        shape = shape_of(kernel, value)
        if shape != (lanes,):
            raise NotApplicable(f"{kernel.where(value)}: `{ast.unparse(value)[:40]}` is not one number per record")
        return kernel.text(value)


def _stored(kernel: Kernel, statement: ast.stmt) -> Half | None:
    return half_of(kernel, statement, "store") if isinstance(statement, ast.Expr) else None


def _value(half: Half) -> ast.expr:
    value = argument(half.call, 1, "value")
    assert value is not None  # Triton's own store has no default for it
    return value


def _refuse_loads(kernel: Kernel, statements: list[ast.stmt]) -> None:
    """The first store moves behind these; what they read might be what it writes."""
    for statement in statements:
        if any(kernel.called(node) == "load" for node in ast.walk(statement)):
            raise NotApplicable(f"{kernel.where(statement)}: a load stands between the two halves")
