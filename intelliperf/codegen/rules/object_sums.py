"""Objects that are added up member by member: `sum += value` with an `operator+=` that does nothing else.

Zero bits in all members are then a sum of nothing, and parts of a sum that lanes have can be added up in any order.
"""

from __future__ import annotations

import re

from intelliperf.codegen.rules.methods import class_name, definitions, may_be_meant, method_name
from intelliperf.codegen.rules.problem import Problem, body
from intelliperf.codegen.rules.wave_aggregate_atomics import FLOATS, INTEGERS
from intelliperf.codegen.syntax import outline
from intelliperf.codegen.syntax.tree import Node

_VECTOR = re.compile(r"(?:HIP_vector_type<(float|double|int|unsigned int), ([1-4])>)")


def object_sum(problem: Problem, variable: Node) -> Node | None:
    """The call `variable += …` whose operator adds up all members of a class, each by itself, or None."""
    call = variable.parent
    if call is None or call.kind != "CXXOperatorCallExpr" or method_name(call) != "operator+=":
        return None
    if len(call.children) != 3 or call.children[1].bare() is not variable or not ends_statement(call):
        return None
    found = [one for one in definitions(problem, "operator+=") if may_be_meant(one, call)]
    owner = class_name(variable.canonical)
    if not found:
        return call if _VECTOR.search(variable.canonical) else None
    return call if all(_adds_members(problem, one, owner) for one in found) else None


def open_members(problem: Problem, variable: Node) -> tuple[str, ...]:
    """Names of all members of such an object, where a function outside of its class may name them."""
    if (vector := _VECTOR.search(variable.canonical)) is not None:
        return tuple("xyzw"[: int(vector[2])])
    owner = class_name(variable.canonical)
    if any(re.search(rf"\bclass\s+{re.escape(owner)}\b", text) for text in problem.task.sources.values()):
        return ()
    for one in definitions(problem, "operator+="):
        record = one.parent
        if record is not None and any(child.kind == "AccessSpecDecl" for child in record.children):
            return ()
        if _adds_members(problem, one, owner):
            return tuple(_fields(problem, one, owner))
    return ()


def ends_statement(call: Node) -> bool:
    user = call.parent
    while user is not None and user.kind in ("ExprWithCleanups", "ParenExpr"):
        user = user.parent
    return user is not None and user.kind in ("CompoundStmt", "IfStmt", "ForStmt")


def _adds_members(problem: Problem, function: Node, owner: str) -> bool:
    parameters = [child for child in function.children if child.kind == "ParmVarDecl"]
    method = function.kind == "CXXMethodDecl"
    if len(parameters) != (1 if method else 2) or any(class_name(one.canonical) != owner for one in parameters):
        return False
    target = "" if method else parameters[0].id
    *additions, last = body(function).children or [function]
    if last.kind != "ReturnStmt":
        additions.append(last)
    added = [_added(statement, target, parameters[-1].id) for statement in additions]
    fields = _fields(problem, function, owner)
    return bool(fields) and "" not in added and sorted(added) == sorted(fields)


def _added(statement: Node, target: str, other: str) -> str:
    """The member of `target` (empty: of the object itself) to which that of `other` is added; "" for all else."""
    node = statement.bare()
    if node.kind != "CompoundAssignOperator" or node.opcode != "+=":
        return ""
    left, right = (child.bare() for child in node.children)
    if left.kind != "MemberExpr" or right.kind != "MemberExpr" or not left.children or not right.children:
        return ""
    to, source = left.children[0].bare(), right.children[0].bare()
    own = to.kind == "CXXThisExpr" if not target else to.reference is not None and to.reference.id == target
    theirs = source.reference is not None and source.reference.id == other
    same = _plain(left.name) == _plain(right.name) and left.canonical in INTEGERS | FLOATS
    return _plain(left.name) if own and theirs and same else ""


def _fields(problem: Problem, function: Node, owner: str) -> list[str]:
    """Names of all members; none where they are not known, or the class holds more than numbers."""
    records = [function.parent] if function.parent is not None and function.parent.kind == "CXXRecordDecl" else []
    for path, text in problem.task.sources.items():
        if (found := outline.members(text, owner)) is not None:
            return [name for name, _ in found]
        if not any(_members(record) for record in records) and re.search(rf"\b(?:struct|class)\s+{owner}\b", text):
            records += [node for root in problem.declarations(path, owner) for node in root.walk()]
    for record in records:
        if record.kind == "CXXRecordDecl" and record.name == owner and (members := _members(record)):
            bases = any("virtual" in child.flags for child in record.children) or "hasBases" in record.flags
            return [] if bases else members
    return []


def _members(record: Node) -> list[str]:
    return [child.name for child in record.children if child.kind == "FieldDecl"]


def _plain(name: str) -> str:
    return name.removeprefix("->").removeprefix(".")
