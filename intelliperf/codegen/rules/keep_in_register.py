"""Elements of memory that a loop reads and writes in every turn are kept in registers while it runs.

`y[i] = 0; for (...) y[i] += e;` goes to memory and back in each turn wherever the compiler has to take it that `e` may
be read from there. Proof obligations: the loop uses the array at places alone that stay, and that are the same or
provably apart; it does not leave the function, meet other threads or hand the array on; what is kept was stored right
before, by the same threads, so that no memory is touched that was not. Members of records count as elements where no
union, bit field or reference may be behind them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from intelliperf.codegen.rules.addresses import Access, Addresses, accesses
from intelliperf.codegen.rules.declarations import unused_name
from intelliperf.codegen.rules.guards import statement_end
from intelliperf.codegen.rules.independence import Independence
from intelliperf.codegen.rules.members import member_of, other_members
from intelliperf.codegen.rules.methods import METHOD_CALLS
from intelliperf.codegen.rules.polynomials import Polynomial
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite, body
from intelliperf.codegen.rules.readers import check_call
from intelliperf.codegen.rules.relabel import kernel_of, kernel_place
from intelliperf.codegen.rules.row_loops import RowAlgebra
from intelliperf.codegen.rules.uniformity import LOOPS, exits
from intelliperf.codegen.rules.wave_aggregate_atomics import FLOATS, INTEGERS
from intelliperf.codegen.syntax.source import Splice
from intelliperf.codegen.syntax.tree import Node

_OPAQUE = ("LambdaExpr", "CXXNewExpr", "CXXDeleteExpr", "GotoStmt", "IndirectGotoStmt")


@dataclass(frozen=True)
class _Kept:
    """One element: everything in the loop that is done to it."""

    loop: Node
    name: str  # of the array
    uses: tuple[Access, ...]


class KeepInRegister:
    name = "keep_in_register"

    def rewrite(self, problem: Problem) -> Rewrite:
        place = kernel_place(problem)
        name = kernel_of(place).name
        source = problem.source(place.path)
        edits: list[list[Splice]] = []
        told: dict[str, None] = {}
        with problem.all_or_nothing():
            for kernel in place.functions:
                before = list(source.splices)
                for kept in _found(problem, place, kernel):
                    _write(problem, place, kept)
                    told[f"{kept.name} in the loop on line {kept.loop.line}"] = None
                edits.append([splice for splice in source.splices if splice not in before])
                if edits[1:] and edits[-1]:
                    raise NotApplicable(f"{place}: the instantiations of the kernel need different rewrites")
        return Rewrite((source,), f"Keep elements of memory in registers in {name}: {'; '.join(told)}")


def _found(problem: Problem, place: Place, kernel: Node) -> list[_Kept]:
    found: list[_Kept] = []
    declined: dict[str, None] = {}
    done: set[int] = set()
    for loop in body(kernel).everything():
        if loop.kind not in LOOPS or loop.kind == "CXXForRangeStmt" or any(id(up) in done for up in loop.ancestors()):
            continue
        try:
            here = list(_of_loop(problem, place, kernel, loop))
        except NotApplicable as reason:
            declined[str(reason)] = None
            continue
        if here:
            done.add(id(loop))
            found += here
    if not found:
        raise NotApplicable("; ".join(declined) or f"{place}: no loop stores to the same element in every turn")
    return found


def _of_loop(problem: Problem, place: Place, kernel: Node, loop: Node) -> Iterator[_Kept]:
    """Raises `NotApplicable` where the loop has elements to keep and something is in the way."""
    algebra = RowAlgebra(kernel, loop)
    addresses = Addresses(algebra)
    used = list(accesses(loop))
    stored = {addresses.element(item.place).root for item in used if item.stores} - {""}
    parameters = {child.id: child.name for child in kernel.children if child.kind == "ParmVarDecl"}
    for root in sorted(stored & set(parameters), key=lambda each: parameters[each]):
        mine = [item for item in used if addresses.element(item.place).root == root]
        indices = [addresses.element(item.place).index for item in mine]
        known = [index for index in indices if index is not None]
        if len(known) != len(mine) or any(item.atomic for item in mine):
            continue  # other elements in other turns
        _check_loop(problem, place, kernel, loop)
        if any(not addresses.element(item.place).root for item in used):
            raise NotApplicable(f"{place}: the loop on line {loop.line} uses a pointer that is not followed")
        for first in _apart(place, parameters[root], known, loop):
            uses = [item for item, index in zip(mine, known, strict=True) if not (index - first).terms]
            for part in _by_member(problem, place, parameters[root], uses, loop):
                if any(item.stores for item in part):
                    _check_element(place, loop, part, addresses, first)
                    yield _Kept(loop, parameters[root], part)


def _by_member(
    problem: Problem, place: Place, name: str, uses: list[Access], loop: Node
) -> Iterator[tuple[Access, ...]]:
    """The uses of each member of a record. Raises `NotApplicable` where they may share bytes."""
    parts: dict[str | None, list[Access]] = {}
    for item in uses:
        parts.setdefault(member_of(item), []).append(item)
    firsts = [part[0] for part in parts.values()]
    for number, one in enumerate(firsts):
        if not all(other_members(problem.task.sources, one, other) for other in firsts[:number]):
            raise NotApplicable(
                f"{place}: the loop on line {loop.line} uses parts of an element of {name} that may share memory"
            )
    yield from map(tuple, parts.values())


def _apart(place: Place, name: str, indices: list[Polynomial], loop: Node) -> list[Polynomial]:
    """The different ones. Raises `NotApplicable` where two may be the same or not."""
    found: list[Polynomial] = []
    for index in indices:
        differences = [index - other for other in found]
        if any(set(difference.terms) - {()} for difference in differences):
            raise NotApplicable(f"{place}: elements of {name} in the loop on line {loop.line} may be the same one")
        if all(difference.terms for difference in differences):
            found.append(index)
    return found


def _check_loop(problem: Problem, place: Place, kernel: Node, loop: Node) -> None:
    known = Independence(problem, place, kernel, loop, "")
    for node in loop.everything():
        if node.kind in _OPAQUE or "Asm" in node.kind:
            raise NotApplicable(f"{place}: line {node.line} holds a {node.kind}, which is not followed")
        if node.kind in METHOD_CALLS:
            known.check_method(node)
        if node.kind == "CallExpr":
            check_call(known, problem, place, kernel, node)
    if any(jump.kind == "ReturnStmt" for jump in exits(loop)):
        raise NotApplicable(f"{place}: the loop on line {loop.line} returns from the function")


def _check_element(place: Place, loop: Node, uses: tuple[Access, ...], addresses: Addresses, index: Polynomial) -> None:
    first = uses[0]
    kind = first.whole.canonical
    member = member_of(first)
    if kind not in INTEGERS | FLOATS or member is None:
        raise NotApplicable(f"{place}: what line {first.place.line} uses in every turn is a {first.whole.type}")
    inside = {node.id for node in loop.everything() if node.kind == "VarDecl"}
    if any(node.reference is not None and node.reference.id in inside for node in first.place.everything()):
        raise NotApplicable(f"{place}: line {first.place.line} names the element by what the loop declares")
    if any(item.whole.in_macro for item in uses) or loop.in_macro:
        raise NotApplicable(f"{place}: the loop on line {loop.line} is written by a macro")
    root = addresses.element(first.place).root
    around = loop.parent.children if loop.parent is not None and loop.parent.kind == "CompoundStmt" else []
    for statement in around:
        if statement.start_offset >= loop.start_offset:
            break
        for item in accesses(statement):
            element = addresses.element(item.place)
            here = element.index is not None and element.root == root and not (element.index - index).terms
            here = here and member_of(item) == member
            if here and item.stores and statement.bare().kind in ("BinaryOperator", "CompoundAssignOperator"):
                return
    raise NotApplicable(f"{place}: line {first.place.line} stores to an element that is not stored to before the loop")


def _write(problem: Problem, place: Place, kept: _Kept) -> None:
    source, loop, whole = problem.source(place.path), kept.loop, kept.uses[0].whole
    name, element = unused_name(problem, "kept"), source.slice(whole.start_offset, whole.end_offset)
    indent = source.indentation(loop.start_offset)
    source.insert(loop.start_offset, f"{whole.canonical} {name} = {element};\n{indent}")
    for item in kept.uses:
        source.replace(item.whole.start_offset, item.whole.end_offset, name)
    end = loop.end_offset if loop.children[-1].kind == "CompoundStmt" else statement_end(source, loop)
    source.insert(max(end, statement_end(source, loop)), f"\n{indent}{element} = {name};")
