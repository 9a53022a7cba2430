"""Records of two numbers: one contiguous load of both, split in registers, instead of two with gaps."""

from __future__ import annotations

import ast

from intelliperf.codegen.rules.problem import NotApplicable, Problem, Rewrite
from intelliperf.codegen.rules.triton import Kernel, kernel_at, statement_at, written
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
from intelliperf.records import SourceEvidence


class TritonSplitPairs:
    name = "triton_split_pairs"

    def rewrite(self, problem: Problem) -> Rewrite:
        return problem.rewrite_lines(
            "Both numbers of a record are read at once",
            lambda evidence: self._edit(problem, evidence),
        )

    def _edit(self, problem: Problem, evidence: SourceEvidence) -> list[str]:
        kernel = kernel_at(problem, evidence)
        statement, holder = statement_at(kernel, evidence.line)
        half = _loaded(kernel, statement)
        if half is None:
            raise NotApplicable(f"{kernel.where(statement)} reads no second element of each record")
        others = [o for s in holder if (o := _loaded(kernel, s)) is not None and belong_together(o, half)]
        if len(others) != 1 or _target(half) == _target(others[0]):
            raise NotApplicable(f"{kernel.where(statement)}: the other half of each record is not read here")
        earlier, later, statements = between(holder, half, others[0])
        refuse_between(kernel, statements, half)
        self._write(kernel, earlier, later)
        return [f"{kernel.where(earlier.statement)}: {_target(earlier)} and {_target(later)}"]

    def _write(self, kernel: Kernel, earlier: Half, later: Half) -> None:
        tl = kernel.tl
        pad = kernel.source.indentation(kernel.span(earlier.statement)[0])
        _, lanes = records_of(kernel, earlier.index)
        both, at = kernel.fresh("both", "both_halves"), kernel.fresh("pairs", "pair_offsets")
        options = [f"mask={mask_of_pairs(kernel, earlier, at)}"] if earlier.mask is not None else []
        others = dict(zip(("", "mask", "other"), earlier.call.args, strict=False))
        if "other" in others:
            options.append(f"other={kernel.text(others['other'])}")
        options += [f"{k.arg}={kernel.text(k.value)}" for k in earlier.call.keywords if k.arg != "mask"]
        first, second = sorted((earlier, later), key=lambda half: half.which)
        lines = [
            f"{pad}{at} = {offsets_of_pairs(kernel, earlier)}",
            f"{pad}{both} = {tl}.load({', '.join([f'{kernel.operand(earlier.base)} + {at}', *options])})",
            f"{pad}{_target(first)}, {_target(second)} = {tl}.split({tl}.reshape({both}, ({lanes}, 2)))",
        ]
        statement = earlier.statement
        kernel.replace_lines(statement.lineno, statement.end_lineno or 0, "\n".join(lines))
        delete(kernel, later.statement)


def _loaded(kernel: Kernel, statement: ast.stmt) -> Half | None:
    """`x = tl.load(base + 2 * i)` or `… + 2 * i + 1`."""
    plain = isinstance(statement, ast.Assign) and len(statement.targets) == 1
    if not plain or not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return None
    return half_of(kernel, statement, "load")


def _target(half: Half) -> str:
    return written(half.statement).pop()
