"""Lanes that each add to a counter, few of which are meant: counted in the program first.

`tl.histogram` counts small indices in local memory; a lane with another index, large or negative, adds as before. So
it need not be known how many counters there are.
"""

from __future__ import annotations

import ast

from intelliperf.codegen.rules.problem import NotApplicable, Problem, Rewrite
from intelliperf.codegen.rules.triton import Kernel, argument, kernel_at
from intelliperf.codegen.rules.triton_atomics import SUM, atomic_at, options_of
from intelliperf.codegen.rules.triton_lane_order import terms
from intelliperf.codegen.rules.triton_shapes import shape_of
from intelliperf.records import SourceEvidence

_BINS = 256  # of a byte; more would leave fewer lanes to each
_WORD = 4


class TritonHistogram:
    name = "triton_histogram"

    def rewrite(self, problem: Problem) -> Rewrite:
        return problem.rewrite_lines(
            "A program counts on its own and adds each count once",
            lambda evidence: self._edit(problem, evidence),
        )

    def _edit(self, problem: Problem, evidence: SourceEvidence) -> list[str]:
        kernel = kernel_at(problem, evidence)
        atomic = atomic_at(kernel, evidence, SUM)
        statement, call, where = atomic.statement, atomic.call, kernel.where(atomic.statement)
        if not _is_one(kernel, atomic.value):
            raise NotApplicable(f"{where} adds something other than one")
        if evidence.element_bytes not in (0, _WORD):
            raise NotApplicable(f"{where}: the counters have not {8 * _WORD} bits")
        base, index = _split(kernel, atomic.address, where)
        kernel.replace(statement, _counted(kernel, call, (base, index, atomic.mask), options_of(kernel, call)))
        return [f"{where}: {_BINS} counters"]


def _counted(kernel: Kernel, call: ast.Call, parts: tuple[str, ast.expr, ast.expr | None], options: list[str]) -> str:
    tl, atomic = kernel.tl, kernel.text(call.func)
    base, index, mask = parts
    pad = kernel.source.indentation(kernel.span(call)[0])
    small, counts, bins = kernel.fresh("small", "is_small"), kernel.fresh("counts"), kernel.fresh("bins", "counters")
    at = kernel.operand(index)
    live = f"{kernel.operand(mask)} & " if mask is not None else ""
    others = ", ".join([f"{base} + {at}", "1", f"mask={live}({small} == 0)", *options])
    whole = ", ".join([f"{base} + {bins}", counts, f"mask={counts} > 0", *options])
    return (
        f"{small} = ({at} >= 0) & ({at} < {_BINS})\n"
        f"{pad}{atomic}({others})\n"
        f"{pad}{counts} = {tl}.histogram({tl}.where({small}, {at}, 0).to({tl}.int32), {_BINS}, mask={live}{small})\n"
        f"{pad}{bins} = {tl}.arange(0, {_BINS})\n"
        f"{pad}{atomic}({whole})"
    )


def _is_one(kernel: Kernel, node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        bound = kernel.definition(node.id)
        return bound is not None and _is_one(kernel, bound)
    if kernel.called(node) == "full" and isinstance(node, ast.Call):
        value = argument(node, 1, "value")
        return value is not None and _is_one(kernel, value)
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == 1


def _split(kernel: Kernel, address: ast.expr, where: str) -> tuple[str, ast.expr]:
    """The counters' pointer and the lanes' index. Raises `NotApplicable`."""
    if isinstance(address, ast.Name) and (bound := kernel.definition(address.id)) is not None:
        address = bound
    every = list(terms(address))
    lanes = [term for term in every if shape_of(kernel, term) != ()]
    scalars = [term for term in every if shape_of(kernel, term) == ()]
    if len(lanes) != 1 or not scalars or len(shape_of(kernel, lanes[0]) or ()) != 1:
        raise NotApplicable(f"{where}: the address is not a pointer and one index per lane")
    if not isinstance(lanes[0], ast.Name) or not isinstance(kernel.definition(lanes[0].id), ast.Call):
        raise NotApplicable(f"{where}: the index is computed, not read: lanes may have addresses of their own")
    return " + ".join(kernel.operand(term) for term in scalars), lanes[0]
