"""A matrix product's sums, stored by rows of memory instead of as the matrix unit leaves them.

Triton for AMD stores accumulators straight from the matrix unit's layout, in which the lanes of a request lie many rows
apart. A reshape between takes the layout away, so that the compiler chooses one by the addresses, through LDS.
"""

from __future__ import annotations

import ast

from intelliperf.codegen.rules.problem import NotApplicable, Problem, Rewrite
from intelliperf.codegen.rules.triton import Kernel, argument, kernel_at, read, statement_at
from intelliperf.codegen.rules.triton_shapes import Shape, shape_of, together
from intelliperf.records import SourceEvidence


class TritonStoreLayout:
    name = "triton_store_layout"

    def rewrite(self, problem: Problem) -> Rewrite:
        return problem.rewrite_lines(
            "The product's sums are stored in the order of memory",
            lambda evidence: self._edit(problem, evidence),
        )

    def _edit(self, problem: Problem, evidence: SourceEvidence) -> list[str]:
        if problem.task.device.vendor != "amd":
            raise NotApplicable("only Triton for AMD stores accumulators as the matrix unit leaves them")
        kernel = kernel_at(problem, evidence)
        statement, _ = statement_at(kernel, evidence.line)
        where = kernel.where(statement)
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or kernel.called(call) != "store":
            raise NotApplicable(f"{where} is not a store")
        address, value, mask = (argument(call, n, name) for n, name in enumerate(("pointer", "value", "mask")))
        if address is None or value is None or not _of_product(kernel, value):
            raise NotApplicable(f"{where} stores no product of matrices")
        if isinstance(value, ast.Call) and kernel.called(value) == "reshape":
            raise NotApplicable(f"{where} has the form that this rule would give it")
        shape = shape_of(kernel, value)
        if shape is None or len(shape) != 2 or "1" in shape:
            raise NotApplicable(f"{where}: the shape of the product cannot be told")
        for node in (address, value, mask):
            if node is not None:
                kernel.replace(node, _flat(kernel, node, shape))
        return [f"{where}: {' x '.join(shape)}"]


def _flat(kernel: Kernel, node: ast.expr, shape: Shape) -> str:
    own = shape_of(kernel, node)
    if own is None or together(own, shape) != shape:
        raise NotApplicable(f"{kernel.where(node)}: the shape of `{ast.unparse(node)[:40]}` cannot be told")
    text = kernel.text(node)
    size = f"({_factor(shape[0])} * {_factor(shape[1])},)"
    if own != shape:
        text = f"{kernel.tl}.broadcast_to({text}, ({shape[0]}, {shape[1]}))"
    return f"{kernel.tl}.reshape({text}, {size})"


def _factor(size: str) -> str:
    return size if size.isidentifier() or size.isdigit() else f"({size})"


def _of_product(kernel: Kernel, value: ast.expr) -> bool:
    """Does the value come from `tl.dot`, through arithmetic of single elements alone?"""
    seen: set[str] = set()
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if any(kernel.called(n) in ("dot", "dot_scaled") for n in ast.walk(node)):
            return True
        for name in read(node) - seen:
            seen.add(name)
            waiting += [s.value for s in kernel.definitions(name) if isinstance(s, (ast.Assign, ast.AugAssign))]
    return False
