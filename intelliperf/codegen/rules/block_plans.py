"""Where a block can collect what its threads add to one address, and which proof that takes.

The address is the same for all threads and stays so; nothing else in the kernel touches its pointer, or only elements
with other constant indices; the place after the outermost divergent statement around the atomic is reached by all
threads of the block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from intelliperf.codegen.rules.elements import ATOMICS, elements_apart
from intelliperf.codegen.rules.lanes import written
from intelliperf.codegen.rules.lds_arrays import is_shared
from intelliperf.codegen.rules.polynomials import Algebra, atom
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, body
from intelliperf.codegen.rules.statements import callee_name, pointee
from intelliperf.codegen.rules.uniformity import Uniformity, exits
from intelliperf.codegen.rules.wave_aggregate_atomics import defines, element_type
from intelliperf.codegen.syntax import outline
from intelliperf.codegen.syntax.source import without_comments
from intelliperf.codegen.syntax.tree import Node

_BARRIERS = re.compile(r"sync|barrier|this_thread_block|this_grid", re.IGNORECASE)


@dataclass(frozen=True)
class ReductionPlan:
    """Where the pieces go, in one instantiation; the same bytes in all of them."""

    call: Node
    region: Node  # contributions are collected over this statement
    guard: Node | None  # `if (…) return;` that becomes a guard of the rest of the body
    element: str  # the pointee as the program writes it
    root: str  # the pointer parameter

    @property
    def span(self) -> tuple[int, int, int]:
        return self.region.start_offset, self.region.end_offset, self.guard.start_offset if self.guard else -1


def enclosing_kernel(place: Place, call: Node) -> Node:
    for parent in call.ancestors():
        if parent.kind == "LambdaExpr":
            raise NotApplicable(f"{place}: the atomic is in a lambda, which need not be run by all threads")
        if parent.kind == "CXXMethodDecl":
            raise NotApplicable(f"{place}: the atomic is in a method, which need not be called by all threads")
        if parent.kind == "FunctionDecl":
            if not any(child.kind == "CUDAGlobalAttr" for child in parent.children):
                raise NotApplicable(
                    f"{place}: the atomic is in a device function, which need not be called by all threads"
                )
            return parent
    raise NotApplicable(f"{place} is in no function")


def reduction_plan(problem: Problem, place: Place, call: Node) -> ReductionPlan:
    kernel = enclosing_kernel(place, call)
    uniform = Uniformity(kernel)
    address = call.children[1]
    _check_many(place, kernel, call)
    if uniform.varying(address):
        raise NotApplicable(f"{place}: the address may differ between the threads of a block")
    own = frozenset(name for name in ATOMICS if any(defines(text, name) for text in problem.task.sources.values()))
    shared = _shared_root(place, kernel, address)
    members = not any(re.search(r"\bunion\b", text) for text in problem.task.sources.values())
    root = shared.name if shared is not None else pointer_root(place, kernel, address, own, members)

    def element() -> str:
        if any(node.kind == "MemberExpr" for node in address.walk()):
            return element_type(call)
        if shared is not None:
            return element_type(call) if "[" in shared.canonical else shared.type
        return written_element(place, kernel, root)

    if any(jump.kind in ("GotoStmt", "IndirectGotoStmt") for jump in exits(kernel)):
        raise NotApplicable(f"{place}: the kernel has a goto")
    chain = [call, *call.ancestors()]
    top = body(kernel)
    guard = guard_of(problem, place, uniform, top, call)
    if guard is not None:
        if not _fixed(kernel, address, guard.end_offset, top.end_offset):
            raise NotApplicable(f"{place}: the address is computed after the early return")
        _check_alone(place, shared, top, call, own)
        return ReductionPlan(call, top, guard, element(), root)
    levels = [node for node, parent in zip(chain, chain[1:], strict=False) if parent.kind == "CompoundStmt"]
    for region in reversed(levels):
        if uniform.divergent(region) or any(
            jump.kind == "ReturnStmt" and uniform.divergent(jump) for jump in exits(region)
        ):
            break
        if _fixed(kernel, address, region.start_offset, region.end_offset):
            _check_alone(place, shared, region, call, own)
            return ReductionPlan(call, region, None, element(), root)
    raise NotApplicable(f"{place}: no place around the atomic is provably reached by all threads with a fixed address")


def _check_many(place: Place, kernel: Node, call: Node) -> None:
    """Raise `NotApplicable` where a condition leaves the atomic to one thread of the block."""
    thread, algebra = atom("threadIdx.x"), Algebra(kernel)
    for parent in call.ancestors():
        tests = [parent.children[0].bare()] if parent.kind == "IfStmt" else []
        while tests:
            test = tests.pop()
            tests += [child.bare() for child in test.children] if test.opcode == "&&" else []
            sides = [child.bare() for child in test.children] if test.opcode == "==" else []
            if any(algebra.polynomial(side) == thread for side in sides):
                raise NotApplicable(f"{place}: one thread of a block issues the atomic already (line {parent.line})")


def _shared_root(place: Place, kernel: Node, address: Node) -> Node | None:
    """The variable in LDS, or the array, that the address is one of or lies in.

    Raises `NotApplicable` where others may lie in the same place.
    """
    declared = {node.id: node for node in kernel.walk() if node.kind == "VarDecl" and is_shared(node)}
    names = [node.reference.id for node in address.walk() if node.reference is not None]
    found = [declared[name] for name in names if name in declared]
    if not found:
        return None
    node, array = address.bare(), "[" in found[0].canonical
    if len(names) != 1 or node.kind != "UnaryOperator":
        raise NotApplicable(f"{place}: the address is not that of one variable in LDS")
    if array and found[0].storage == "extern" and sum(each.storage == "extern" for each in declared.values()) > 1:
        raise NotApplicable(f"{place}: the kernel has several names for its dynamic LDS")
    if array and (other := next(_pointers_to(kernel, found[0]), None)) is not None:
        raise NotApplicable(f"{place}: {found[0].name} is used through a pointer on line {other.line}")
    if kernel.parent is not None and kernel.parent.kind == "FunctionTemplateDecl":
        raise NotApplicable(f"{place}: {found[0].name} is a variable in LDS of a template")
    return found[0]


def _pointers_to(kernel: Node, array: Node) -> Iterator[Node]:
    """Uses of an array by which something else may lead to its elements."""
    for node in kernel.walk():
        if node.kind != "DeclRefExpr" or node.reference is None or node.reference.id != array.id:
            continue
        user = node.user()
        taken = user.user() if user is not None and user.kind == "ArraySubscriptExpr" else user
        atomic = taken.user() if taken is not None and taken.kind == "UnaryOperator" and taken.opcode == "&" else None
        known = user is not None and user.kind == "ArraySubscriptExpr" and user.children[0].bare() is node
        through = taken is not None and taken.kind == "UnaryOperator" and taken.opcode == "&"
        if not known or (through and (atomic is None or callee_name(atomic) not in ATOMICS)):
            yield node


def _check_alone(place: Place, shared: Node | None, region: Node, call: Node, own: frozenset[str]) -> None:
    """Raise `NotApplicable` where the variable in LDS is looked at while the threads' shares are collected.

    `own`: as of `pointer_root`.
    """
    if shared is None:
        return
    inside = {id(node) for node in call.walk()}
    used = [node for node in region.walk() if node.reference is not None and node.reference.id == shared.id]
    apart = "[" in shared.canonical and elements_apart(call.children[1].bare(), used, own, members=False)
    for node in region.walk():
        if node in used and id(node) not in inside and not apart:
            raise NotApplicable(f"{place}: {shared.name} is also used on line {node.line}")
        if node.kind == "CallExpr" and _BARRIERS.search(callee_name(node)):
            raise NotApplicable(f"{place}: there is a barrier on line {node.line}, among the atomics on {shared.name}")


def pointer_root(place: Place, kernel: Node, address: Node, own: frozenset[str], members: bool) -> str:
    """The pointer parameter that the address is made from; nothing else may use what it points at.

    `own` are functions that the project itself defines under the names of atomics; `members` as in `elements_apart`.
    """
    parameters = {child.id: child.name for child in kernel.children if child.kind == "ParmVarDecl"}
    pointers = [
        node.reference
        for node in address.walk()
        if node.kind == "DeclRefExpr" and node.reference is not None and pointee(node.canonical) is not None
    ]
    if len(pointers) != 1 or pointers[0].id not in parameters:
        raise NotApplicable(f"{place}: the address does not come from one pointer parameter")
    root = pointers[0]
    used = [
        node
        for node in kernel.walk()
        if node.kind == "DeclRefExpr" and node.reference is not None and node.reference.id == root.id
    ]
    if len(used) != 1 and not elements_apart(address, used, own, members):
        others = sorted({node.line for node in used} - {address.line})
        raise NotApplicable(
            f"{place}: {root.name} is also used on line {', '.join(map(str, others)) or place.evidence.line}"
        )
    if any(written(node) == root.id for node in kernel.walk()):
        raise NotApplicable(f"{place}: {root.name} is modified")
    return root.name


def written_element(place: Place, kernel: Node, root: str) -> str:
    """The pointee in the program's own words: `T`, not the type of one instantiation."""
    pattern = kernel
    if kernel.parent is not None and kernel.parent.kind == "FunctionTemplateDecl":
        pattern = next(child for child in kernel.parent.children if child.kind == "FunctionDecl")
    (parameter,) = (child for child in pattern.children if child.kind == "ParmVarDecl" and child.name == root)
    element = pointee(parameter.type) or pointee(parameter.canonical)
    if element is None:
        raise NotApplicable(f"{place}: {root} is written as {parameter.type}")
    return element.replace("volatile ", "")


def _fixed(kernel: Node, address: Node, start: int, end: int) -> bool:
    """Are all variables of the address declared before `start` and unmodified until `end`?"""
    names = {node.reference.id for node in address.walk() if node.kind == "DeclRefExpr" and node.reference is not None}
    if address.bare().kind == "UnaryOperator" and address.bare().children[0].bare().kind == "DeclRefExpr":
        return True  # of a variable itself, which stays where it is
    for node in kernel.walk():
        if node.kind == "VarDecl" and node.id in names and node.start_offset >= start:
            return False
        if written(node) in names and start <= node.start_offset < end:
            return False
    return True


def guard_of(problem: Problem, place: Place, uniform: Uniformity, top: Node, call: Node) -> Node | None:
    """The one divergent early return in front of the atomic, if it is a plain guard."""
    leaving = uniform.divergent_exits(call.end_offset)
    if not leaving:
        return None
    if len(leaving) > 1:
        raise NotApplicable(f"{place}: threads leave the kernel early in {len(leaving)} places")
    guard = next((node for node in top.children if any(part is leaving[0] for part in node.walk())), None)
    if guard is None or guard.kind != "IfStmt" or len(guard.children) != 2 or guard.in_macro:
        raise NotApplicable(f"{place}: some threads leave the kernel on line {leaving[0].line}")
    branch = guard.children[1]
    plain = branch is leaving[0] or (branch.kind == "CompoundStmt" and branch.children == [leaving[0]])
    after = [jump for jump in exits(top) if jump.kind == "ReturnStmt" and jump.start_offset > guard.end_offset]
    if not plain or after:
        raise NotApplicable(
            f"{place}: the early return on line {leaving[0].line} is not a plain guard of all that follows"
        )
    check_no_barrier_after(problem, place, top, guard)
    if call.start_offset < guard.start_offset:
        raise NotApplicable(f"{place}: the early return follows the atomic")
    return guard


def check_no_barrier_after(problem: Problem, place: Place, top: Node, guard: Node) -> None:
    """Threads that left would meet a barrier that they skip now with another one. Raises `NotApplicable`."""
    rest = problem.source(place.path).code(guard.end_offset, top.end_offset)
    called = {callee_name(node) for part in top.children for node in part.walk() if node.kind == "CallExpr"}
    if _BARRIERS.search(rest) or any(_has_barrier(problem, name) for name in called if name):
        raise NotApplicable(f"{place}: there is a barrier after the early return on line {guard.line}")


def _has_barrier(problem: Problem, function: str) -> bool:
    for text in problem.task.sources.values():
        if function not in text:
            continue
        for region in outline.functions(text):
            if region.name == function and _BARRIERS.search(
                without_comments(outline.encoded(text)[region.start : region.end].decode("utf-8", "replace"))
            ):
                return True
    return False
