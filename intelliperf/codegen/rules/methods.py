"""Proof that a method or an operator is a function of its values alone: it keeps no state and sees no memory.

Of the project's own methods the definitions are read: `const`, without anything but parameters, variables of their own
and members. Conversions of 16-bit floating-point numbers, which the vendors' headers define as classes, are known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from intelliperf.codegen.rules.lanes import written
from intelliperf.codegen.rules.lds_arrays import ELEMENT_BYTES
from intelliperf.codegen.rules.problem import Problem, body, resolved_functions
from intelliperf.codegen.syntax import outline
from intelliperf.codegen.syntax.tree import Node

METHOD_CALLS = ("CXXMemberCallExpr", "CXXOperatorCallExpr")
_PURE_OPERATORS = re.compile(r"operator *(?:\(\)|[-+*/%&|^~!<>]|[=!<>]=)")
_ASSIGNS = re.compile(r"operator *(?:[-+*/%&|^]|<<|>>)?=")
_COMPARES = ("==", "!=", "<=", ">=")


def method_name(call: Node) -> str:
    """ "speed2", "operator()", "operator float"; empty where the called function has no name."""
    target = call.children[0].bare() if call.children else call
    if call.kind == "CXXMemberCallExpr":
        return target.name.removeprefix("->").removeprefix(".") if target.kind == "MemberExpr" else ""
    return target.reference.name if target.reference is not None else ""


def why_impure(problem: Problem, call: Node, check: Callable[[Node], None]) -> str:
    """In words that follow "line 7 "; empty where the call is pure. `check` looks through what a body calls."""
    name = method_name(call)
    if not name:
        return "calls a method without a name"
    if call.kind == "CXXMemberCallExpr" and name.startswith("operator ") and _is_number(call.children[0].bare()):
        return ""
    if is_assignment(call) and _is_plain_value(call.children[1]):
        return ""
    assigned = is_assignment(call)
    if call.kind == "CXXOperatorCallExpr" and not assigned and not _PURE_OPERATORS.fullmatch(name):
        return f"calls {name}, which may keep state"
    found = [one for one in definitions(problem, name) if may_be_meant(one, call)]
    if not found and call.kind == "CXXOperatorCallExpr" and any(map(_is_plain_value, call.children[1:])):
        return ""
    if not found:
        return f"calls {name}, whose definition is not among the sources"
    for function in found:
        if why := _why_impure(problem, function, changes=assigned):
            return f"calls {name}, which {why}"
        check(function)
    return ""


def is_assignment(node: Node) -> bool:
    """Does it call `operator=`, `operator+=` or the like? What it writes is its first operand."""
    called = node.kind == "CXXOperatorCallExpr" and len(node.children) == 3
    return called and _ASSIGNS.fullmatch(method_name(node)) is not None


def _is_plain_value(expression: Node) -> bool:
    """Is it a number of 16 bits or a short vector, which headers define as classes that hold nothing else?"""
    kind = re.sub(r"\b(?:const|volatile|struct|class) ", "", expression.bare().canonical).rstrip(" &")
    return kind in ELEMENT_BYTES or kind.startswith("HIP_vector_type<")


def _is_number(member: Node) -> bool:
    """Is the object a number of 16 bits that a header defines as a class?"""
    kind = re.sub(r"\b(?:const|volatile|struct|class) ", "", member.children[0].canonical) if member.children else ""
    return ELEMENT_BYTES.get(kind) == 2


def may_be_meant(function: Node, call: Node) -> bool:
    """Of methods those of the object's own class; which overload is called need not be known if each will do."""
    if function.kind != "CXXMethodDecl" or function.parent is None:
        return True
    target = call.children[0].bare()
    operand = target.children[:1] if call.kind == "CXXMemberCallExpr" else call.children[1:2]
    return any(class_name(one.canonical) == function.parent.name for one in operand)


def class_name(kind: str) -> str:
    """ "Gain" for "const ns::Gain<float> &"."""
    plain = re.sub(r"\b(?:const|volatile|struct|class) |[ &*]+$", "", kind.partition("<")[0])
    return plain.rpartition("::")[2].strip()


def definitions(problem: Problem, name: str) -> Iterator[Node]:
    """All of that name in the project."""
    for path, text in problem.task.sources.items():
        regions = [region for region in outline.functions(text) if region.name == name]
        filters = dict.fromkeys(outline.filter_name(text, region) for region in regions)
        for root in (root for one in filters for root in problem.declarations(path, one)):
            yield from (function for function in resolved_functions(root) if function.name == name)


def _why_impure(problem: Problem, function: Node, callers: tuple[str, ...] = (), changes: bool = False) -> str:
    """`changes`: it is a method that assigns to its object, and may do so."""
    method = function.kind == "CXXMethodDecl"
    if method and not changes and not re.search(r"\) const\b", function.type):
        return "is not const"
    own = {node.id for node in function.everything() if node.kind in ("VarDecl", "ParmVarDecl")}
    helpers = [node for node in body(function).everything() if _helps(node) and method_name(node) not in callers]
    for call in helpers:
        for other in definitions(problem, method_name(call)):
            alike = (
                function.parent is not None and other.parent is not None and other.parent.name == function.parent.name
            )
            if alike and (why := _why_impure(problem, other, (*callers, function.name))):
                return f"calls {other.name}, which {why}"
    if why := why_sees_more(function, {id(call) for call in helpers}):
        return why
    for node in body(function).everything():
        member = changes and method and _is_own_member(node.children[0].bare()) if assigns(node) else False
        if assigns(node) and written(node) not in own and not member:
            return f"writes more than its own variables on line {node.line}"
    return ""


def _helps(node: Node) -> bool:
    """Is it a call of another method of the same object?"""
    target = node.children[0].bare() if node.kind == "CXXMemberCallExpr" else node
    return target.kind == "MemberExpr" and target is not node and target.children[0].bare().kind == "CXXThisExpr"


def why_sees_more(function: Node, known: Collection[int] = ()) -> str:
    """Does it see more than its arguments' values and the object's members? `known`: calls that were looked through."""
    parameters = [child for child in function.children if child.kind == "ParmVarDecl"]
    if any("*" in one.canonical or ("&" in one.canonical and "const" not in one.canonical) for one in parameters):
        return "gets memory"
    for node in body(function).everything():
        if node.kind in (*METHOD_CALLS, "CXXNewExpr", "CXXDeleteExpr", "LambdaExpr") and id(node) not in known:
            return f"calls more on line {node.line}"
        base = node.children[0].bare() if node.children else node
        foreign = node.kind == "MemberExpr" and "isArrow" in node.flags and base.kind != "CXXThisExpr"
        through = node.kind == "UnaryOperator" and node.opcode == "*" and base.kind != "CXXThisExpr"
        if node.kind == "ArraySubscriptExpr" or foreign or through:
            return f"looks into memory on line {node.line}"
    return ""


def _is_own_member(place: Node) -> bool:
    return place.kind == "MemberExpr" and bool(place.children) and place.children[0].bare().kind == "CXXThisExpr"


def assigns(node: Node) -> bool:
    if node.kind == "UnaryOperator":
        return node.opcode in ("++", "--")
    binary = node.kind in ("BinaryOperator", "CompoundAssignOperator")
    return binary and node.opcode.endswith("=") and node.opcode not in _COMPARES
