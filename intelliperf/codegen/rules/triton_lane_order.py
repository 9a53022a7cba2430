"""Lanes that each walk a run of their own, made to walk side by side.

`for k in range(RUN): … lanes * RUN + k` and `… lanes + k * LANES` visit the same elements. Where each element is dealt
with by itself, or goes into a sum of all, it does not matter which lane meets it in which round.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from intelliperf.codegen.rules.problem import NotApplicable, Problem, Rewrite
from intelliperf.codegen.rules.triton import Kernel, argument, kernel_at, read, written
from intelliperf.codegen.rules.triton_shapes import shape_of
from intelliperf.project.pythonsource import body_nodes
from intelliperf.records import SourceEvidence

BY_ELEMENT = frozenset(
    ["load", "store", "where", "abs", "exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "sqrt_rn", "rsqrt", "erf"]
    + [
        "floor",
        "ceil",
        "maximum",
        "minimum",
        "fma",
        "to",
        "cast",
        "fdiv",
        "div_rn",
        "sigmoid",
        "clamp",
        "umulhi",
        "float",
    ]
)
_AFTERWARDS = {"Add": "sum", "maximum": "max", "minimum": "min"}


@dataclass(frozen=True, eq=False)
class _Sum:
    """A sum with a lane's start and the round in it: nodes of both terms."""

    start: ast.BinOp  # lanes * RUN
    lanes: ast.expr
    walk: _Walk
    round: ast.Name
    root: ast.expr


@dataclass(frozen=True, eq=False)
class _Walk:
    """`first + tl.arange(0, count)`: a program's lanes. `first` counts lanes, too, and is the same for all of them."""

    range: ast.expr
    count: ast.expr
    first: tuple[ast.expr, ...]


class TritonLaneOrder:
    name = "triton_lane_order"

    def rewrite(self, problem: Problem) -> Rewrite:
        return problem.rewrite_lines(
            "Neighbouring lanes take neighbouring elements",
            lambda evidence: self._edit(problem, evidence),
        )

    def _edit(self, problem: Problem, evidence: SourceEvidence) -> list[str]:
        kernel = kernel_at(problem, evidence)
        where = f"{kernel.source.path}:{evidence.line}"
        loop = loop_around(kernel, evidence.line, where)
        sums = _sums(kernel, loop, where)
        _refuse_other_uses(kernel, loop, sums)
        _refuse_order(kernel, loop, sums)
        for found in sums:
            kernel.replace(found.start, _side_by_side(kernel, found))
            kernel.replace(found.round, f"{found.round.id} * {kernel.operand(found.walk.count)}")
        return [f"{kernel.where(loop)}: in steps of {ast.unparse(sums[0].walk.count)} lanes"]


def _side_by_side(kernel: Kernel, found: _Sum) -> str:
    """Where the program's lanes begin: its share as before, and the lanes without their runs."""
    if not found.walk.first:
        return kernel.text(found.lanes)
    run = found.start.right if found.start.left is found.lanes else found.start.left
    (term, *more) = found.walk.first
    factors = not more and isinstance(term, ast.BinOp) and isinstance(term.op, ast.Mult)
    first = kernel.text(term) if factors else kernel.operand(term)
    if more:
        first = f"({' + '.join(kernel.operand(term) for term in found.walk.first)})"
    return f"{first} * {kernel.operand(run)} + {kernel.text(found.walk.range)}"


def loop_around(kernel: Kernel, line: int, where: str) -> ast.For:
    around = [
        n for n in body_nodes(kernel.node) if isinstance(n, ast.For) and n.body[0].lineno <= line <= (n.end_lineno or 0)
    ]
    if not around:
        raise NotApplicable(f"{where} is in no loop")
    loop = max(around, key=lambda node: node.lineno)
    if not isinstance(loop.target, ast.Name):
        raise NotApplicable(f"{kernel.where(loop)}: the loop has no plain variable")
    return loop


def rounds_of(kernel: Kernel, loop: ast.For) -> ast.expr:
    """How many rounds the loop has, from 0 on."""
    call = loop.iter
    name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else kernel.called(call)
    if (
        isinstance(call, ast.Call)
        and name in ("range", "static_range")
        and len(call.args) in (1, 2)
        and not call.keywords
    ):
        first = call.args[0] if len(call.args) == 2 else None
        if first is None or isinstance(first, ast.Constant) and first.value == 0:
            return call.args[-1]
    raise NotApplicable(f"{kernel.where(loop)}: the loop does not count from 0 in steps of one")


def _sums(kernel: Kernel, loop: ast.For, where: str) -> list[_Sum]:
    rounds = ast.dump(rounds_of(kernel, loop))
    found = []
    for root in _roots(loop):
        summed = list(terms(root))
        starts = [t for t in summed if isinstance(t, ast.BinOp) and _start(kernel, t, rounds) is not None]
        counters = [t for t in summed if isinstance(t, ast.Name) and t.id == _variable(loop)]
        if len(starts) == 1 and len(counters) == 1:
            start = _start(kernel, starts[0], rounds)
            assert start is not None
            found.append(_Sum(starts[0], *start, counters[0], root))
    if not found:
        raise NotApplicable(f"{where}: no lane has a run of its own in this loop")
    return found


def _variable(loop: ast.For) -> str:
    return loop.target.id if isinstance(loop.target, ast.Name) else ""


def _roots(loop: ast.For) -> Iterator[ast.expr]:
    """Sums that are not a term of another one."""
    inner: set[int] = set()
    for node in (n for statement in loop.body for n in ast.walk(statement)):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            inner |= {id(side) for side in (node.left, node.right)}
            if id(node) not in inner:
                yield node


def terms(node: ast.expr) -> Iterator[ast.expr]:
    """Of a sum, in their order; of anything else itself."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from terms(node.left)
        yield from terms(node.right)
    else:
        yield node


def written_out(kernel: Kernel, node: ast.expr) -> Iterator[ast.expr]:
    """Terms of a sum, and of the sums that they are names of."""
    for term in terms(node):
        bound = kernel.definition(term.id) if isinstance(term, ast.Name) else None
        if isinstance(bound, (ast.BinOp, ast.Name)):
            yield from written_out(kernel, bound)
        else:
            yield term


def _start(kernel: Kernel, node: ast.BinOp, rounds: str) -> tuple[ast.expr, _Walk] | None:
    """The lanes of `lanes * RUN` where RUN is the number of rounds."""
    if not isinstance(node.op, ast.Mult):
        return None
    for lanes, run in ((node.left, node.right), (node.right, node.left)):
        walk = _walk(kernel, lanes)
        if walk is not None and ast.dump(run) == rounds:
            return lanes, walk
    return None


def _walk(kernel: Kernel, node: ast.expr) -> _Walk | None:
    """Of `tl.arange(0, N)`, also with a start that all lanes share, also by name."""
    if isinstance(node, ast.Name):
        bound = kernel.definition(node.id)
        return _walk(kernel, bound) if bound is not None else None
    summed = list(terms(node))
    ranges = [term for term in summed if kernel.called(term) == "arange"]
    rest = tuple(term for term in summed if kernel.called(term) != "arange")
    if len(ranges) != 1 or not isinstance(ranges[0], ast.Call) or any(shape_of(kernel, term) != () for term in rest):
        return None
    first, last = argument(ranges[0], 0, "start"), argument(ranges[0], 1, "end")
    plain = isinstance(first, ast.Constant) and first.value == 0 and last is not None
    return _Walk(ranges[0], last, rest) if plain and last is not None else None


def _refuse_other_uses(kernel: Kernel, loop: ast.For, sums: list[_Sum]) -> None:
    """The round and the lanes may be used in these sums only."""
    fine = {id(n) for found in sums for term in (found.start, found.round) for n in ast.walk(term)}
    lane_names = {found.lanes.id for found in sums if isinstance(found.lanes, ast.Name)}
    counts = {ast.dump(found.walk.count) for found in sums}
    if len(counts) != 1:
        raise NotApplicable(f"{kernel.where(loop)}: loops over lanes of different number")
    for node in (n for statement in loop.body for n in ast.walk(statement)):
        named = isinstance(node, ast.Name) and node.id in {_variable(loop), *lane_names}
        if id(node) not in fine and (named or kernel.called(node) == "arange"):
            raise NotApplicable(f"{kernel.where(loop)}: `{ast.unparse(node)}` is used apart from the index, too")


def _refuse_order(kernel: Kernel, loop: ast.For, sums: list[_Sum]) -> None:
    where = kernel.where(loop)
    own: set[str] = set()
    accumulators: dict[str, str] = {}
    lane_names = {found.lanes.id for found in sums if isinstance(found.lanes, ast.Name)}
    for statement in loop.body:
        combined = accumulation(kernel, statement)
        if combined is not None:
            accumulators[combined[0]] = combined[1]
        elif isinstance(statement, ast.Assign):
            own |= written(statement)
        elif not isinstance(statement, ast.Expr):
            raise NotApplicable(f"{kernel.where(statement)}: the loop holds more than plain statements")
    for statement in loop.body:
        for node in ast.walk(statement):
            _refuse_node(kernel, node, own | set(accumulators) | lane_names | {_variable(loop)})
    _refuse_carried(kernel, loop, own, accumulators)
    _refuse_aliases(kernel, loop, where)


def accumulation(kernel: Kernel, statement: ast.stmt) -> tuple[str, str] | None:
    """Name and way of `acc += f` and `acc = tl.maximum(acc, f)`."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        if isinstance(statement.op, ast.Add) and statement.target.id not in read(statement.value):
            return statement.target.id, "Add"
        raise NotApplicable(f"{kernel.where(statement)}: the order of rounds matters")
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return None
    name, value = statement.targets[0].id, statement.value
    if name not in read(value):
        return None
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        sides = [value.left, value.right]
        way = "Add"
    elif kernel.called(value) in ("maximum", "minimum") and isinstance(value, ast.Call) and len(value.args) == 2:
        sides, way = value.args, kernel.called(value)
    else:
        raise NotApplicable(f"{kernel.where(statement)}: the order of rounds matters")
    plain = [side for side in sides if isinstance(side, ast.Name) and side.id == name]
    if len(plain) != 1 or sum(name in read(side) for side in sides) != 1:
        raise NotApplicable(f"{kernel.where(statement)}: the order of rounds matters")
    return name, way


def _refuse_node(kernel: Kernel, node: ast.AST, known: set[str]) -> None:
    if isinstance(node, ast.Call):
        word = kernel.called(node)
        if word not in BY_ELEMENT and word != "arange" and shape_of(kernel, node) != ():
            raise NotApplicable(f"{kernel.where(node)}: `{ast.unparse(node.func)}` mixes lanes")
        if word not in BY_ELEMENT and word != "arange" and word not in ("sum", "max", "min", "cdiv", "program_id"):
            raise NotApplicable(f"{kernel.where(node)}: `{ast.unparse(node.func)}` may mix lanes")
    if isinstance(node, ast.Subscript):
        raise NotApplicable(f"{kernel.where(node)}: lanes have two dimensions")
    foreign = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in known
    if foreign and isinstance(node, ast.Name) and shape_of(kernel, node) != ():
        raise NotApplicable(f"{kernel.where(node)}: {node.id} belongs to lanes, not to elements")


def _refuse_carried(kernel: Kernel, loop: ast.For, own: set[str], accumulators: dict[str, str]) -> None:
    """After the loop nobody may ask what a single lane or round has found."""
    inside = {id(n) for n in ast.walk(loop)}
    bound: set[str] = set()
    for statement in loop.body:
        early = (read(statement) & own) - bound
        if early:
            raise NotApplicable(f"{kernel.where(statement)}: {sorted(early)[0]} comes from the round before")
        bound |= written(statement)
        combined = accumulation(kernel, statement)
        others = set(accumulators) - {combined[0] if combined else ""}
        if read(statement) & others:
            raise NotApplicable(f"{kernel.where(statement)}: a round uses what those before have added up")
    reductions = {
        id(n.args[0]): kernel.called(n) for n in body_nodes(kernel.node) if isinstance(n, ast.Call) and n.args
    }
    for node in body_nodes(kernel.node):
        if not isinstance(node, ast.Name) or id(node) in inside or not isinstance(node.ctx, ast.Load):
            continue
        if node.id in own and node.lineno > loop.lineno:
            raise NotApplicable(f"{kernel.where(node)}: {node.id} of the last round is used after the loop")
        by_lane = node.id in accumulators and node.lineno > loop.lineno and shape_of(kernel, node) != ()
        if by_lane and reductions.get(id(node)) != _AFTERWARDS[accumulators[node.id]]:
            raise NotApplicable(f"{kernel.where(node)}: what a lane has added up is used by itself")


def _refuse_aliases(kernel: Kernel, loop: ast.For, where: str) -> None:
    """Where the loop stores, each element may be read and written at its own place only."""
    calls = [n for statement in loop.body for n in ast.walk(statement) if isinstance(n, ast.Call)]
    if not any(kernel.called(call) == "store" for call in calls):
        return
    offsets = set()
    for call in (c for c in calls if kernel.called(c) in ("load", "store")):
        dumped = [ast.dump(term) for term in terms(call.args[0])] if call.args else [""]
        offsets.add(tuple(sorted(dumped[1:])))
    if len(offsets) != 1:
        raise NotApplicable(f"{where}: an element that is stored may be one that another lane reads")
