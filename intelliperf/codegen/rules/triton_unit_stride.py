"""A stride that is one although the compiler does not know: the access in two versions, chosen by the stride.

Triton makes an integer argument of one a constant by itself, unless the kernel says that it is not to be specialised.
"""

from __future__ import annotations

import ast

from intelliperf.codegen.rules.problem import NotApplicable, Problem, Rewrite
from intelliperf.codegen.rules.triton import Kernel, indented, kernel_at, read, refuse_spread_strings, statement_at
from intelliperf.codegen.rules.triton_shapes import shape_of
from intelliperf.records import SourceEvidence


class TritonUnitStride:
    name = "triton_unit_stride"

    def rewrite(self, problem: Problem) -> Rewrite:
        return problem.rewrite_lines(
            "Where a stride is one, the compiler sees that neighbours lie side by side",
            lambda evidence: self._edit(problem, evidence),
        )

    def _edit(self, problem: Problem, evidence: SourceEvidence) -> list[str]:
        kernel = kernel_at(problem, evidence)
        statement, _ = statement_at(kernel, evidence.line)
        where = kernel.where(statement)
        access = next((n for n in ast.walk(statement) if kernel.called(n) in ("load", "store")), None)
        if not isinstance(access, ast.Call) or not access.args:
            raise NotApplicable(f"{where} is not a load or store")
        if not isinstance(statement, (ast.Assign, ast.Expr)):
            raise NotApplicable(f"{where}: only a plain statement can be versioned")
        refuse_spread_strings(kernel, [statement])
        unknown = _not_specialised(kernel)
        products = [p for p in _products(kernel, access.args[0]) if p[1] in unknown]
        if not products:
            raise NotApplicable(f"{where}: no stride in the address is kept from the compiler")
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        kernel.replace_lines(first, last, self._versions(kernel, statement, products))
        return [f"{where}: {' or '.join(dict.fromkeys(name for _, name, _ in products))} of one"]

    def _versions(self, kernel: Kernel, statement: ast.stmt, products: list[tuple[ast.BinOp, str, ast.expr]]) -> str:
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        text = kernel.lines(first, last)
        pad = kernel.source.indentation(kernel.span(statement)[0])
        lines = []
        word = "if"
        for name in dict.fromkeys(name for _, name, _ in products):
            changed = text
            for product, stride, factor in products:
                if stride == name:
                    changed = changed.replace(kernel.text(product), kernel.operand(factor))
            lines += [f"{pad}{word} {name} == 1:", indented(changed)]
            word = "elif"
        return "\n".join([*lines, f"{pad}else:", indented(text)])


def _not_specialised(kernel: Kernel) -> set[str]:
    """Arguments that the decorator names as `do_not_specialize`, by name or place."""
    names = [item.arg for item in kernel.function.parameters]
    found: set[str] = set()
    for decorator in kernel.node.decorator_list:
        for keyword in decorator.keywords if isinstance(decorator, ast.Call) else []:
            if keyword.arg != "do_not_specialize" or not isinstance(keyword.value, (ast.List, ast.Tuple)):
                continue
            for item in keyword.value.elts:
                if isinstance(item, ast.Constant) and isinstance(item.value, str):
                    found.add(item.value)
                elif isinstance(item, ast.Constant) and isinstance(item.value, int) and item.value < len(names):
                    found.add(names[item.value])
    return found


def _products(kernel: Kernel, address: ast.expr) -> list[tuple[ast.BinOp, str, ast.expr]]:
    """Products of lanes and an argument among the terms of the address: product, argument, lanes."""
    found = []
    waiting = [address]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            waiting += [node.left, node.right]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for lanes, stride in ((node.left, node.right), (node.right, node.left)):
                plain = isinstance(stride, ast.Name) and not kernel.definitions(stride.id)
                if plain and isinstance(stride, ast.Name) and read(lanes) and shape_of(kernel, lanes) not in ((), None):
                    found.append((node, stride.id, lanes))
    return found
