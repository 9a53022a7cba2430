"""Lanes whose steps are as long as the grid, `pid + arange(0, B) * num_programs`, made neighbours.

All programs together visit each number below `B * num_programs` once, and so they do with `pid * B + arange(0, B)`.
Each element is dealt with by itself, so that it does not matter which program meets which.
"""

from __future__ import annotations

import ast

from intelliperf.codegen.rules.problem import NotApplicable, Problem, Rewrite
from intelliperf.codegen.rules.triton import Kernel, argument, launched_kernel_at, statement_at
from intelliperf.codegen.rules.triton_interchange import NO_ELEMENTS, refuse_aliases
from intelliperf.codegen.rules.triton_lane_order import BY_ELEMENT
from intelliperf.project.pythonsource import body_nodes
from intelliperf.records import SourceEvidence


class TritonRenumberLanes:
    name = "triton_renumber_lanes"

    def rewrite(self, problem: Problem) -> Rewrite:
        return problem.rewrite_lines(
            "The lanes of a program take neighbouring elements, in place of ones as far apart as the grid is long",
            lambda evidence: self._edit(problem, evidence),
        )

    def _edit(self, problem: Problem, evidence: SourceEvidence) -> list[str]:
        kernel = launched_kernel_at(problem, evidence)
        statement, _ = statement_at(kernel, evidence.line)
        where = kernel.where(statement)
        spread = [n for n in body_nodes(kernel.node) if isinstance(n, ast.BinOp) and _is_spread(kernel, n)]
        if len(spread) != 1:
            raise NotApplicable(f"{where}: no lanes step by the number of programs, or more than one range does")
        (index,) = spread
        used = _parts(kernel, index)
        _refuse_strangers(kernel, used)
        number, lanes = index.left, index.right
        if not _resolves(kernel, number, "program_id"):
            number, lanes = lanes, number
        assert isinstance(lanes, ast.BinOp)
        within = lanes.left if _resolves(kernel, lanes.left, "arange") else lanes.right
        size = argument(_call(kernel, within), 1, "end")
        assert size is not None
        kernel.replace(index, f"{kernel.operand(number)} * {kernel.operand(size)} + {kernel.operand(within)}")
        return [f"{where}: neighbouring elements"]


def _call(kernel: Kernel, node: ast.expr) -> ast.Call:
    bound = kernel.definition(node.id) if isinstance(node, ast.Name) else node
    assert isinstance(bound, ast.Call)
    return bound


def _resolves(kernel: Kernel, node: ast.expr, word: str) -> bool:
    bound = kernel.definition(node.id) if isinstance(node, ast.Name) else node
    return bound is not None and kernel.called(bound) == word


def _is_spread(kernel: Kernel, node: ast.BinOp) -> bool:
    """`pid + arange(0, B) * num_programs` in any order, all along one axis."""
    if not isinstance(node.op, ast.Add):
        return False
    for number, lanes in ((node.left, node.right), (node.right, node.left)):
        if not _resolves(kernel, number, "program_id"):
            continue
        if not isinstance(lanes, ast.BinOp) or not isinstance(lanes.op, ast.Mult):
            continue
        for within, count in ((lanes.left, lanes.right), (lanes.right, lanes.left)):
            if _resolves(kernel, within, "arange") and _resolves(kernel, count, "num_programs"):
                start = argument(_call(kernel, within), 0, "start")
                begins = isinstance(start, ast.Constant) and start.value == 0
                axes = [_axis(_call(kernel, part)) for part in (number, count)]
                return begins and axes[0] is not None and axes[0] == axes[1]
    return False


def _axis(call: ast.Call) -> object:
    axis = argument(call, 0, "axis")
    return axis.value if isinstance(axis, ast.Constant) else None


def _parts(kernel: Kernel, index: ast.BinOp) -> set[int]:
    """Nodes of the index, with the definitions of its names."""
    nodes = set(ast.walk(index))
    for node in list(nodes):
        bound = kernel.definition(node.id) if isinstance(node, ast.Name) else None
        if bound is not None:
            nodes |= set(ast.walk(bound))
    return {id(node) for node in nodes}


def _refuse_strangers(kernel: Kernel, own: set[int]) -> None:
    """All that lanes do has to belong to their element, whose place is the index alone."""
    names = {
        node.id
        for node in body_nodes(kernel.node)
        if isinstance(node, ast.Name) and id(node) in own and kernel.definition(node.id) is not None
    }
    for node in body_nodes(kernel.node):
        if isinstance(node, (ast.For, ast.While, ast.If, ast.AugAssign)):
            raise NotApplicable(f"{kernel.where(node)}: only plain statements can be taken in another order")
        reads = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in own
        if isinstance(node, ast.Name) and reads and node.id in names:
            raise NotApplicable(f"{kernel.where(node)}: {node.id} is used apart from the index")
        if isinstance(node, ast.Call) and id(node) not in own:
            word = kernel.called(node)
            if word not in BY_ELEMENT and word not in NO_ELEMENTS:
                raise NotApplicable(f"{kernel.where(node)}: `{ast.unparse(node.func)}` may mix lanes")
            if word in ("arange", "program_id", "num_programs"):
                raise NotApplicable(f"{kernel.where(node)}: elements are told apart by more than the index")
    refuse_aliases(kernel)
