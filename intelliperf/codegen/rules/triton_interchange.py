"""A flat index that walks down the columns of what lies by rows, made to walk along the rows.

`r = i % ROWS; c = i // ROWS` and `r = i // COLUMNS; c = i % COLUMNS` visit the same pairs where `i` counts to their
product. Each element is dealt with by itself, so that it does not matter which lane meets which.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from intelliperf.codegen.rules.problem import NotApplicable, Problem, Rewrite
from intelliperf.codegen.rules.triton import Kernel, argument, kernel_at, read, statement_at
from intelliperf.codegen.rules.triton_lane_order import BY_ELEMENT, terms
from intelliperf.codegen.rules.triton_shapes import shape_of
from intelliperf.project.pythonsource import body_nodes
from intelliperf.records import SourceEvidence

NO_ELEMENTS = frozenset({"program_id", "num_programs", "arange", "cdiv"})


@dataclass(frozen=True, eq=False)
class _Parts:
    """`low = index % size`, `high = index // size`."""

    index: str
    size: ast.expr
    low: ast.BinOp
    high: ast.BinOp
    low_name: str
    high_name: str


class TritonInterchange:
    name = "triton_interchange"

    def rewrite(self, problem: Problem) -> Rewrite:
        return problem.rewrite_lines(
            "The flat index walks along the rows that lie together",
            lambda evidence: self._edit(problem, evidence),
        )

    def _edit(self, problem: Problem, evidence: SourceEvidence) -> list[str]:
        kernel = kernel_at(problem, evidence)
        statement, _ = statement_at(kernel, evidence.line)
        parts = _parts(kernel, kernel.where(statement))
        other = _other_size(kernel, parts, kernel.where(statement))
        _refuse_strangers(kernel, parts)
        kernel.replace(parts.low, f"{parts.index} // {kernel.operand(other)}")
        kernel.replace(parts.high, f"{parts.index} % {kernel.operand(other)}")
        return [f"{kernel.where(statement)}: {parts.high_name} before {parts.low_name}"]


def _parts(kernel: Kernel, where: str) -> _Parts:
    found: dict[tuple[str, str], dict[type[ast.operator], tuple[str, ast.BinOp]]] = {}
    for name in sorted(kernel.function.locals):
        value = kernel.definition(name)
        if not isinstance(value, ast.BinOp) or not isinstance(value.left, ast.Name):
            continue
        flat = len(shape_of(kernel, value.left) or ()) == 1 and shape_of(kernel, value.right) == ()
        if flat and isinstance(value.op, (ast.Mod, ast.FloorDiv)):
            found.setdefault((value.left.id, ast.dump(value.right)), {})[type(value.op)] = (name, value)
    whole = [(key, both) for key, both in found.items() if len(both) == 2]
    if len(whole) != 1:
        raise NotApplicable(f"{where}: no flat index is taken apart here, or more than one")
    (((index, _), both),) = whole
    (low_name, low), (high_name, high) = both[ast.Mod], both[ast.FloorDiv]
    return _Parts(index, low.right, low, high, low_name, high_name)


def _other_size(kernel: Kernel, parts: _Parts, where: str) -> ast.expr:
    """What `size` is multiplied with in the limit of the index. Raises `NotApplicable`."""
    size = ast.dump(parts.size)
    found: dict[str, ast.expr] = {}
    for mask in _masks(kernel, parts):
        limit = _limit(kernel, mask, parts.index)
        if isinstance(limit, ast.Name) and (bound := kernel.definition(limit.id)) is not None:
            limit = bound
        if isinstance(limit, ast.BinOp) and isinstance(limit.op, ast.Mult):
            sides = [side for side in (limit.left, limit.right) if ast.dump(side) != size]
            if len(sides) == 1 and shape_of(kernel, sides[0]) == ():
                found[ast.dump(sides[0])] = sides[0]
                continue
        raise NotApplicable(f"{where}: {parts.index} does not count to {ast.unparse(parts.size)} times another number")
    if len(found) != 1:
        raise NotApplicable(f"{where}: the limits of {parts.index} differ")
    (other,) = found.values()
    walked = [node for call in _accesses(kernel) for node in ast.walk(_address(kernel, call))]
    strided = any(_is_product(node, parts.low_name) for node in walked)
    if not strided or any(_is_product(node, parts.high_name) for node in walked):
        raise NotApplicable(f"{where}: {parts.low_name} walks along what lies together, or {parts.high_name} does not")
    return other


def _accesses(kernel: Kernel) -> list[ast.Call]:
    return [n for n in body_nodes(kernel.node) if isinstance(n, ast.Call) and kernel.called(n) in ("load", "store")]


def _address(kernel: Kernel, call: ast.Call) -> ast.expr:
    """With names that stand for offsets written out once."""
    address = call.args[0] if call.args else ast.Constant(0)
    if isinstance(address, ast.Name):
        return kernel.definition(address.id) or address
    named = [kernel.definition(term.id) for term in terms(address) if isinstance(term, ast.Name)]
    return ast.Tuple([address, *(one for one in named if one is not None)], ast.Load())


def _is_product(node: ast.AST, name: str) -> bool:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    return any(isinstance(side, ast.Name) and side.id == name for side in (node.left, node.right))


def _masks(kernel: Kernel, parts: _Parts) -> list[ast.expr]:
    """Of all accesses, each of which has to have one. Raises `NotApplicable`."""
    masks = []
    for call in _accesses(kernel):
        mask = argument(call, 1 if kernel.called(call) == "load" else 2, "mask")
        if mask is None:
            if shape_of(kernel, call.args[0]) == ():
                continue  # the same number for all lanes
            raise NotApplicable(f"{kernel.where(call)} has no mask that limits {parts.index}")
        masks.append(mask)
    return masks


def _limit(kernel: Kernel, mask: ast.expr, index: str) -> ast.expr | None:
    """N of `index < N`, also by name or as one side of `&`."""
    if isinstance(mask, ast.Name):
        bound = kernel.definition(mask.id)
        return _limit(kernel, bound, index) if bound is not None else None
    if isinstance(mask, ast.BinOp) and isinstance(mask.op, ast.BitAnd):
        return _limit(kernel, mask.left, index) or _limit(kernel, mask.right, index)
    below = isinstance(mask, ast.Compare) and len(mask.ops) == 1 and isinstance(mask.ops[0], ast.Lt)
    if below and isinstance(mask, ast.Compare) and isinstance(mask.left, ast.Name) and mask.left.id == index:
        return mask.comparators[0]
    return None


def _refuse_strangers(kernel: Kernel, parts: _Parts) -> None:
    """All that lanes do has to belong to their element, whose place is the two parts alone."""
    fine = {id(node) for part in (parts.low, parts.high) for node in ast.walk(part)}
    for node in body_nodes(kernel.node):
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id == parts.index:
            fine.add(id(node.left))
    definition = kernel.definition(parts.index)
    own = {id(node) for node in ast.walk(definition)} if definition is not None else set()
    for node in body_nodes(kernel.node):
        if isinstance(node, (ast.For, ast.While, ast.If, ast.AugAssign)):
            raise NotApplicable(f"{kernel.where(node)}: only plain statements can be taken in another order")
        read_here = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id == parts.index
        if isinstance(node, ast.Name) and read_here and id(node) not in fine:
            raise NotApplicable(f"{kernel.where(node)}: {parts.index} is used apart from its parts")
        if isinstance(node, ast.Call) and id(node) not in own:
            word = kernel.called(node)
            if word not in BY_ELEMENT and word not in NO_ELEMENTS:
                raise NotApplicable(f"{kernel.where(node)}: `{ast.unparse(node.func)}` may mix lanes")
            if word == "arange":
                raise NotApplicable(f"{kernel.where(node)}: lanes are told apart by more than {parts.index}")
    refuse_aliases(kernel)


def refuse_aliases(kernel: Kernel) -> None:
    """What is stored may be read at its own place only."""
    stored = {ast.dump(call.args[0]) for call in _accesses(kernel) if kernel.called(call) == "store" and call.args}
    bases = {name for call in _accesses(kernel) if kernel.called(call) == "store" for name in _pointers(kernel, call)}
    for call in _accesses(kernel):
        foreign = kernel.called(call) == "load" and call.args and ast.dump(call.args[0]) not in stored
        if foreign and _pointers(kernel, call) & bases:
            raise NotApplicable(f"{kernel.where(call)}: an element that is stored may be one that another lane reads")


def _pointers(kernel: Kernel, call: ast.Call) -> set[str]:
    """Arguments that the address may begin with."""
    address = _address(kernel, call)
    whole = address.elts[0] if isinstance(address, ast.Tuple) else address
    names = read(next(iter(terms(whole))))
    return names & {item.arg for item in kernel.function.parameters}
