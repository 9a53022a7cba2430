"""A kernel that collects sums or extremes in a table of each block, seen without its table.

Such a kernel fills the table with a neutral value, meets, does its work, meets again, and adds the table to one in
global memory. What comes of it does not depend on which block does which part of the work: the work may be shared out
among other blocks, while each block fills and adds up its table as before. Proof obligations: the first and the last
part go by the thread's place in its block alone; in between atomics of one kind are all that touches a table; the last
part hands on each entry by an atomic of that kind, and what it changes the work touches by such atomics only.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from intelliperf.codegen.rules.addresses import Addresses, accesses
from intelliperf.codegen.rules.independence import COMMUTING
from intelliperf.codegen.rules.lanes import written
from intelliperf.codegen.rules.lds_arrays import is_shared
from intelliperf.codegen.rules.polynomials import Algebra
from intelliperf.codegen.rules.problem import NotApplicable, Problem, body, resolved_functions
from intelliperf.codegen.rules.statements import callee_name, value_used
from intelliperf.codegen.syntax import outline
from intelliperf.codegen.syntax.tree import Node

_BARRIER = "__syncthreads"
_IDEMPOTENT = ("atomicMin", "atomicMax", "atomicAnd")
_JOINED_BY = {"atomicSub": "atomicAdd", "unsafeAtomicAdd": "atomicAdd"}
_LITERALS = ("IntegerLiteral", "FloatingLiteral")
_LEAVING = ("ReturnStmt", "GotoStmt", "LambdaExpr", "CXXThrowExpr")


@dataclass(frozen=True)
class _Parts:
    """Statements of a kernel: `opening` and `closing` are a block's, `work` is that of its threads."""

    tables: frozenset[str]
    opening: tuple[Node, ...]
    work: tuple[Node, ...]
    closing: tuple[Node, ...]


class _Otherwise(Exception):
    """The kernel is of another kind."""


def without_tables(problem: Problem, kernel: Node) -> tuple[Node, frozenset[str]]:
    """A copy of the kernel with the work alone, and ids of the tables that it declares; else the kernel, and none."""
    try:
        parts = _parts(kernel)
        kinds = _check_opening(kernel, parts)
        swaps = _check_work(problem, kernel, parts, kinds)
        kept = {id(node) for node in (*parts.opening, *parts.work) if node in parts.work or _holds_table(node)}
        bare = _rebuilt(kernel, kernel.parent, kept, body(kernel), swaps)
        _check_closing(kernel, bare, parts, kinds)
    except _Otherwise:
        return kernel, frozenset()
    return bare, parts.tables


def _parts(kernel: Node) -> _Parts:
    statements = body(kernel).children
    at = [number for number, one in enumerate(statements) if callee_name(one.bare()) == _BARRIER]
    everywhere = [node for node in kernel.everything() if node.kind == "CallExpr" and callee_name(node) == _BARRIER]
    shared = [node for node in kernel.everything() if node.kind == "VarDecl" and is_shared(node)]
    if len(at) != 2 or len(everywhere) != 2 or not shared:
        raise _Otherwise
    before, between, closing = statements[: at[0]], statements[at[0] + 1 : at[1]], statements[at[1] + 1 :]
    kept = _needed(before, between)
    opening = tuple(one for one in before if id(one) not in {id(node) for node in kept})
    tables = {node.id for one in opening for node in one.everything() if node.kind == "VarDecl" and is_shared(node)}
    if tables != {node.id for node in shared}:
        raise _Otherwise
    own = _coordinates(kept) & {"threadIdx", "blockDim"} and _declared(kept) & _named((*opening, *closing))
    if own:
        raise _Otherwise  # a variable that the work and the table share, of which the work needs another value
    return _Parts(frozenset(tables), opening, (*kept, *between), tuple(closing))


def _needed(before: Sequence[Node], between: Sequence[Node]) -> list[Node]:
    """Declarations ahead of the first meeting that the work goes by."""
    names, kept = _named(between), list[Node]()
    for one in reversed(before):
        if one.kind == "DeclStmt" and not _holds_table(one) and _declared([one]) & names:
            kept.insert(0, one)
            names |= _named([one])
    return kept


def _holds_table(statement: Node) -> bool:
    return any(node.kind == "VarDecl" and is_shared(node) for node in statement.everything())


def _check_opening(kernel: Node, parts: _Parts) -> dict[str, str]:
    """The kind of the one atomic that touches each table; every entry begins as its neutral value."""
    own = _declared(parts.opening)
    starts: dict[str, set[str]] = {table: set() for table in parts.tables}
    addresses = Addresses(Algebra(kernel))
    for node in _of_a_block(parts.opening):
        if node.kind == "CallExpr" or ((identity := written(node)) is not None and identity not in own):
            raise _Otherwise
    for one in parts.opening:
        for item in accesses(one, parts.tables):
            root = addresses.element(item.place).root
            assignment = item.whole.user()
            value = assignment.children[-1].bare() if assignment is not None else item.whole
            if root not in parts.tables or item.loads or value.kind not in _LITERALS:
                raise _Otherwise
            starts[root].add(value.value)
    kinds: dict[str, str] = {}
    for one in parts.work:
        for call in one.everything():
            if call.kind == "CallExpr" and callee_name(call) in COMMUTING:
                root = addresses.pointer(call.children[1]).root
                if root in parts.tables and kinds.setdefault(root, callee_name(call)) != callee_name(call):
                    raise _Otherwise
    for table, values in starts.items():
        neutral = kinds.get(table, "atomicAdd") in _IDEMPOTENT or all(not float(value) for value in values)
        if len(values) != 1 or not neutral:
            raise _Otherwise
    return kinds


def _check_work(
    problem: Problem, kernel: Node, parts: _Parts, kinds: dict[str, str]
) -> dict[int, tuple[Node, Sequence[Node]]]:
    """Calls of functions that do no more than an atomic, each with that atomic's name and its two arguments.

    `kinds` is completed by what these do to tables.
    """
    touched, swaps = set[int](), dict[int, tuple[Node, Sequence[Node]]]()
    outer = _declared(parts.opening) - parts.tables
    for one in parts.work:
        for node in one.everything():
            if node.kind in _LEAVING or (identity := written(node)) is not None and identity in outer:
                raise _Otherwise
            if node.kind != "CallExpr":
                continue
            if callee_name(node) in COMMUTING and not value_used(node):
                touched |= {id(part) for part in node.children[1].walk()}
            elif {part.reference.id for part in node.walk() if part.reference is not None} & parts.tables:
                atomic, copies, address, value = _passed_on(problem, node, parts.tables)
                name = callee_name(atomic)
                if any(kinds.setdefault(table, name) != name for table in copies):
                    raise _Otherwise
                touched |= {id(part) for part in node.walk()}
                swaps[id(node)] = (atomic.children[0], (address, value))
    for one in parts.work:
        for node in one.everything():
            if node.reference is not None and node.reference.id in parts.tables and id(node) not in touched:
                raise _Otherwise
    return swaps


def _passed_on(problem: Problem, call: Node, tables: frozenset[str]) -> tuple[Node, set[str], Node, Node]:
    """An atomic that the called function does once on one of its pointers, the tables, and the other place for it."""
    function = _definition(problem, call)
    parameters = [child for child in function.children if child.kind == "ParmVarDecl"]
    if len(parameters) != len(call.children) - 1 or value_used(call):
        raise _Otherwise
    given = {parameter.id: argument for parameter, argument in zip(parameters, call.children[1:], strict=True)}
    updates = [node for node in body(function).everything() if node.kind == "CallExpr"]
    if not updates or len({callee_name(node) for node in updates}) != 1 or list(_accesses_but(function, updates)):
        raise _Otherwise
    for node in body(function).everything():
        loops = node.kind in ("ForStmt", "WhileStmt", "DoStmt", *_LEAVING)
        if loops or node.kind == "Coordinate" or written(node) is not None:
            raise _Otherwise
    if callee_name(updates[0]) not in COMMUTING or any(value_used(node) or not _is_a_branch(node) for node in updates):
        raise _Otherwise
    places, values = set[str](), set[str]()
    for node in updates:
        places |= {part.reference.id for part in node.children[1].walk() if part.reference is not None} & given.keys()
        values |= {part.reference.id for part in node.children[2].walk() if part.reference is not None}
    if len(values) != 1 or not values <= given.keys() or values & places:
        raise _Otherwise
    copies = {
        part.reference.id
        for place in places
        for part in given[place].walk()
        if part.reference is not None and part.reference.id in tables
    }
    others = [given[place] for place in places if not _named([given[place]]) & tables]
    if len(others) != 1 or not copies:
        raise _Otherwise
    return updates[0], copies, others[0], given[values.pop()]


def _accesses_but(function: Node, updates: Sequence[Node]) -> Iterator[Node]:
    """Places in memory that a function touches by other than these atomics."""
    known = {id(part) for node in updates for part in node.children[1].walk()}
    for item in accesses(body(function)):
        if id(item.place) not in known:
            yield item.place


def _is_a_branch(call: Node) -> bool:
    """Is it done once at most, instead of the function's other atomics and not after them?"""
    child, parent = call, call.parent
    while parent is not None and parent.kind not in ("FunctionDecl",):
        if parent.kind == "CompoundStmt" and parent.children[-1] is not child:
            return False
        child, parent = parent, parent.parent
    return True


def _definition(problem: Problem, call: Node) -> Node:
    name = callee_name(call)
    homes = [
        path
        for path, text in problem.task.sources.items()
        if name and name in text and any(region.name == name for region in outline.functions(text))
    ]
    try:
        found = [
            function
            for path in homes
            for root in problem.declarations(path, name)
            for function in resolved_functions(root)
            if function.name == name
        ]
    except NotApplicable:
        raise _Otherwise from None
    if not found or any(function.kind != "FunctionDecl" for function in found):
        raise _Otherwise
    reference = call.children[0].bare().reference
    exact = [function for function in found if reference is not None and function.type == reference.type]
    if not exact:
        raise _Otherwise
    return exact[0]


def _check_closing(kernel: Node, bare: Node, parts: _Parts, kinds: Mapping[str, str]) -> None:
    addresses = Addresses(Algebra(kernel))
    own = _declared(parts.closing)
    changed = {identity for one in parts.work for node in one.everything() if (identity := written(node)) is not None}
    if _named(parts.closing) & ((changed | _declared(parts.work) - own) - parts.tables):
        raise _Otherwise
    handed, targets = set[int](), dict[str, str]()
    for node in _of_a_block(parts.closing):
        if (identity := written(node)) is not None and identity not in own:
            raise _Otherwise
        if node.kind != "CallExpr":
            continue
        value = node.children[2].bare() if len(node.children) == 3 else node
        table = addresses.element(value).root if value.kind in ("ArraySubscriptExpr", "DeclRefExpr") else ""
        kind = _joined(kinds.get(table, ""))
        target = addresses.pointer(node.children[1]).root
        if value_used(node) or not kind or _joined(callee_name(node)) != kind or not target or target in parts.tables:
            raise _Otherwise
        if targets.setdefault(target, kind) != kind:
            raise _Otherwise
        handed |= {id(part) for part in (*node.children[1].walk(), *value.walk())}
    for one in parts.closing:
        for item in accesses(one, parts.tables):
            if id(item.place) not in handed and not _asks_for_neutral(item.whole):
                raise _Otherwise
    for item in accesses(body(bare), parts.tables):
        root = Addresses(Algebra(bare)).element(item.place).root
        call = next((up for up in item.place.ancestors() if up.kind == "CallExpr"), item.place)
        alike = item.atomic and targets.get(root) == _joined(callee_name(call))
        if root in targets and not alike or not root and not item.atomic and item.stores:
            raise _Otherwise


def _joined(kind: str) -> str:
    return _JOINED_BY.get(kind, kind)


def _asks_for_neutral(entry: Node) -> bool:
    """`table[i] != 0`, which leaves out what changes nothing."""
    user = entry.user()
    return user is not None and user.opcode == "!=" and any(side.bare().kind in _LITERALS for side in user.children)


def _of_a_block(statements: Sequence[Node]) -> Iterator[Node]:
    """All nodes of statements that are the same in every block."""
    for one in statements:
        for node in one.everything():
            if node.kind in _LEAVING or (node.kind == "Coordinate" and node.name.startswith(("blockIdx", "gridDim"))):
                raise _Otherwise
            yield node


def _coordinates(statements: Sequence[Node]) -> set[str]:
    nodes = (node for one in statements for node in one.everything() if node.kind == "Coordinate")
    return {node.name.partition(".")[0] for node in nodes}


def _declared(statements: Sequence[Node]) -> set[str]:
    return {node.id for one in statements for node in one.everything() if node.kind == "VarDecl"}


def _named(statements: Sequence[Node]) -> set[str]:
    return {node.reference.id for one in statements for node in one.everything() if node.reference is not None}


def _rebuilt(
    node: Node, parent: Node | None, kept: set[int], whole: Node, swaps: Mapping[int, tuple[Node, Sequence[Node]]]
) -> Node:
    """A copy in which `whole` has the statements `kept` alone, and calls in `swaps` are the atomics that they do."""
    found = copy.copy(node)
    found.parent = parent
    children = [child for child in node.children if node is not whole or id(child) in kept]
    if id(node) in swaps:
        named, arguments = swaps[id(node)]
        children = [named, *arguments]
    found.children = [_rebuilt(child, found, kept, whole, swaps) for child in children]
    return found
