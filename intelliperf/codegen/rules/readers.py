"""Functions that get pointers and only read through them, from arrays that the kernel writes nowhere."""

from __future__ import annotations

from intelliperf.codegen.rules.addresses import Addresses, accesses
from intelliperf.codegen.rules.independence import Independence
from intelliperf.codegen.rules.lanes import written
from intelliperf.codegen.rules.lds_arrays import is_shared
from intelliperf.codegen.rules.methods import METHOD_CALLS, assigns, definitions
from intelliperf.codegen.rules.polynomials import Algebra
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, body
from intelliperf.codegen.rules.statements import callee_name, pointee
from intelliperf.codegen.syntax.tree import Node


def check_call(independence: Independence, problem: Problem, place: Place, kernel: Node, call: Node) -> None:
    """Raise `NotApplicable` unless what the call returns depends on its arguments and on steady memory alone."""
    pointers = [argument for argument in call.children[1:] if pointee(argument.canonical) is not None]
    if not pointers:
        independence.check_call(call)
        return
    name = callee_name(call)
    if not name:
        raise NotApplicable(f"{place}: line {call.line} calls through a pointer")
    algebra = Algebra(kernel)
    addresses = Addresses(algebra)
    parameters = {child.id for child in kernel.children if child.kind == "ParmVarDecl"}
    shared = frozenset(node.id for node in kernel.everything() if node.kind == "VarDecl" and is_shared(node))
    stored = {addresses.element(item.place).root for item in accesses(body(kernel), shared) if item.stores}
    handed = {
        addresses.pointer(argument).root
        for node in kernel.everything()
        if node.kind in ("CallExpr", *METHOD_CALLS)
        for argument in node.children[1:]
        if pointee(argument.canonical) is not None and not _reads(argument.canonical)
    }
    for argument in pointers:
        root = addresses.pointer(argument).root
        if not _reads(argument.canonical) or root not in parameters:
            raise NotApplicable(f"{place}: line {call.line} hands a pointer to {name}")
        if root in stored | handed or "" in stored | handed:
            raise NotApplicable(f"{place}: line {call.line} hands to {name} what the kernel may write")
    _check_reader(independence, problem, place, name, {name})
    independence.check_function(name)


def _reads(pointer: str) -> bool:
    """Is it a pointer to what may not be changed through it?"""
    target = pointee(pointer) or ""
    return target.startswith("const ") and "*" not in target and "volatile" not in target


def _check_reader(independence: Independence, problem: Problem, place: Place, name: str, seen: set[str]) -> None:
    found = list(definitions(problem, name))
    if not found:
        raise NotApplicable(f"{place}: {name}, which gets a pointer, is not defined in the sources")
    for function in found:
        for parameter in function.children:
            kind = parameter.canonical if parameter.kind == "ParmVarDecl" else ""
            changes = kind.endswith("&") and not kind.startswith("const ")
            if changes or (pointee(kind) is not None and not _reads(kind)):
                raise NotApplicable(f"{place}: {name} may write through {parameter.name}")
        for node in body(function).everything():
            if assigns(node) and written(node) is None:
                raise NotApplicable(f"{place}: {name} writes memory on line {node.line}")
            if node.kind in METHOD_CALLS:
                independence.check_method(node)
            if node.kind in ("LambdaExpr", "CXXNewExpr", "CXXDeleteExpr"):
                raise NotApplicable(f"{place}: {name} holds a {node.kind}, which is not followed")
            hands = node.kind == "CallExpr" and any(pointee(each.canonical) is not None for each in node.children[1:])
            if hands and callee_name(node) not in seen:
                seen.add(callee_name(node))
                _check_reader(independence, problem, place, callee_name(node), seen)
