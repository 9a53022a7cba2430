"""Rows that are added to an entry chosen by data: where all rows of a program go to one entry, their sum does.

Sorted keys make most programs such, and the launch decides for each of them; the others add row by row as before.
"""

from __future__ import annotations

import ast
import copy

from intelliperf.codegen.rules.problem import NotApplicable, Problem, Rewrite
from intelliperf.codegen.rules.triton import (
    Kernel,
    indented,
    kernel_at,
    read,
    refuse_spread_strings,
)
from intelliperf.codegen.rules.triton_atomics import SUM, Atomic, atomic_at, options_of
from intelliperf.codegen.rules.triton_shapes import shape_of, together
from intelliperf.records import SourceEvidence


class TritonUniformRows:
    name = "triton_uniform_rows"

    def rewrite(self, problem: Problem) -> Rewrite:
        return problem.rewrite_lines(
            "Where all rows of a program have one key, their sum is added once",
            lambda evidence: self._edit(problem, evidence),
        )

    def _edit(self, problem: Problem, evidence: SourceEvidence) -> list[str]:
        kernel = kernel_at(problem, evidence)
        atomic = atomic_at(kernel, evidence, SUM)
        statement, address, where = atomic.statement, atomic.address, kernel.where(atomic.statement)
        refuse_spread_strings(kernel, [statement])
        key = _key(kernel, address, where)
        lanes = shape_of(kernel, address)
        for part in (atomic.value, atomic.mask):
            other = shape_of(kernel, part) if part is not None else ()
            lanes = None if lanes is None or other is None else together(lanes, other)
        if lanes is None or lanes != shape_of(kernel, address):
            raise NotApplicable(f"{where}: how many lanes take part cannot be told")
        self._write(kernel, atomic, key, lanes)
        return [f"{where}: one {key} for all {lanes[0]} rows"]

    def _write(self, kernel: Kernel, atomic: Atomic, key: str, lanes: tuple[str, ...]) -> None:
        statement, call = atomic.statement, atomic.call
        address, value, mask = atomic.address, atomic.value, atomic.mask
        tl, pad = kernel.tl, " " * statement.col_offset
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        lowest, total = kernel.fresh(f"lowest_{key}", "lowest_key"), kernel.fresh("row_sum", "sum_of_rows")
        terms = kernel.text(value)
        if mask is not None:
            terms = f"{tl}.where({kernel.text(mask)}, {terms}, 0)"
        if shape_of(kernel, value) != lanes and (mask is None or shape_of(kernel, mask) != lanes):
            terms = f"{tl}.broadcast_to({terms}, ({', '.join(lanes)},))"
        kept = ", keep_dims=True" if len(lanes) > 1 else ""
        one = ast.unparse(ast.fix_missing_locations(_Single(key, lowest).visit(copy.deepcopy(address))))
        arguments = ", ".join([one, total, f"mask={total} != 0", *options_of(kernel, call)])
        kernel.replace_lines(
            first,
            last,
            f"{pad}{lowest} = {tl}.min({key}, axis=0)\n"
            f"{pad}if {lowest} == {tl}.max({key}, axis=0):\n"
            f"{pad}    {total} = {tl}.sum({terms}, axis=0{kept})\n"
            f"{pad}    {kernel.text(call.func)}({arguments})\n"
            f"{pad}else:\n"
            f"{indented(kernel.lines(first, last))}",
        )


def _key(kernel: Kernel, address: ast.expr, where: str) -> str:
    """The only name in the address that is found in memory, one for each row. Raises `NotApplicable`."""
    found = []
    for name in sorted(read(address)):
        bound = kernel.definition(name)
        if bound is not None and kernel.called(bound) == "load" and len(shape_of(kernel, bound) or ()) == 1:
            found.append(name)
    if len(found) != 1:
        raise NotApplicable(f"{where}: the rows have no one key, read from memory, in their address")
    (key,) = found
    for node in ast.walk(address):
        named = [n.id for n in ast.iter_child_nodes(node) if isinstance(n, ast.Name)]
        if isinstance(node, ast.Subscript) and key in named and _axis(node) != 0:
            raise NotApplicable(f"{where}: the keys do not lie along the first dimension")
    lanes = shape_of(kernel, address) or ()
    others = [name for name in read(address) - {key} if len(shape_of(kernel, ast.Name(name, ast.Load())) or ()) > 0]
    spread = [n for n in ast.walk(address) if isinstance(n, ast.Subscript) and _axis(n) == 0]
    if any(_names(n) & set(others) for n in spread) or (len(lanes) == 1 and others) or len(lanes) not in (1, 2):
        raise NotApplicable(f"{where}: rows of one key have addresses of their own")
    if len(lanes) == 2 and any(not _along(address, name) for name in others):
        raise NotApplicable(f"{where}: rows of one key have addresses of their own")
    return key


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _along(address: ast.expr, name: str) -> bool:
    """Does the name stand in `[None, :]` only?"""
    spread = [n for n in ast.walk(address) if isinstance(n, ast.Subscript) and _axis(n) == 1 and name in _names(n)]
    uses = sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(address))
    return bool(spread) and uses == sum(isinstance(n, ast.Name) and n.id == name for s in spread for n in ast.walk(s))


def _axis(node: ast.Subscript) -> int | None:
    """Of `x[:, None]` 0, of `x[None, :]` 1."""
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
    whole = [n for n, item in enumerate(items) if isinstance(item, ast.Slice)]
    return whole[0] if len(items) == 2 and len(whole) == 1 else None


class _Single(ast.NodeTransformer):
    """The address with one key in place of all."""

    def __init__(self, key: str, lowest: str) -> None:
        self._key, self._lowest = key, lowest

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == self._key:
            return ast.Name(self._lowest, ast.Load())
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name(self._lowest, ast.Load()) if node.id == self._key else node
