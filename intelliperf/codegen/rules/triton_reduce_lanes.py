"""Lanes that all add to one address: reduced in the program first, so that one of them does."""

from __future__ import annotations

import ast
import math
import re

from intelliperf.codegen.rules.problem import NotApplicable, Problem, Rewrite
from intelliperf.codegen.rules.triton import Kernel, argument, depends, kernel_at, program_ids, read
from intelliperf.codegen.rules.triton_atomics import atomic_at, options_of
from intelliperf.codegen.rules.triton_shapes import shape_of
from intelliperf.records import SourceEvidence

_REDUCTIONS = {"atomic_add": "sum", "atomic_max": "max", "atomic_min": "min", "atomic_xor": "xor_sum"}
_OPPOSITE = {"atomic_max": "min", "atomic_min": "max"}


class TritonReduceLanes:
    name = "triton_reduce_lanes"

    def rewrite(self, problem: Problem) -> Rewrite:
        return problem.rewrite_lines(
            "The lanes of a program are combined before its one atomic",
            lambda evidence: self._edit(problem, evidence),
        )

    def _edit(self, problem: Problem, evidence: SourceEvidence) -> list[str]:
        kernel = kernel_at(problem, evidence)
        atomic = atomic_at(kernel, evidence, _REDUCTIONS)
        where, call, word = kernel.where(atomic.statement), atomic.call, atomic.word
        lanes = shape_of(kernel, atomic.address)  # to which Triton broadcasts the others
        if lanes is None:
            raise NotApplicable(f"{where}: how many lanes take part cannot be told")
        if not lanes:
            raise NotApplicable(f"{where}: only one lane of a program takes part already")
        single = _one_address(kernel, atomic.address)
        if single is None:
            raise NotApplicable(f"{where}: the lanes of a program have addresses of their own")
        given = _Given(kernel, word, atomic.value, atomic.mask, lanes, evidence.element_bytes)
        arguments = [single, given.reduced(), *given.condition(single), *options_of(kernel, call)]
        kernel.replace(call, f"{kernel.text(call.func)}({', '.join(arguments)})")
        return [f"{where}: {_REDUCTIONS[word]} over {' x '.join(lanes)} lanes"]


def _one_address(kernel: Kernel, node: ast.expr) -> str | None:
    """The address as a scalar where all lanes have the same; None where they may differ."""
    if shape_of(kernel, node) == ():
        return kernel.text(node)
    if isinstance(node, ast.Name):
        bound = kernel.definition(node.id)
        return _one_address(kernel, bound) if bound is not None else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _one_address(kernel, node.left), _one_address(kernel, node.right)
        if left is None or right is None:
            return None
        return left if right == "0" else right if left == "0" else f"{left} + {right}"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        sides = [_one_address(kernel, side) for side in (node.left, node.right)]
        if "0" in sides:
            return "0"
        plain = all(side is not None and re.fullmatch(r"\w+", side) for side in sides)
        return f"{sides[0]} * {sides[1]}" if plain else None
    if isinstance(node, ast.Call) and kernel.called(node) in ("zeros", "zeros_like"):
        return "0"
    if isinstance(node, ast.Call) and kernel.called(node) in ("full", "broadcast_to"):
        value = argument(node, 1 if kernel.called(node) == "full" else 0, "value", "input")
        return _one_address(kernel, value) if value is not None else None
    if isinstance(node, ast.Subscript):
        return _one_address(kernel, node.value)
    return None


class _Given:
    """The value and mask of an atomic of many lanes."""

    def __init__(
        self, kernel: Kernel, word: str, value: ast.expr, mask: ast.expr | None, lanes: tuple[str, ...], size: int
    ) -> None:
        self._kernel = kernel
        self._word = word
        self._value = value
        self._mask = mask
        self._lanes = lanes
        self._bytes = size
        self._guarded = False  # where no lane takes part, the result would count

    def reduced(self) -> str:
        kernel, tl = self._kernel, self._kernel.tl
        shape = shape_of(kernel, self._value)
        text = kernel.text(self._value)
        if self._mask is not None and not self._neutral_already():
            fill = "0"
            if self._word in _OPPOSITE:  # of whatever type: no lane that the mask leaves out may then decide
                fill = f"{tl}.{_OPPOSITE[self._word]}({text})"
                self._guarded = True
            text = f"{tl}.where({kernel.text(self._mask)}, {text}, {fill})"
            masked = shape_of(kernel, self._mask)
            shape = masked if masked == self._lanes else shape
        if shape != self._lanes:
            raise NotApplicable(f"{kernel.where(self._value)}: the value has not the shape of the addresses")
        return f"{tl}.{_REDUCTIONS[self._word]}({text})"

    def _neutral_already(self) -> bool:
        """Is the value loaded under the same mask, with a neutral element elsewhere?"""
        value = self._value
        if isinstance(value, ast.Name):
            bound = self._kernel.definition(value.id)
            value = bound if bound is not None else value
        if not isinstance(value, ast.Call) or self._kernel.called(value) != "load" or self._mask is None:
            return False
        mask, other = argument(value, 1, "mask"), argument(value, 2, "other")
        if mask is None or other is None or ast.dump(mask) != ast.dump(self._mask):
            return False
        return neutral(other, _REDUCTIONS[self._word], self._bytes)

    def condition(self, address: str) -> list[str]:
        """A mask that is left: whether any lane took part, where another program's address might be no memory."""
        if self._mask is None:
            return []
        ids = [call for call, _ in program_ids(self._kernel)]
        names = read(ast.parse(address, mode="eval"))
        if (
            not self._guarded
            and not names & (depends(self._kernel, ids) | self._loop_names())
            and "program_id" not in address
        ):
            return []
        tl = self._kernel.tl
        return [f"mask={tl}.max({self._kernel.operand(self._mask)}.to({tl}.int32)) > 0"]

    def _loop_names(self) -> set[str]:
        loops = [n for n in ast.walk(self._kernel.node) if isinstance(n, ast.For)]
        return {n.id for loop in loops for n in ast.walk(loop.target) if isinstance(n, ast.Name)}


def neutral(node: ast.expr, reduction: str, size: int) -> bool:
    """Does the literal leave the result of a reduction as it is? `size`: bytes of an element."""
    try:
        value = float(_literal(node))
    except ValueError:
        return False
    if reduction in ("sum", "xor_sum"):
        return value == 0 and math.copysign(1, value) > 0
    lowest = {4: -(2.0**31), 8: -(2.0**63)}.get(size)
    if reduction == "max":
        return value == -math.inf or value == lowest
    return value == math.inf or lowest is not None and value == -lowest - 1


def _literal(node: ast.expr) -> str:
    """`-float("inf")`, `float("-inf")`, a number; "" for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _literal(node.operand)
        return inner.removeprefix("-") if inner.startswith("-") else f"-{inner}"
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "float"
        and len(node.args) == 1
    ):
        return str(node.args[0].value) if isinstance(node.args[0], ast.Constant) else ""
    return str(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) else ""
