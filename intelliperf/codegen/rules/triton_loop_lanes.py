"""Lanes that each walk along a row of their own, made to take pieces of rows side by side.

`for c in range(COLS): … rows * COLS + c` touches one element of each row at a time. The loop's variable becomes a
second dimension: a tile of rows and neighbouring columns, reduced along its columns where the loop added up.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass

from intelliperf.codegen.rules.problem import NotApplicable, Problem, Rewrite
from intelliperf.codegen.rules.triton import (
    Kernel,
    argument,
    blocks_of,
    kernel_at,
    read,
    refuse_spread_strings,
    written,
)
from intelliperf.codegen.rules.triton_interchange import refuse_aliases
from intelliperf.codegen.rules.triton_lane_order import BY_ELEMENT, accumulation, loop_around, rounds_of, written_out
from intelliperf.codegen.rules.triton_shapes import shape_of
from intelliperf.project.pythonsource import body_nodes
from intelliperf.records import SourceEvidence

_LINE_BYTES = 64
_COMBINE = {"maximum": "max", "minimum": "min"}


class TritonLoopLanes:
    name = "triton_loop_lanes"

    def rewrite(self, problem: Problem) -> Rewrite:
        return problem.rewrite_lines(
            "A program's lanes take neighbouring columns of their rows at a time",
            lambda evidence: self._edit(problem, evidence),
        )

    def _edit(self, problem: Problem, evidence: SourceEvidence) -> list[str]:
        kernel = kernel_at(problem, evidence)
        loop = loop_around(kernel, evidence.line, f"{kernel.source.path}:{evidence.line}")
        columns = _LINE_BYTES // max(1, evidence.element_bytes or 4)
        _Tile(kernel, loop, columns).write()
        return [f"{kernel.where(loop)}: {columns} columns"]


@dataclass(frozen=True)
class _Names:
    """Of the loop: what it binds, what it adds up, and new ones."""

    variable: str
    own: frozenset[str]
    sums: dict[str, str]  # name → way of combining
    first: str
    present: str


class _Tile:
    def __init__(self, kernel: Kernel, loop: ast.For, columns: int) -> None:
        self._kernel = kernel
        self._loop = loop
        self._columns = columns
        self._count = rounds_of(kernel, loop)
        assert isinstance(loop.target, ast.Name)
        own: set[str] = set()
        sums: dict[str, str] = {}
        for statement in loop.body:
            combined = accumulation(kernel, statement)
            if combined is not None:
                sums[combined[0]] = combined[1]
            elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                own |= written(statement)
            elif not isinstance(statement, ast.Expr):
                raise NotApplicable(f"{kernel.where(statement)}: the loop holds more than plain statements")
        variable = loop.target.id
        first = kernel.fresh(f"first_{variable}", "first_column")
        self._names = _Names(variable, frozenset(own), sums, first, kernel.fresh("present", "present_columns"))
        self._prefixes: dict[str, str] = {}  # of sums that the loop itself reads

    def write(self) -> None:
        kernel, loop, names = self._kernel, self._loop, self._names
        refuse_spread_strings(kernel, [loop])
        self._refuse()
        pad = " " * loop.col_offset
        inner = " " * loop.body[0].col_offset
        tl, count = kernel.tl, ast.unparse(self._count)
        lines = [
            f"{pad}for {names.first} in range(0, {count}, {self._columns}):",
            f"{inner}{names.variable} = ({names.first} + {tl}.arange(0, {self._columns}))[None, :]",
            f"{inner}{names.present} = {names.variable} < {count}",
        ]
        for statement, block in zip(loop.body, blocks_of(kernel, loop.body, loop.lineno + 1), strict=True):
            comments = block.split("\n")[: -((statement.end_lineno or statement.lineno) - statement.lineno + 1)]
            lines += [*comments, *(f"{inner}{line}" for line in self._rewritten(statement))]
        kernel.replace_lines(loop.lineno, loop.end_lineno or loop.lineno, "\n".join(lines))

    def _rewritten(self, statement: ast.stmt) -> list[str]:
        combined = accumulation(self._kernel, statement)
        if combined is None:
            return [ast.unparse(self._spread(statement))]
        return self._combined(statement, *combined)

    def _combined(self, statement: ast.stmt, name: str, way: str) -> list[str]:
        tl, present = self._kernel.tl, self._names.present
        term = ast.unparse(self._spread(_term(statement, name)))
        if way in _COMBINE:
            tile = f"{tl}.where({present}, {term}, {name}[:, None])"
            return [f"{name} = {tl}.{way}({name}, {tl}.{_COMBINE[way]}({tile}, axis=1))"]
        tile = f"{tl}.where({present}, {term}, 0).to({name}.dtype)"
        if name not in self._prefixes:
            return [f"{name} += {tl}.sum({tile}, axis=1)"]
        taken = self._kernel.fresh(f"{name}_terms", f"{name}_columns")
        return [
            f"{taken} = {tile}",
            f"{self._prefixes[name]} = {name}[:, None] + {tl}.cumsum({taken}, axis=1)",
            f"{name} += {tl}.sum({taken}, axis=1)",
        ]

    def _spread(self, node: ast.AST) -> ast.AST:
        spread: ast.AST = _Spread(self._kernel, self._names, self._prefixes).visit(copy.deepcopy(node))
        return ast.fix_missing_locations(spread)

    # ---- whether it may be done ---------------------------------------------------------------------

    def _refuse(self) -> None:
        kernel, loop, names = self._kernel, self._loop, self._names
        if shape_of(kernel, self._count) != () or read(self._count) & (names.own | set(names.sums)):
            raise NotApplicable(f"{kernel.where(loop)}: the number of rounds differs between lanes")
        if not any(self._is_strided(call) for call in self._accesses()):
            raise NotApplicable(f"{kernel.where(loop)}: the rounds of a lane do not walk along what lies side by side")
        for statement in loop.body:
            for node in ast.walk(statement):
                self._refuse_node(node)
        self._refuse_carried()
        refuse_aliases(kernel)

    def _accesses(self) -> list[ast.Call]:
        calls = [n for statement in self._loop.body for n in ast.walk(statement) if isinstance(n, ast.Call)]
        return [call for call in calls if self._kernel.called(call) in ("load", "store") and call.args]

    def _is_strided(self, call: ast.Call) -> bool:
        """Lanes in one dimension, and the loop's variable as a term of its own."""
        summed = list(written_out(self._kernel, call.args[0]))
        alone = any(isinstance(term, ast.Name) and term.id == self._names.variable for term in summed)
        lanes = [term for term in summed if self._shape(term) != ()]
        return alone and bool(lanes) and all(self._is_step(term) for term in lanes)

    def _is_step(self, term: ast.expr) -> bool:
        product = isinstance(term, ast.BinOp) and isinstance(term.op, ast.Mult)
        return product and len(self._shape(term) or ()) == 1

    def _shape(self, node: ast.expr) -> tuple[str, ...] | None:
        return shape_of(self._kernel, node)

    def _refuse_node(self, node: ast.AST) -> None:
        kernel, names = self._kernel, self._names
        if isinstance(node, (ast.Subscript, ast.IfExp, ast.Lambda)):
            raise NotApplicable(f"{kernel.where(node)}: not a form that can take a second dimension")
        if isinstance(node, ast.Call):
            word = kernel.called(node)
            if word not in BY_ELEMENT and word != "arange":
                raise NotApplicable(f"{kernel.where(node)}: `{ast.unparse(node.func)}` may mix lanes")
        outside = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        if isinstance(node, ast.Name) and outside and node.id not in {*names.own, *names.sums, names.variable}:
            shape = self._shape(node)
            if shape is None or len(shape) > 1:
                raise NotApplicable(f"{kernel.where(node)}: {node.id} is not a plain row of lanes")

    def _refuse_carried(self) -> None:
        """A round may take from those before only their sum, and nothing after the loop what the last one found."""
        kernel, loop, names = self._kernel, self._loop, self._names
        bound: set[str] = set()
        added: set[str] = set()
        for statement in loop.body:
            combined = accumulation(kernel, statement)
            early = (read(statement) & names.own) - bound
            if early:
                raise NotApplicable(f"{kernel.where(statement)}: {sorted(early)[0]} comes from the round before")
            used = read(statement) & (set(names.sums) - ({combined[0]} if combined else set()))
            for name in sorted(used):
                if name not in added or names.sums[name] != "Add":
                    raise NotApplicable(f"{kernel.where(statement)}: {name} comes from the round before")
                self._prefixes.setdefault(name, kernel.fresh(f"{name}_here", f"{name}_prefix"))
            if combined is not None and combined[0] in added:
                raise NotApplicable(f"{kernel.where(statement)}: {combined[0]} is added to twice in a round")
            bound |= written(statement)
            added |= {combined[0]} if combined is not None else set()
        inside = {id(n) for n in ast.walk(loop)}
        for node in body_nodes(kernel.node):
            later = isinstance(node, ast.Name) and id(node) not in inside and node.lineno > loop.lineno
            if later and isinstance(node, ast.Name) and node.id in {*names.own, names.variable}:
                raise NotApplicable(f"{kernel.where(node)}: {node.id} of the last round is used after the loop")
        for name in names.sums:
            if len(self._shape(ast.Name(name, ast.Load())) or ()) != 1:
                raise NotApplicable(f"{kernel.where(loop)}: {name} is not one number for each lane")


class _Spread(ast.NodeTransformer):
    """Lanes become rows, and accesses are limited to columns that exist."""

    def __init__(self, kernel: Kernel, names: _Names, prefixes: dict[str, str]) -> None:
        self._kernel = kernel
        self._names = names
        self._prefixes = prefixes

    def visit_Name(self, node: ast.Name) -> ast.expr:
        names = self._names
        if not isinstance(node.ctx, ast.Load) or node.id in names.own or node.id == names.variable:
            return node
        if node.id in names.sums:
            return ast.Name(self._prefixes[node.id], ast.Load())
        return _rows(node) if len(shape_of(self._kernel, node) or ()) == 1 else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        word = self._kernel.called(node)
        if word == "arange":
            return _rows(node)
        place = {"load": 1, "store": 2}.get(word)
        if place is None:
            self.generic_visit(node)
            return node
        mask = argument(node, place, "mask")
        if mask is None and len(node.args) > place:
            raise NotApplicable(f"{self._kernel.where(node)}: the arguments of the access cannot be told")
        node.args = [self.visit(item) for item in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        present: ast.expr = ast.Name(self._names.present, ast.Load())
        if mask is None:
            node.keywords.append(ast.keyword("mask", present))
        elif len(node.args) > place:
            node.args[place] = ast.BinOp(node.args[place], ast.BitAnd(), present)
        else:
            (given,) = (keyword for keyword in node.keywords if keyword.arg == "mask")
            given.value = ast.BinOp(given.value, ast.BitAnd(), present)
        return node


def _rows(node: ast.expr) -> ast.Subscript:
    index = ast.Tuple([ast.Slice(), ast.Constant(None)], ast.Load())
    return ast.Subscript(node, index, ast.Load())


def _term(statement: ast.stmt, name: str) -> ast.expr:
    """What a round adds."""
    if isinstance(statement, ast.AugAssign):
        return statement.value
    assert isinstance(statement, ast.Assign)
    value = statement.value
    sides = [value.left, value.right] if isinstance(value, ast.BinOp) else []
    if isinstance(value, ast.Call):
        sides = list(value.args)
    (term,) = (side for side in sides if not (isinstance(side, ast.Name) and side.id == name))
    return term
