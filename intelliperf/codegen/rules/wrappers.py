"""Atomics as a kernel sees them: its own, or those of a device function that does nothing but one.

`bump(table, i)` with `void bump(int* t, int i) { atomicAdd(t + i, 1); }` is `atomicAdd(table + i, 1)`. The kernel's
tree is copied with the atomic in the call's place, so that what is proven of atomics holds for it as it stands.
"""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass

from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, body
from intelliperf.codegen.rules.statements import callee_name
from intelliperf.codegen.rules.wave import OPERATIONS
from intelliperf.codegen.rules.wave_aggregate_atomics import atomic_calls
from intelliperf.codegen.syntax.source import Source
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import SourceEvidence

EFFECTS = (
    "CallExpr",
    "CXXMemberCallExpr",
    "CXXOperatorCallExpr",
    "CompoundAssignOperator",
    "CXXNewExpr",
    "LambdaExpr",
)


@dataclass(frozen=True)
class Atomic:
    """One atomic of one instantiation of a kernel, at `place`; `address` and `operand` in the kernel's own words."""

    place: Place
    call: Node
    address: str
    operand: str
    own: Node | None = None  # its call in a device function that does more, where `changes` of its text are told
    changes: dict[Node, list[tuple[int, int, str]]] | None = None


def atomics(problem: Problem, evidence: SourceEvidence) -> list[Atomic]:
    """The blamed atomic in each instantiation of the kernel around it. Raises `NotApplicable`."""
    place = problem.place(evidence)
    calls = atomic_calls(problem, place)
    if all(is_kernel(function) for function in place.functions) or not is_wrapper(place.functions[0]):
        source = problem.source(place.path)
        return [Atomic(place, call, *own_text(source, place, call)) for call in calls]
    return _inlined(problem, place, calls[0])


def is_kernel(function: Node) -> bool:
    return any(child.kind == "CUDAGlobalAttr" for child in function.children)


def is_wrapper(function: Node) -> bool:
    """Is an atomic all that the device function does?"""
    if is_kernel(function) or function.kind != "FunctionDecl":
        return False
    statements = [child for child in body(function).children if child.kind != "NullStmt"]
    return len(statements) == 1 and callee_name(statements[0].bare()) in OPERATIONS


def own_text(source: Source, place: Place, call: Node) -> tuple[str, str]:
    first, operand = call.children[1], call.children[2] if len(call.children) > 2 else call.children[1]
    gap = source.data.rfind(b",", first.start_offset, operand.start_offset)
    if gap < 0 or first.begin is None or first.begin.macro or call.in_macro:
        raise NotApplicable(f"{place}: the address is written by a macro")
    return source.slice(first.start_offset, gap).strip(), source.slice(operand.start_offset, call.end_offset - 1)


def _inlined(problem: Problem, inner: Place, atomic: Node) -> list[Atomic]:
    wrapper = next(up for up in atomic.ancestors() if up.kind == "FunctionDecl")
    place = calling(problem, inner, wrapper)
    found = []
    for kernel in place.functions:
        calls = [node for node in kernel.everything() if node.kind == "CallExpr" and callee_name(node) == wrapper.name]
        here = [node for node in calls if node.line == place.evidence.line]
        if len(here) != 1:
            raise NotApplicable(f"{place}: {wrapper.name} is called {len(here)} times on this line")
        if here[0].in_macro or len({node.start_offset for node in calls}) != len(calls):
            raise NotApplicable(f"{place}: {wrapper.name} is called by a macro")
        found.append(_in_place(problem, place, kernel, here[0], (inner, wrapper, atomic)))
    kernels = tuple(next(up for up in one.call.ancestors() if up.kind == "FunctionDecl") for one in found)
    whole = dataclasses.replace(place, functions=kernels)
    return [dataclasses.replace(one, place=whole) for one in found]


def calling(problem: Problem, inner: Place, wrapper: Node) -> Place:
    """The place in a kernel from which the wrapper was called."""
    evidence = inner.evidence
    if not evidence.chain or evidence.chain[-1].line == evidence.line:
        raise NotApplicable(
            f"{inner}: the atomic is in the device function {wrapper.name}, called from a line that is not known"
        )
    frame = evidence.chain[-1]
    outer = problem.place(dataclasses.replace(evidence, file=frame.file, line=frame.line, column=0))
    if not all(is_kernel(function) for function in outer.functions):
        raise NotApplicable(f"{inner}: the atomic is in a device function, which need not be called by all threads")
    return outer


def _in_place(problem: Problem, place: Place, kernel: Node, call: Node, what: tuple[Place, Node, Node]) -> Atomic:
    inner, wrapper, atomic = what
    parameters = [child for child in wrapper.children if child.kind == "ParmVarDecl"]
    arguments = call.children[1:]
    if len(parameters) != len(arguments):
        raise NotApplicable(f"{place}: {wrapper.name} is called with arguments of its own default")
    given = {parameter.id: argument for parameter, argument in zip(parameters, arguments, strict=True)}
    for identity, argument in given.items():
        uses = sum(node.reference is not None and node.reference.id == identity for node in atomic.walk())
        if uses != 1 and any(node.kind in EFFECTS for node in argument.walk()):
            raise NotApplicable(f"{place}: {wrapper.name} uses an argument {uses} times that is computed by a call")
    whole = copied(kernel, kernel.parent, {id(call): (atomic, given)})
    inlined = next(
        node for node in whole.everything() if node.kind == "CallExpr" and node.start_offset == call.start_offset
        and callee_name(node) == callee_name(atomic)
    )  # fmt: skip
    inside, outside = problem.source(inner.path), problem.source(place.path)
    texts = [substituted(inside, outside, part, given) for part in atomic.children[1:3]]
    return Atomic(place, inlined, texts[0], texts[1])


def substituted(inside: Source, outside: Source, expression: Node, given: Mapping[str, Node]) -> str:
    """The wrapper's expression with the arguments' text for its parameters."""
    if expression.in_macro:
        raise NotApplicable(f"line {expression.line}: the atomic is written by a macro")
    text, at = "", expression.start_offset
    names = [node for node in expression.walk() if node.reference is not None and node.reference.id in given]
    for name in sorted(names, key=lambda node: node.start_offset):
        argument = given[name.reference.id] if name.reference is not None else name
        written = outside.slice(argument.start_offset, argument.end_offset)
        alone = re.fullmatch(r"[\w.]+", written) or name is expression.bare()
        text += inside.slice(at, name.start_offset) + (written if alone else f"({written})")
        at = name.end_offset
    return text + inside.slice(at, expression.end_offset)


def copied(node: Node, parent: Node | None, swaps: Mapping[int, tuple[Node, Mapping[str, Node]]]) -> Node:
    """A copy of a tree; a node in `swaps` gives way to another one with its parameters replaced."""
    if id(node) in swaps:
        atomic, given = swaps[id(node)]
        found = _replaced(atomic, parent, given, node)
        found.begin, found.end = node.begin, node.end
        return found
    found = copy.copy(node)
    found.parent = parent
    found.children = [copied(child, found, swaps) for child in node.children]
    return found


def _replaced(node: Node, parent: Node | None, given: Mapping[str, Node], call: Node) -> Node:
    if node.reference is not None and node.reference.id in given:
        return copied(given[node.reference.id], parent, {})
    found = copy.copy(node)
    found.parent = parent
    found.begin, found.end = call.begin, call.end
    found.children = [_replaced(child, found, given, call) for child in node.children]
    return found
