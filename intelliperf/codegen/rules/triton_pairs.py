"""Accesses to one half of records of two numbers: `base + 2 * i` or `base + 2 * i + 1`."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass

from intelliperf.codegen.rules.problem import NotApplicable
from intelliperf.codegen.rules.triton import Kernel, argument, read, written
from intelliperf.codegen.rules.triton_shapes import shape_of

_OPTIONS = frozenset({"mask", "other", "value", "eviction_policy", "cache_modifier"})


@dataclass(frozen=True, eq=False)
class Half:
    statement: ast.stmt
    call: ast.Call
    base: ast.expr  # the pointer
    index: ast.Name  # of a record
    which: int
    mask: ast.expr | None


def half_of(kernel: Kernel, statement: ast.stmt, word: str) -> Half | None:
    """Of a statement that is one `load` into a name, or one `store`."""
    call = getattr(statement, "value", None)
    if not isinstance(call, ast.Call) or kernel.called(call) != word or not call.args:
        return None
    if not {k.arg for k in call.keywords} <= _OPTIONS:
        return None
    which = 0
    rest = []
    index: ast.Name | None = None
    for term in terms(call.args[0]):
        if isinstance(term, ast.Constant) and term.value in (0, 1):
            which += term.value == 1
        elif index is None and (doubled := _doubled(term)) is not None:
            index = doubled
        else:
            rest.append(term)
    if index is None or len(rest) != 1 or which not in (0, 1) or shape_of(kernel, rest[0]) != ():
        return None
    mask = argument(call, 1 if word == "load" else 2, "mask")
    return Half(statement, call, rest[0], index, which, mask)


def terms(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*terms(node.left), *terms(node.right)]
    return [node]


def _doubled(node: ast.expr) -> ast.Name | None:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for two, name in ((node.left, node.right), (node.right, node.left)):
            if isinstance(two, ast.Constant) and two.value == 2 and isinstance(name, ast.Name):
                return name
    return None


def belong_together(one: Half, other: Half) -> bool:
    same = ast.dump(one.base) == ast.dump(other.base) and one.index.id == other.index.id
    masks = [ast.dump(half.mask) if half.mask is not None else "" for half in (one, other)]
    options = [
        sorted(f"{k.arg}={ast.dump(k.value)}" for k in half.call.keywords if k.arg not in ("mask", "value"))
        for half in (one, other)
    ]
    return same and one.which != other.which and masks[0] == masks[1] and options[0] == options[1]


def records_of(kernel: Kernel, index: ast.Name) -> tuple[str, str]:
    """Start and number of records, where the index is `start + tl.arange(0, N)`. Raises `NotApplicable`."""
    bound = kernel.definition(index.id)
    if bound is not None:
        every = terms(bound)
        ranges = [t for t in every if kernel.called(t) == "arange"]
        rest = [t for t in every if kernel.called(t) != "arange"]
        if len(ranges) == 1 and all(shape_of(kernel, t) == () for t in rest):
            shape = shape_of(kernel, ranges[0])
            if shape is not None and len(shape) == 1:
                start = " + ".join(kernel.text(t) for t in rest)
                return (f"({start})" if start else ""), shape[0]
    raise NotApplicable(f"{kernel.where(index)}: {index.id} is not a start and a range of records")


def mask_of_pairs(kernel: Kernel, half: Half, at: str) -> str:
    """A mask of records, as one of their halves. Raises `NotApplicable`."""
    mask = half.mask
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


def offsets_of_pairs(kernel: Kernel, half: Half) -> str:
    """Of all numbers of the program's records."""
    start, lanes = records_of(kernel, half.index)
    return f"{f'2 * {start} + ' if start else ''}{kernel.tl}.arange(0, 2 * {lanes})"


def between(holder: list[ast.stmt], one: Half, other: Half) -> tuple[Half, Half, list[ast.stmt]]:
    """The two in their order, and the statements from one to the other."""
    earlier, later = sorted((one, other), key=lambda half: half.statement.lineno)
    return earlier, later, holder[holder.index(earlier.statement) + 1 : holder.index(later.statement)]


def refuse_between(kernel: Kernel, statements: list[ast.stmt], half: Half, more: Collection[str] = ()) -> None:
    names = {half.index.id} | read(half.base) | (read(half.mask) if half.mask is not None else set()) | set(more)
    for statement in statements:
        if kernel.has_effects(statement) or written(statement) & names or isinstance(statement, (ast.For, ast.If)):
            raise NotApplicable(f"{kernel.where(statement)} stands between the two halves")


def delete(kernel: Kernel, statement: ast.stmt) -> None:
    """The statement with its line."""
    start, end = kernel.span(statement)
    pad = kernel.source.indentation(start)
    kernel.source.replace(start - len(pad), end + len(kernel.source.newline), "")
