"""Objects that are added up member by member: `sum += value` with an `operator+=` that does nothing else.

So are those of `sum = sum + value` and `sum = add(sum, value)` with functions that return the sums of the members.

Zero bits in all members are then a sum of nothing, and parts of a sum that lanes have can be added up in any order.
"""

from __future__ import annotations

import re

from intelliperf.codegen.rules.methods import class_name, definitions, may_be_meant, method_name
from intelliperf.codegen.rules.problem import Problem, body
from intelliperf.codegen.rules.statements import callee_name
from intelliperf.codegen.rules.wave_aggregate_atomics import FLOATS, INTEGERS
from intelliperf.codegen.syntax import outline
from intelliperf.codegen.syntax.tree import Node

_VECTOR = re.compile(
    r"(?:HIP_vector_type<(?:float|double|int|unsigned int), ([1-4])>|\b(?:float|double|u?int)([2-4]))$"
)
_OF_COMPLEX = ("cuCadd", "cuCaddf", "hipCadd", "hipCaddf")  # of the vendors' headers


def object_sum(problem: Problem, variable: Node) -> tuple[Node, Node, str] | None:
    """The call that adds something to all members of the variable, each by itself; what it adds; how, for a and b."""
    if (call := _added_to(problem, variable)) is not None:
        return call, call.children[2], "{a} += {b}"
    return _set_to_sum(problem, variable)


def _set_to_sum(problem: Problem, variable: Node) -> tuple[Node, Node, str] | None:
    call = variable.parent
    if call is None or call.kind != "CXXOperatorCallExpr" or method_name(call) != "operator=":
        return None
    if len(call.children) != 3 or call.children[1].bare() is not variable or not ends_statement(call):
        return None
    value = _copied_from(call.children[2])
    operands = _operands(value)
    mine = [_names(one, variable) for one in operands]
    if len(operands) != 2 or mine.count(True) != 1:
        return None
    owner, name = class_name(variable.canonical), _function(value)
    known = definitions(problem, name) if name else ()
    found = [one for one in known if may_be_meant(one, value) and _takes(one, owner)]
    other = operands[mine.index(False)]
    if not found and name in _OF_COMPLEX and value.kind == "CallExpr":
        return call, other, f"{{a}} = {name}({{a}}, {{b}})"
    if not found or not all(_returns_sum(problem, one, owner) for one in found):
        return None
    return call, other, "{a} = {a} + {b}" if name == "operator+" else f"{{a}} = {name}({{a}}, {{b}})"


def _takes(function: Node, owner: str) -> bool:
    return all(class_name(one.canonical) == owner for one in function.children if one.kind == "ParmVarDecl")


def _function(call: Node) -> str:
    if call.kind == "CXXOperatorCallExpr":
        return name if (name := method_name(call)) == "operator+" else ""
    return callee_name(call)


def _operands(call: Node) -> list[Node]:
    return [_copied_from(one) for one in call.children[1:]] if call.kind in ("CallExpr", "CXXOperatorCallExpr") else []


def _copied_from(expression: Node) -> Node:
    """The object that is copied, where one is."""
    node = expression.bare()
    while node.kind == "CXXConstructExpr" and len(node.children) == 1:
        if class_name(node.children[0].bare().canonical) != class_name(node.canonical):
            break
        node = node.children[0].bare()
    return node


def _names(expression: Node, variable: Node) -> bool:
    same = expression.reference is not None and variable.reference is not None
    return same and expression.reference.id == variable.reference.id  # type: ignore[union-attr]


def _returns_sum(problem: Problem, function: Node, owner: str) -> bool:
    """Does it return the sums of its two objects' members, and do nothing else?"""
    parameters = [child for child in function.children if child.kind == "ParmVarDecl"]
    method = function.kind == "CXXMethodDecl"
    if len(parameters) != (1 if method else 2) or any(class_name(one.canonical) != owner for one in parameters):
        return False
    target = "" if method else parameters[0].id
    fields = _fields(problem, function, owner)
    statements = body(function).children
    if not fields or not statements or statements[-1].kind != "ReturnStmt" or not statements[-1].children:
        return False
    value = _copied_from(statements[-1].children[0])
    if value.kind == "DeclRefExpr" and value.reference is not None:
        return _sets_to_sums(statements[:-1], value.reference.id, (target, parameters[-1].id), fields)
    sums = [_summed(part, target, parameters[-1].id) for part in value.children]
    made = value.kind == "InitListExpr" or (
        value.kind in ("CXXTemporaryObjectExpr", "CXXConstructExpr") and _sets_fields(problem, owner, len(fields))
    )
    return len(statements) == 1 and made and sums == fields


def _sets_to_sums(statements: list[Node], made: str, operands: tuple[str, str], fields: list[str]) -> bool:
    """`T r; r.x = a.x + b.x; r.y = a.y + b.y;`"""
    declared, *rest = statements or [Node("Empty")]
    plain = declared.kind == "DeclStmt" and [one.id for one in declared.children] == [made]
    names = []
    for statement in rest:
        node = statement.bare()
        target = node.children[0].bare() if node.kind == "BinaryOperator" and node.opcode == "=" else node
        owner = target.children[0].bare() if target.kind == "MemberExpr" and target.children else target
        own = target is not node and owner.reference is not None and owner.reference.id == made
        summed = _summed(node.children[1], *operands) if own else ""
        names.append(summed if _plain(target.name) == summed else "")
    return plain and sorted(names) == sorted(fields)


def _summed(expression: Node, target: str, other: str) -> str:
    """The member whose values in both objects are added up; "" for all else."""
    node = expression.bare()
    if node.kind != "BinaryOperator" or node.opcode != "+" or node.canonical not in INTEGERS | FLOATS:
        return ""
    sides = [child.bare() for child in node.children]
    if any(side.kind != "MemberExpr" or not side.children for side in sides):
        return ""
    owners = [side.children[0].bare() for side in sides]
    found = {
        "" if owner.kind == "CXXThisExpr" else owner.reference.id if owner.reference is not None else "?"
        for owner in owners
    }
    return (
        _plain(sides[0].name)
        if found == {target, other} and sides[0].name.lstrip(".->") == _plain(sides[1].name)
        else ""
    )


def _sets_fields(problem: Problem, owner: str, count: int) -> bool:
    """Does every constructor of so many parameters give each member one of them, in their order?"""
    made = []
    for function in definitions(problem, owner):
        parameters = [child.id for child in function.children if child.kind == "ParmVarDecl"]
        if function.kind != "CXXConstructorDecl" or len(parameters) != count:
            continue
        initial = [child for child in function.children if child.kind == "CXXCtorInitializer"]
        given = [one.children[0].bare().reference if one.children else None for one in initial]
        plain = [one.id if one is not None else "" for one in given] == parameters
        made.append(plain and not body(function).children)
    return bool(made) and all(made)


def _added_to(problem: Problem, variable: Node) -> Node | None:
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


def open_members(problem: Problem, variable: Node, function: str) -> tuple[str, ...]:
    """Names of all members of such an object, where a function outside of its class may name them."""
    if (vector := _VECTOR.search(variable.canonical)) is not None:
        return tuple("xyzw"[: int(vector[1] or vector[2])])
    owner, adding = class_name(variable.canonical), definitions(problem, function)
    if any(re.search(rf"\bclass\s+{re.escape(owner)}\b", text) for text in problem.task.sources.values()):
        return ()
    for one in adding:
        record = one.parent
        if record is not None and any(child.kind == "AccessSpecDecl" for child in record.children):
            return ()
        if _adds_members(problem, one, owner) or _returns_sum(problem, one, owner):
            return tuple(_fields(problem, one, owner))
    return ()


def adder_of(joined: str) -> str:
    """The function that puts two objects together in the words of `object_sum`."""
    named = re.fullmatch(r"\{a\} = (\w+)\(.*", joined)
    return named[1] if named else "operator+=" if "+=" in joined else "operator+"


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
