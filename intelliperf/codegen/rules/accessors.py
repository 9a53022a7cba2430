"""Functions and methods that only name an element, seen as what they name.

`view.at(r, c)` with `T& at(int r, int c) { return data[r * cols + c]; }` is `view.data[r * view.cols + c]`. The tree is
copied with that expression in the call's place, so that what is proven of elements holds for it. The text stays: what
comes from the function counts as written by a macro, which nothing edits, and what was handed to it as it stands.
"""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Iterator, Mapping

from intelliperf.codegen.rules.methods import assigns, class_name, definitions, method_name
from intelliperf.codegen.rules.problem import Place, Problem, body
from intelliperf.codegen.rules.statements import callee_name
from intelliperf.codegen.rules.wave_aggregate_atomics import FLOATS, INTEGERS
from intelliperf.codegen.syntax import outline
from intelliperf.codegen.syntax.tree import Node

_CALLS = ("CallExpr", "CXXMemberCallExpr", "CXXOperatorCallExpr")
_NOT_FOLLOWED = ("LambdaExpr", "CXXNewExpr", "CXXDeleteExpr", "CXXDefaultArgExpr", "StmtExpr")
_NUMBERS = INTEGERS | FLOATS
_MAKES = ("CXXTemporaryObjectExpr", "CXXConstructExpr", "CXXFunctionalCastExpr", "InitListExpr")
_DEEPEST = 8  # accessors that call one another


def seen_through(problem: Problem, place: Place) -> Place:
    """The place with its functions' accessors replaced."""
    known = {
        region.name.rpartition("::")[2]
        for text in problem.task.sources.values()
        for region in outline.functions(text)
        if not region.is_kernel
    }
    return dataclasses.replace(place, functions=tuple(_View(problem, known).of(one) for one in place.functions))


@dataclasses.dataclass(frozen=True)
class _View:
    problem: Problem
    known: set[str]  # names of the project's functions

    def of(self, function: Node) -> Node:
        if not any(node.kind in _CALLS and _called(node) in self.known for node in function.walk()):
            return function
        return self._copied(function, function.parent, 0)

    def _copied(self, node: Node, parent: Node | None, depth: int) -> Node:
        found = copy.copy(node)
        found.parent = parent
        found.children = [self._copied(child, found, depth) for child in node.children]
        accessor = self._accessor(found) if depth < _DEEPEST else None
        if accessor is None:
            return found
        value, given = accessor
        made = _replaced(value, parent, given, found)
        for part in _as_bare(made):
            part.begin, part.end = found.begin, found.end
        return self._copied(made, parent, depth + 1)

    def _accessor(self, call: Node) -> tuple[Node, Mapping[str, Node]] | None:
        """What the called function returns, and what it is given; None for any but one that names an element."""
        if call.kind not in _CALLS or (name := _called(call)) not in self.known:
            return None
        found = {
            (one.place.file, one.place.offset, one.type): one
            for one in definitions(self.problem, name)
            if one.place is not None and _is_meant(one, call)
        }
        if len(found) != 1:
            return None
        (function,) = found.values()
        value = _returned(function)
        given = dict(zip(map(_id, _parameters(function)), _arguments(call), strict=True))
        owner = _object(call)
        if owner is not None:
            given[""] = owner
        if value is None or not _names_memory(value) or not _is_plain(value, given):
            return None
        return value, given


def _as_bare(node: Node) -> Iterator[Node]:
    """The expression, and what of it is left without implicit casts and parentheses."""
    inner = node.bare()
    while node is not inner:
        yield node
        node = node.children[0]
    yield inner


def _id(node: Node) -> str:
    return node.id


def _called(call: Node) -> str:
    return callee_name(call) if call.kind == "CallExpr" else method_name(call)


def _parameters(function: Node) -> list[Node]:
    return [child for child in function.children if child.kind == "ParmVarDecl"]


def _arguments(call: Node) -> list[Node]:
    return call.children[2:] if _is_operator_of_object(call) else call.children[1:]


def _is_operator_of_object(call: Node) -> bool:
    target = call.children[0].bare() if call.children else call
    return call.kind == "CXXOperatorCallExpr" and target.reference is not None and "Method" in target.reference.kind


def _object(call: Node) -> Node | None:
    if call.kind == "CXXMemberCallExpr":
        member = call.children[0].bare()
        return member.children[0] if member.kind == "MemberExpr" and member.children else None
    return call.children[1] if _is_operator_of_object(call) else None


def _is_meant(function: Node, call: Node) -> bool:
    """Is it, of all functions of that name, the one that is called?"""
    parameters, arguments, owner = _parameters(function), _arguments(call), _object(call)
    if (function.kind == "CXXMethodDecl") != (owner is not None) or len(parameters) != len(arguments):
        return False
    if any(_plain(one.canonical) != _plain(other.canonical) for one, other in zip(parameters, arguments, strict=True)):
        return False
    if owner is None or function.parent is None:
        return owner is None
    kind = re.sub(r"\b(?:volatile|struct|class) ", "", owner.canonical).rstrip("*& ")
    constant = kind.startswith("const ")
    arguments_of_class = ", ".join(
        child.canonical or child.value for child in function.parent.children if child.kind == "TemplateArgument"
    )
    if arguments_of_class and not kind.endswith(f"<{arguments_of_class}>"):
        return False
    return class_name(kind) == function.parent.name and constant == bool(re.search(r"\) const\b", function.type))


def _plain(kind: str) -> str:
    return re.sub(r"\bconst\b|\b__restrict(?:__)?\b|[& ]", "", kind)


def _returned(function: Node) -> Node | None:
    """The value of a function that does nothing but return it."""
    statements = [child for child in body(function).children if child.kind != "NullStmt"]
    if len(statements) != 1 or statements[0].kind != "ReturnStmt" or not statements[0].children:
        return None
    return statements[0].children[0]


def _names_memory(value: Node) -> bool:
    """Is it more than a number made of numbers?"""
    return any(
        node.kind in ("CXXThisExpr", "ArraySubscriptExpr", "Coordinate")
        or (node.kind == "UnaryOperator" and node.opcode == "*")
        or (node.kind == "MemberExpr" and "isArrow" in node.flags)
        for node in value.everything()
    )


def _is_plain(value: Node, given: Mapping[str, Node]) -> bool:
    """May the arguments stand where the function names its parameters?"""
    for node in value.everything():
        if node.kind in _NOT_FOLLOWED or assigns(node) or (node.kind in _MAKES and node.canonical not in _NUMBERS):
            return False
        outer = node.kind == "DeclRefExpr" and node.reference is not None and node.reference.kind == "VarDecl"
        if outer or (node.kind == "CXXThisExpr" and not _is_of_member(node)):
            return False
    for identity, argument in given.items():
        uses = sum(_names(node, identity) for node in value.everything())
        for node in argument.everything():
            if node.kind in _NOT_FOLLOWED or assigns(node) or (node.kind in _CALLS and uses > 1):
                return False
    return True


def _is_of_member(this: Node) -> bool:
    user = this.user()
    return user is not None and user.kind == "MemberExpr"


def _names(node: Node, identity: str) -> bool:
    if not identity:
        return node.kind == "CXXThisExpr"
    return node.reference is not None and node.reference.id == identity


def _replaced(node: Node, parent: Node | None, given: Mapping[str, Node], call: Node) -> Node:
    if node.reference is not None and node.reference.id in given:
        return _moved(given[node.reference.id], parent)
    found = copy.copy(node)
    found.parent = parent
    found.begin, found.end = (
        dataclasses.replace(token, macro=True) if token is not None else None for token in (call.begin, call.end)
    )
    if node.kind == "MemberExpr" and node.children and node.children[0].bare().kind == "CXXThisExpr":
        owner = given[""]
        through = owner.bare().canonical.rstrip().endswith(("*", "*const"))
        found.flags = node.flags if through else node.flags - {"isArrow"}
        found.children = [_as_constant(owner, found) if _is_constant(node.children[0]) else _moved(owner, found)]
        return found
    found.children = [_replaced(child, found, given, call) for child in node.children]
    return found


def _is_constant(this: Node) -> bool:
    return this.canonical.startswith("const ")


def _as_constant(owner: Node, parent: Node) -> Node:
    """The object as a method sees it that may not change it."""
    if owner.canonical.startswith("const "):
        return _moved(owner, parent)
    kept = copy.copy(owner)
    kept.kind, kept.canonical, kept.cast, kept.parent = "ImplicitCastExpr", f"const {owner.canonical}", "NoOp", parent
    kept.reference, kept.name, kept.opcode = None, "", ""
    kept.children = [_moved(owner, kept)]
    return kept


def _moved(node: Node, parent: Node | None) -> Node:
    found = copy.copy(node)
    found.parent = parent
    found.children = [_moved(child, found) for child in node.children]
    return found
