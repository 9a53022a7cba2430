"""Proof that a method or an operator is a function of its values alone: it keeps no state and sees no memory.

Of the project's own methods the definitions are read: `const`, without anything but parameters, variables of their own
and members. Conversions of 16-bit floating-point numbers, which the vendors' headers define as classes, are known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from intelliperf.codegen.rules.lanes import written
from intelliperf.codegen.rules.lds_arrays import ELEMENT_BYTES
from intelliperf.codegen.rules.problem import Problem, body, resolved_functions
from intelliperf.codegen.syntax import outline
from intelliperf.codegen.syntax.tree import Node

METHOD_CALLS = ("CXXMemberCallExpr", "CXXOperatorCallExpr")
_PURE_OPERATORS = re.compile(r"operator *(?:\(\)|[-+*/%&|^~!<>]|[=!<>]=)")
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
    if call.kind == "CXXOperatorCallExpr" and not _PURE_OPERATORS.fullmatch(name):
        return f"calls {name}, which may keep state"
    found = [one for one in definitions(problem, name) if may_be_meant(one, call)]
    if not found and call.kind == "CXXOperatorCallExpr" and any(map(_is_plain_value, call.children[1:])):
        return ""
    if not found:
        return f"calls {name}, whose definition is not among the sources"
    for function in found:
        if why := _why_impure(function):
            return f"calls {name}, which {why}"
        check(function)
    return ""


def is_assignment(node: Node) -> bool:
    """Does it call `operator=`? What it writes is its first operand."""
    return node.kind == "CXXOperatorCallExpr" and method_name(node) == "operator=" and len(node.children) == 3


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


def _why_impure(function: Node) -> str:
    method = function.kind == "CXXMethodDecl"
    if method and not re.search(r"\) const\b", function.type):
        return "is not const"
    parameters = [child for child in function.children if child.kind == "ParmVarDecl"]
    own = {node.id for node in function.everything() if node.kind in ("VarDecl", "ParmVarDecl")}
    if any("*" in one.canonical or ("&" in one.canonical and "const" not in one.canonical) for one in parameters):
        return "gets memory"
    for node in body(function).everything():
        if node.kind in (*METHOD_CALLS, "CXXNewExpr", "CXXDeleteExpr", "LambdaExpr"):
            return f"calls more on line {node.line}"
        base = node.children[0].bare() if node.children else node
        foreign = node.kind == "MemberExpr" and "isArrow" in node.flags and base.kind != "CXXThisExpr"
        if node.kind == "ArraySubscriptExpr" or foreign or (node.kind == "UnaryOperator" and node.opcode == "*"):
            return f"looks into memory on line {node.line}"
        if _assigns(node) and written(node) not in own:
            return f"writes more than its own variables on line {node.line}"
    return ""


def _assigns(node: Node) -> bool:
    if node.kind == "UnaryOperator":
        return node.opcode in ("++", "--")
    binary = node.kind in ("BinaryOperator", "CompoundAssignOperator")
    return binary and node.opcode.endswith("=") and node.opcode not in _COMPARES
