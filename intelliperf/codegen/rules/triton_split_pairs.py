"""Records of two numbers: one contiguous load of both, split in registers, instead of two with gaps."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from intelliperf.codegen.rules.problem import NotApplicable, Problem, Rewrite
from intelliperf.codegen.rules.triton import Kernel, kernel_at, read, statement_at, written
from intelliperf.codegen.rules.triton_shapes import shape_of
from intelliperf.records import SourceEvidence

_OPTIONS = frozenset({"mask", "other", "eviction_policy"})


@dataclass(frozen=True, eq=False)
class _Half:
    """A load of every second element."""

    statement: ast.Assign
    target: str
    call: ast.Call
    base: ast.expr  # the pointer
    index: ast.Name  # of a record
    which: int


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
        half = _half(kernel, statement)
        if half is None:
            raise NotApplicable(f"{kernel.where(statement)} reads no second element of each record")
        others = [other for s in holder if (other := _half(kernel, s)) is not None and _belongs(other, half)]
        if len(others) != 1:
            raise NotApplicable(f"{kernel.where(statement)}: the other half of each record is not read here")
        pair = sorted((half, others[0]), key=lambda item: item.which)
        earlier, later = sorted(pair, key=lambda item: item.statement.lineno)
        between = holder[holder.index(earlier.statement) : holder.index(later.statement) + 1]
        _refuse_between(kernel, between, half)
        self._write(kernel, pair, earlier, later)
        return [f"{kernel.where(earlier.statement)}: {pair[0].target} and {pair[1].target}"]

    def _write(self, kernel: Kernel, pair: list[_Half], earlier: _Half, later: _Half) -> None:
        tl, half = kernel.tl, pair[0]
        pad = kernel.source.indentation(kernel.span(earlier.statement)[0])
        start, lanes = _index(kernel, half.index)
        both, at = kernel.fresh("both", "both_halves"), kernel.fresh("pairs", "pair_offsets")
        options = [f"{k.arg}={self._option(kernel, k, half, at)}" for k in half.call.keywords]
        lines = [
            f"{pad}{at} = {f'2 * {start} + ' if start else ''}{tl}.arange(0, 2 * {lanes})",
            f"{pad}{both} = {tl}.load({', '.join([f'{kernel.operand(half.base)} + {at}', *options])})",
            f"{pad}{pair[0].target}, {pair[1].target} = {tl}.split({tl}.reshape({both}, ({lanes}, 2)))",
        ]
        first, last = earlier.statement.lineno, earlier.statement.end_lineno or 0
        kernel.replace_lines(first, last, "\n".join(lines))
        end = kernel.span(later.statement)[1]
        line_start = kernel.span(later.statement)[0] - len(pad)
        kernel.source.replace(line_start, end + len(kernel.source.newline), "")

    def _option(self, kernel: Kernel, keyword: ast.keyword, half: _Half, at: str) -> str:
        """A mask of records, as one of their halves."""
        if keyword.arg != "mask":
            return kernel.text(keyword.value)
        mask = keyword.value
        if isinstance(mask, ast.Name):
            bound = kernel.definition(mask.id)
            mask = bound if bound is not None else mask
        fine = (
            isinstance(mask, ast.Compare)
            and len(mask.ops) == 1
            and isinstance(mask.ops[0], ast.Lt)
            and ast.dump(mask.left) == ast.dump(half.index)
            and shape_of(kernel, mask.comparators[0]) == ()
        )
        if not fine or not isinstance(mask, ast.Compare):
            raise NotApplicable(f"{kernel.where(half.statement)}: the mask does not compare the record with a limit")
        return f"{at} < 2 * {kernel.operand(mask.comparators[0])}"


def _half(kernel: Kernel, statement: ast.stmt) -> _Half | None:
    """`x = tl.load(base + 2 * i)` or `… + 2 * i + 1`."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, call = statement.targets[0], statement.value
    if not isinstance(target, ast.Name) or not isinstance(call, ast.Call) or kernel.called(call) != "load":
        return None
    if len(call.args) != 1 or not {k.arg for k in call.keywords} <= _OPTIONS:
        return None
    terms = _terms(call.args[0])
    which = 0
    rest = []
    index: ast.Name | None = None
    for term in terms:
        if isinstance(term, ast.Constant) and term.value in (0, 1):
            which += term.value == 1
        elif index is None and (doubled := _doubled(term)) is not None:
            index = doubled
        else:
            rest.append(term)
    if index is None or len(rest) != 1 or which not in (0, 1) or shape_of(kernel, rest[0]) != ():
        return None
    return _Half(statement, target.id, call, rest[0], index, which)


def _terms(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_terms(node.left), *_terms(node.right)]
    return [node]


def _doubled(node: ast.expr) -> ast.Name | None:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for two, name in ((node.left, node.right), (node.right, node.left)):
            if isinstance(two, ast.Constant) and two.value == 2 and isinstance(name, ast.Name):
                return name
    return None


def _belongs(other: _Half, half: _Half) -> bool:
    same = ast.dump(other.base) == ast.dump(half.base) and other.index.id == half.index.id
    options = [sorted(ast.dump(k) for k in item.call.keywords) for item in (other, half)]
    return same and other.which != half.which and options[0] == options[1] and other.target != half.target


def _index(kernel: Kernel, index: ast.Name) -> tuple[str, str]:
    """Start and number of records, where the index is `start + tl.arange(0, N)`. Raises `NotApplicable`."""
    bound = kernel.definition(index.id)
    if bound is not None:
        terms = _terms(bound)
        ranges = [t for t in terms if kernel.called(t) == "arange"]
        rest = [t for t in terms if kernel.called(t) != "arange"]
        if len(ranges) == 1 and all(shape_of(kernel, t) == () for t in rest):
            shape = shape_of(kernel, ranges[0])
            if shape is not None and len(shape) == 1:
                start = " + ".join(kernel.text(t) for t in rest)
                return (f"({start})" if start else ""), shape[0]
    raise NotApplicable(f"{kernel.where(index)}: {index.id} is not a start and a range of records")


def _refuse_between(kernel: Kernel, between: list[ast.stmt], half: _Half) -> None:
    names = {half.index.id} | read(half.base)
    for keyword in half.call.keywords:
        names |= read(keyword.value)
    for statement in between[1:-1]:
        if kernel.has_effects(statement) or written(statement) & names or isinstance(statement, (ast.For, ast.If)):
            raise NotApplicable(f"{kernel.where(statement)} stands between the two halves")
