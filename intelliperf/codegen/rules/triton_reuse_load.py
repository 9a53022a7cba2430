"""The same addresses under the same mask, read again only because lanes outside get another fill value.

The compiler joins loads that are equal in all; with another `other` it reads memory again.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from intelliperf.codegen.rules.problem import NotApplicable, Problem, Rewrite
from intelliperf.codegen.rules.triton import Kernel, argument, kernel_at, read, written
from intelliperf.project.pythonsource import body_nodes
from intelliperf.records import SourceEvidence

_OPTIONS = frozenset({"mask", "other", "eviction_policy", "cache_modifier"})


class TritonReuseLoad:
    name = "triton_reuse_load"

    def rewrite(self, problem: Problem) -> Rewrite:
        return problem.rewrite_lines(
            "What was read already is kept in registers",
            lambda evidence: self._edit(problem, evidence),
        )

    def _edit(self, problem: Problem, evidence: SourceEvidence) -> list[str]:
        kernel = kernel_at(problem, evidence)
        loads = [n for n in body_nodes(kernel.node) if isinstance(n, ast.Call) and kernel.called(n) == "load"]
        here = [n for n in loads if n.lineno <= evidence.line <= (n.end_lineno or n.lineno)]
        if not here:
            raise NotApplicable(f"{kernel.source.path}:{evidence.line} is not a load")
        done = []
        for load in here:
            twins = [n for n in loads if n is not load and _alike(n, load)]
            for twin in twins:
                done += self._join(kernel, *sorted((load, twin), key=lambda n: (n.lineno, n.col_offset)))
        if not done:
            raise NotApplicable(f"{kernel.source.path}:{evidence.line}: nothing else reads the same addresses")
        return done

    def _join(self, kernel: Kernel, first: ast.Call, second: ast.Call) -> list[str]:
        holder, start, end = _same_block(kernel, first, second)
        source = holder[start]
        named = isinstance(source, ast.Assign) and source.value is first and isinstance(source.targets[0], ast.Name)
        if not named or not isinstance(source, ast.Assign) or len(source.targets) != 1:
            raise NotApplicable(f"{kernel.where(first)}: what is read first has no name")
        name = written(source).pop()
        address, mask, other = (argument(second, n, word) for n, word in enumerate(("pointer", "mask", "other")))
        if ast.dump(first) == ast.dump(second):
            raise NotApplicable(f"{kernel.where(second)}: the compiler joins loads that are equal")
        assert address is not None
        names = read(first) | {name}
        for statement in holder[start + 1 : end]:
            if kernel.has_effects(statement) or written(statement) & names:
                raise NotApplicable(f"{kernel.where(statement)} stands between the two loads")
        kept = name
        if mask is not None and other is not None:
            kept = f"{kernel.tl}.where({kernel.text(mask)}, {name}, {kernel.text(other)})"
        kernel.replace(second, kept)
        return [f"{kernel.where(second)}: as {name}"]


def _alike(one: ast.Call, other: ast.Call) -> bool:
    """Same addresses and mask."""
    if any(k.arg not in _OPTIONS for call in (one, other) for k in call.keywords):
        return False
    for position, name in enumerate(("pointer", "mask")):
        mine, theirs = argument(one, position, name), argument(other, position, name)
        if (mine is None) != (theirs is None) or mine is not None and theirs and ast.dump(mine) != ast.dump(theirs):
            return False
    return True


def _same_block(kernel: Kernel, first: ast.Call, second: ast.Call) -> tuple[Sequence[ast.stmt], int, int]:
    """The list of statements that holds both. Raises `NotApplicable`."""
    for holder in _lists(kernel.node):
        places = [
            [n for n, s in enumerate(holder) if any(inner is call for inner in ast.walk(s))] for call in (first, second)
        ]
        if places[0] and places[1] and places[0] != places[1]:
            (start,), (end,) = places
            if not isinstance(holder[start], (ast.For, ast.If)) and not isinstance(holder[end], (ast.For, ast.If)):
                return holder, start, end
    raise NotApplicable(f"{kernel.where(second)}: the same addresses are read in another block")


def _lists(node: ast.AST) -> list[Sequence[ast.stmt]]:
    found: list[Sequence[ast.stmt]] = []
    for inner in ast.walk(node):
        for name in ("body", "orelse"):
            block = getattr(inner, name, None)
            if isinstance(block, list) and block:
                found.append(block)
    return found
