"""Pointers that lead to different arrays are declared so, where a loop stores: the compiler keeps what stays the same.

A store through one pointer may change what another leads to. So a loop that stores loads again, in every turn, what
never changes, and stores a sum to memory in every turn. `__restrict__` promises that nothing which is written through
one pointer is accessed through another. The judge looks whether this run keeps the promise. Proof obligations: there is
a loop in which it matters; no launch passes the same pointer twice; every pointer that the kernel stores through is a
parameter.
"""

from __future__ import annotations

from collections.abc import Iterator

from intelliperf.codegen.rules.addresses import Access, Addresses, accesses
from intelliperf.codegen.rules.blocks import Program, text_of
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite, body
from intelliperf.codegen.rules.relabel import kernel_of, kernel_place
from intelliperf.codegen.rules.row_loops import RowAlgebra, lds_variables
from intelliperf.codegen.rules.statements import pointee
from intelliperf.codegen.rules.uniformity import LOOPS
from intelliperf.codegen.syntax.source import Splice
from intelliperf.codegen.syntax.tree import Node


class RestrictPointers:
    name = "restrict_pointers"

    def rewrite(self, problem: Problem) -> Rewrite:
        place = kernel_place(problem)
        name = kernel_of(place).name
        source = problem.source(place.path)
        lines: dict[int, None] = {}
        edits: list[list[Splice]] = []
        for kernel in place.functions:
            lines.update(dict.fromkeys(_loops_with_use(place, kernel)))
            pointers = [child for child in kernel.children if child.kind == "ParmVarDecl" and _is_pointer(child)]
            _check_launches(problem, place, kernel, pointers)
            edits.append(
                [_promise(place, parameter) for parameter in pointers if "restrict" not in parameter.canonical]
            )
        if any(other != edits[0] for other in edits):
            raise NotApplicable(f"{place}: the instantiations of the kernel need different rewrites")
        for splice in edits[0]:
            source.insert(splice.start, splice.text)
        where = ", ".join(map(str, sorted(lines)))
        return Rewrite((source,), f"Promise that the pointers of {name} do not overlap, for the loops on line {where}")


def _is_pointer(parameter: Node) -> bool:
    return pointee(parameter.canonical) is not None


def _promise(place: Place, parameter: Node) -> Splice:
    if parameter.place is None or parameter.in_macro or not parameter.name:
        raise NotApplicable(f"{place}: a pointer parameter is written by a macro, or has no name")
    return Splice(parameter.place.offset, parameter.place.offset, "__restrict__ ")


def _loops_with_use(place: Place, kernel: Node) -> list[int]:
    """Lines of loops that store, and use what stays where it is through another pointer."""
    parameters = {child.id for child in kernel.children if child.kind == "ParmVarDecl" and _is_pointer(child)}
    declared = Addresses(RowAlgebra(kernel))
    shared = lds_variables(kernel)
    for item in accesses(body(kernel), shared):
        root = declared.element(item.place).root
        if item.stores and root not in parameters | shared:
            raise NotApplicable(f"{place}: line {item.place.line} stores through what is not a parameter of the kernel")
    found = [loop.line for loop in body(kernel).everything() if loop.kind in LOOPS and _matters(kernel, loop)]
    if not found:
        raise NotApplicable(
            f"{place}: no loop uses an element again in every turn that a store through another pointer could change"
        )
    return found


def _matters(kernel: Node, loop: Node) -> bool:
    steady = list(_steady(kernel, loop))
    stored = {root for root, item in _roots(kernel, loop) if item.stores}
    loaded = {root for root, item in _roots(kernel, loop) if item.loads}
    again = any(item.loads and not item.stores and stored - {root} for root, item in steady)
    return again or any(item.stores and loaded - {root} for root, item in steady)


def _roots(kernel: Node, loop: Node) -> Iterator[tuple[str, Access]]:
    addresses = Addresses(RowAlgebra(kernel, loop))
    for item in accesses(loop):
        if not item.atomic:
            yield addresses.element(item.place).root, item


def _steady(kernel: Node, loop: Node) -> Iterator[tuple[str, Access]]:
    """Accesses of an element that is the same in every turn."""
    addresses = Addresses(RowAlgebra(kernel, loop))
    inside = {node.id for node in loop.everything() if node.kind == "VarDecl"}
    for item in accesses(loop.children[-1]):
        element = addresses.element(item.place)
        names = {node.reference.id for node in item.place.everything() if node.reference is not None}
        if element.root and element.index is not None and not item.atomic and not names & inside:
            yield element.root, item


def _check_launches(problem: Problem, place: Place, kernel: Node, pointers: list[Node]) -> None:
    """Raise `NotApplicable` where a launch passes one pointer for two parameters."""
    parameters = [child.id for child in kernel.children if child.kind == "ParmVarDecl"]
    at = [parameters.index(pointer.id) for pointer in pointers]
    for launch in Program(problem.task.sources).launches(kernel.name):
        passed = [text_of(launch.arguments[number]) for number in at if number < len(launch.arguments)]
        twice = sorted({text for text in passed if passed.count(text) > 1 and text not in ("nullptr", "NULL", "0")})
        if twice:
            raise NotApplicable(f"{place}: {launch} passes {twice[0]} for two parameters")
