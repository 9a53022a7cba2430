"""An atomic of all threads of a block on one address becomes a block reduction and one atomic.

Proof obligations, each checked on the tree: the address is the same for all threads and stays
so; nothing else in the kernel touches its pointer, or only elements with other constant indices;
the place after the outermost divergent statement around the atomic is reached by all threads of
the block. Guards stay: threads that they keep out contribute the operation's identity. A single
leading `if (…) return;` becomes a guard around the rest of the kernel.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from intelliperf.codegen.rules.declarations import declare, unused_name
from intelliperf.codegen.rules.elements import ATOMICS, elements_apart
from intelliperf.codegen.rules.fewer_blocks import cap_launches, walk_elements, walk_of
from intelliperf.codegen.rules.guards import enclose_rest, statement_end
from intelliperf.codegen.rules.lanes import written
from intelliperf.codegen.rules.lds_arrays import is_shared
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite, body
from intelliperf.codegen.rules.statements import callee, callee_name, pointee, value_used
from intelliperf.codegen.rules.uniformity import Uniformity, exits
from intelliperf.codegen.rules.wave import block_atomic
from intelliperf.codegen.rules.wave_aggregate_atomics import (
    FLOATS,
    defines,
    element_type,
    snake_case,
)
from intelliperf.codegen.rules.wrappers import Atomic, atomics
from intelliperf.codegen.syntax import outline
from intelliperf.codegen.syntax.source import without_comments
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import AccessKind, Declaration, SourceEvidence

_INTEGER_LIMITS = {
    "int": ("2147483647", "-2147483647 - 1"),
    "unsigned int": ("4294967295u", "0u"),
    "long long": ("9223372036854775807ll", "-9223372036854775807ll - 1"),
    "unsigned long long": ("18446744073709551615ull", "0ull"),
}
_SUPPORTED = (
    "atomicAdd",
    "unsafeAtomicAdd",
    "atomicSub",
    "atomicMin",
    "atomicMax",
    "atomicAnd",
    "atomicOr",
    "atomicXor",
)
_BARRIERS = re.compile(r"sync|barrier|this_thread_block|this_grid", re.IGNORECASE)


@dataclass(frozen=True)
class ReductionPlan:
    """Where the pieces go, in one instantiation; the same bytes in all of them."""

    call: Node
    region: Node  # contributions are collected over this statement
    guard: Node | None  # `if (…) return;` that becomes a guard of the rest of the body
    element: str  # the pointee as the program writes it
    root: str  # the pointer parameter


class BlockReduceAtomics:
    name = "block_reduce_atomics"

    def rewrite(self, problem: Problem) -> Rewrite:
        capped: list[int] = []
        made = problem.rewrite_lines(
            "Reduce over the block in registers and LDS, then issue one atomic per block",
            lambda evidence: [self._line(problem, evidence, capped)],
        )
        if not capped:
            return made
        return replace(made, declares=Declaration(geometry=True, reason=f"{capped[0]} blocks walk over the elements"))

    def _line(self, problem: Problem, evidence: SourceEvidence, capped: list[int]) -> str:
        if evidence.access not in (AccessKind.ATOMIC, AccessKind.REDUCTION):
            raise NotApplicable(f"{evidence.file.name}:{evidence.line} is not an atomic access")
        seen = atomics(problem, evidence)
        place, found = seen[0].place, [one.call for one in seen]
        types = {element_type(call) for call in found}
        function = callee_name(found[0])
        if any(value_used(call) for call in found):
            raise NotApplicable(f"{place}: the old value that {function} returns is used")
        if types & FLOATS and not function.endswith("Add"):
            raise NotApplicable(f"{place}: a floating-point {function} has no exact reduction (NaN)")
        plans = [_plan(problem, place, call) for call in found]
        spans = {(plan.region.start_offset, plan.region.end_offset, plan.guard is None) for plan in plans}
        if len(spans) != 1:
            raise NotApplicable(f"{place}: the instantiations of the kernel need different rewrites")
        rounding = " (reassociates floating-point additions: results differ by rounding)" if types & FLOATS else ""
        with contextlib.suppress(NotApplicable), problem.all_or_nothing():
            capped.append(_apply_walking(problem, place, plans[0], seen, types))
            return f"{function} at {place}, by {capped[0]} blocks that walk over the elements{rounding}"
        _apply(problem, place, plans[0], seen[0], types)
        return f"{function} at {place}{rounding}"


def _kernel_of(place: Place, call: Node) -> Node:
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


def _plan(problem: Problem, place: Place, call: Node) -> ReductionPlan:
    kernel = _kernel_of(place, call)
    uniform = Uniformity(kernel)
    address = call.children[1]
    _check_many(place, call)
    if uniform.varying(address):
        raise NotApplicable(f"{place}: the address may differ between the threads of a block")
    own = frozenset(name for name in ATOMICS if any(defines(text, name) for text in problem.task.sources.values()))
    shared = _shared_root(place, kernel, address)
    members = not any(re.search(r"\bunion\b", text) for text in problem.task.sources.values())
    root = shared.name if shared is not None else pointer_root(place, kernel, address, own, members)

    def element() -> str:
        if any(node.kind == "MemberExpr" for node in address.walk()):
            return element_type(call)
        return shared.type if shared is not None else written_element(place, kernel, root)

    if any(jump.kind in ("GotoStmt", "IndirectGotoStmt") for jump in exits(kernel)):
        raise NotApplicable(f"{place}: the kernel has a goto")
    chain = [call, *call.ancestors()]
    top = body(kernel)
    guard = guard_of(problem, place, uniform, top, call)
    if guard is not None:
        if not _fixed(kernel, address, guard.end_offset, top.end_offset):
            raise NotApplicable(f"{place}: the address is computed after the early return")
        _check_alone(place, shared, top, call)
        return ReductionPlan(call, top, guard, element(), root)
    levels = [node for node, parent in zip(chain, chain[1:], strict=False) if parent.kind == "CompoundStmt"]
    for region in reversed(levels):
        if uniform.divergent(region) or any(
            jump.kind == "ReturnStmt" and uniform.divergent(jump) for jump in exits(region)
        ):
            break
        if _fixed(kernel, address, region.start_offset, region.end_offset):
            _check_alone(place, shared, region, call)
            return ReductionPlan(call, region, None, element(), root)
    raise NotApplicable(f"{place}: no place around the atomic is provably reached by all threads with a fixed address")


def _check_many(place: Place, call: Node) -> None:
    """Raise `NotApplicable` where a condition leaves the atomic to one thread of the block."""
    for parent in call.ancestors():
        tests = [parent.children[0].bare()] if parent.kind == "IfStmt" else []
        while tests:
            test = tests.pop()
            tests += [child.bare() for child in test.children] if test.opcode == "&&" else []
            sides = [child.bare() for child in test.children] if test.opcode == "==" else []
            if any(side.kind == "Coordinate" and side.name == "threadIdx.x" for side in sides):
                raise NotApplicable(f"{place}: one thread of a block issues the atomic already (line {parent.line})")


def _shared_root(place: Place, kernel: Node, address: Node) -> Node | None:
    """The number in LDS that all threads of the block work on, if the address is one's."""
    declared = {node.id: node for node in kernel.walk() if node.kind == "VarDecl" and is_shared(node)}
    names = [node.reference.id for node in address.walk() if node.reference is not None]
    found = [declared[name] for name in names if name in declared]
    if not found:
        return None
    node = address.bare()
    if len(names) != 1 or node.kind != "UnaryOperator" or "[" in found[0].canonical:
        raise NotApplicable(f"{place}: the address is not that of one variable in LDS")
    if kernel.parent is not None and kernel.parent.kind == "FunctionTemplateDecl":
        raise NotApplicable(f"{place}: {found[0].name} is a variable in LDS of a template")
    return found[0]


def _check_alone(place: Place, shared: Node | None, region: Node, call: Node) -> None:
    """Raise `NotApplicable` where the variable in LDS is looked at while the threads' shares are collected."""
    if shared is None:
        return
    inside = {id(node) for node in call.walk()}
    for node in region.walk():
        if node.reference is not None and node.reference.id == shared.id and id(node) not in inside:
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


def _identity(place: Place, function: str, types: set[str]) -> str:
    if function == "atomicAnd":
        return "-1"
    if function not in ("atomicMin", "atomicMax"):
        return "0"
    if len(types) != 1 or (only := next(iter(types))) not in _INTEGER_LIMITS:
        raise NotApplicable(f"{place}: {function} has no identity that fits all instantiations")
    return _INTEGER_LIMITS[only][function == "atomicMax"]


def _contribution(function: str, name: str, element: str, cast: bool) -> tuple[str, str]:
    """Text before and after the operand that adds it to the thread's own part."""
    opened, closed = (f"static_cast<{element}>(", ")") if cast else ("", "")
    symbols = {
        "atomicAdd": "+=",
        "unsafeAtomicAdd": "+=",
        "atomicSub": "+=",
        "atomicAnd": "&=",
        "atomicOr": "|=",
        "atomicXor": "^=",
    }
    if function in symbols:
        return f"{name} {symbols[function]} {opened}", closed
    return f"{name} = {function.removeprefix('atomic').lower()}({name}, static_cast<{element}>(", "))"


def _apply_walking(problem: Problem, place: Place, plan: ReductionPlan, seen: Sequence[Atomic], types: set[str]) -> int:
    """With a grid that fills the device; returns how many blocks that is. Raises `NotApplicable`."""
    kernel = _kernel_of(place, plan.call)
    others = [node for node in kernel.walk() if node.kind == "CallExpr" and "tomic" in callee_name(node)]
    if len(others) != 1 or len(place.functions) != 1:
        raise NotApplicable(f"{place}: the kernel has other atomics, too, or several instantiations")
    walk = walk_of(problem, place, kernel)
    most = cap_launches(problem, place, kernel)
    declared, flush = _collect(problem, place, plan, seen[0], types)
    walk_elements(problem, problem.source(place.path), place, kernel, walk, (declared, flush))
    return most


def _apply(problem: Problem, place: Place, plan: ReductionPlan, atomic: Atomic, types: set[str]) -> None:
    source = problem.source(place.path)
    if plan.region is plan.call:
        helper = _helper(problem, place, plan, types)
        source.replace(plan.call.start_offset, plan.call.end_offset, f"{helper}({atomic.address}, {atomic.operand})")
        return
    declared, flush = _collect(problem, place, plan, atomic, types)
    if plan.guard is not None:
        enclose_rest(source, str(place), plan.guard, plan.region.end_offset - 1, (declared, flush))
        return
    indent = source.indentation(plan.region.start_offset)
    source.insert(plan.region.start_offset, declared + indent)
    source.insert(statement_end(source, plan.region), f"\n{indent}{flush}")


def _collect(problem: Problem, place: Place, plan: ReductionPlan, atomic: Atomic, types: set[str]) -> tuple[str, str]:
    """The thread's share instead of the atomic: its declaration, and what adds up the block's shares."""
    call = plan.call
    helper = _helper(problem, place, plan, types)
    part = unused_name(problem, "block_part")
    cast = call.children[2].bare().canonical != element_type(call)
    before, after = _contribution(callee_name(call), part, plan.element, cast)
    problem.source(place.path).replace(call.start_offset, call.end_offset, f"{before}{atomic.operand}{after}")
    declared = f"{plan.element} {part} = {_identity(place, callee_name(call), types)};"
    return f"{declared}  // this thread's share of *({atomic.address})\n", f"{helper}({atomic.address}, {part});"


def _helper(problem: Problem, place: Place, plan: ReductionPlan, types: set[str]) -> str:
    """The name of the device function that combines a block's shares."""
    call, function, dialect = plan.call, callee_name(plan.call), problem.dialect
    if callee(call) is None or call.in_macro or plan.region.in_macro:
        raise NotApplicable(f"{place}: the atomic or its surroundings come from a macro")
    identity = _identity(place, function, types)
    return declare(
        problem,
        problem.source(place.path),
        call.start_offset,
        "block_" + snake_case(function),
        lambda name: block_atomic(name, function, identity, dialect),
    )
