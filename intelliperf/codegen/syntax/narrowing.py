"""Variables in the style of C, declared apart from their first value, as if declared where they get it.

`int i; for (i = 0; i < n; i++) …` says what `for (int i = 0; i < n; i++) …` says, where nothing but the loop names
`i`; so does `int t; t = threadIdx.x; …` where the rest of the block alone names `t`. The tree then holds the second
form, and `moved` tells that the text does not. A variable of several such stretches becomes one in each, and so does a
pointer that its block sets again after its declaration. Nothing is changed where a stretch may see a value from before
it, or be entered past its beginning.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from intelliperf.codegen.syntax.tree import Node

_MOVED = "moved"
_WITH_A_MEANING = ("SwitchStmt", "StmtExpr")  # what stands first or last in the block of one is not just a statement
_JUMPS = frozenset(("LabelStmt", "GotoStmt", "IndirectGotoStmt", "GCCAsmStmt", "CXXTryStmt"))


def narrow(root: Node) -> None:
    """Rewrite every function below `root`."""
    for function in [node for node in root.walk() if node.kind in ("FunctionDecl", "CXXMethodDecl")]:
        if not any(node.kind in _JUMPS for node in function.everything()):
            _narrow_function(function)


def is_moved(declaration: Node) -> bool:
    """Does the text declare the variable elsewhere, and assign to it here?"""
    return _MOVED in declaration.flags


def written_type(declaration: Node) -> str:
    """The type of a moved variable in words that hold in its scope, also in all instantiations of a template."""
    template = any(parent.kind == "FunctionTemplateDecl" for parent in declaration.ancestors())
    return f"decltype({declaration.name})" if template else declaration.type


def _narrow_function(function: Node) -> None:
    uses: dict[str, list[Node]] = {}
    for node in function.everything():
        if node.kind == "DeclRefExpr" and node.reference is not None:
            uses.setdefault(node.reference.id, []).append(node)
    for declared in [node for node in function.walk() if _is_plain(node)]:
        stretches = _stretches(uses.get(declared.id, []))
        for number, (assignment, members) in enumerate(stretches or ()):
            _declare(declared, f"{declared.id}@{number}" if number else declared.id, assignment, members)
        if stretches and declared.parent is not None:
            siblings = declared.parent.children
            siblings[siblings.index(declared)] = Node("Empty", parent=declared.parent)

    for declared in [node for node in function.walk() if _is_pointer_with_value(node)]:
        for number, (assignment, members) in enumerate(_set_again(declared, uses.get(declared.id, []))):
            _declare(declared, f"{declared.id}@again{number}", assignment, members)


def _is_pointer_with_value(node: Node) -> bool:
    block = node.parent.parent if node.parent is not None and node.parent.kind == "DeclStmt" else None
    plain = node.kind == "VarDecl" and bool(node.children) and node.storage in ("", "register")
    return plain and block is not None and block.kind == "CompoundStmt" and node.canonical.endswith("*")


def _set_again(declared: Node, uses: list[Node]) -> list[tuple[Node, list[Node]]]:
    """The block's own assignments to the pointer, each with the uses from there on; none where others may change it."""
    block = declared.parent.parent if declared.parent is not None else None
    assert block is not None
    if block.parent is not None and block.parent.kind in _WITH_A_MEANING or any(map(_is_entered, block.children)):
        return []
    if not all(map(_is_seen, uses)):
        return []
    found: list[tuple[Node, list[Node]]] = []
    for use in uses:
        assignment = _beginning(use)
        if assignment is not None and assignment.parent is block:
            inside = _ids(assignment.children[1])
            if any(id(other) in inside for other in uses):
                return []
            found.append((assignment, [use]))
        elif found:
            found[-1][1].append(use)
    return found


def _is_seen(use: Node) -> bool:
    """Is it read, or changed by its name? Not by reference or address."""
    parent, user = use.parent, use.user()
    if any(up.kind == "LambdaExpr" for up in use.ancestors()) or parent is None or user is None:
        return False
    if parent.kind == "ImplicitCastExpr" and parent.cast == "LValueToRValue":
        return True
    changed = user.kind in ("BinaryOperator", "CompoundAssignOperator") and user.opcode.endswith("=")
    return user.opcode in ("++", "--") or (changed and user.children[0].bare() is use)


def _is_plain(node: Node) -> bool:
    """A local variable of one number or pointer, without a value."""
    plain = node.kind == "VarDecl" and not node.children and node.storage in ("", "register")
    of_block = node.parent is not None and node.parent.kind == "DeclStmt"
    simple = not node.canonical.endswith(("]", "&")) and "volatile" not in node.canonical
    return plain and of_block and simple and not is_moved(node)


def _stretches(uses: list[Node]) -> list[tuple[Node, list[Node]]] | None:
    """The assignments that begin one, each with the other uses in it. None where a use lies outside of all."""
    found: list[tuple[Node, list[Node]]] = []
    within: set[int] = set()
    for use in uses:
        if any(parent.kind == "LambdaExpr" for parent in use.ancestors()):
            return None
        if id(use) in within:
            found[-1][1].append(use)
            continue
        assignment = _beginning(use)
        if assignment is None:
            return None
        scope = list(_scope(assignment))
        if any(_is_entered(statement) for statement in scope):
            return None
        within = {id(node) for statement in scope for node in statement.everything()}
        found.append((assignment, [use]))
        if any(other is not use and id(other) in _ids(assignment.children[1]) for other in uses):
            return None  # the first value is made of what was there before
    return found


def _is_entered(statement: Node) -> bool:
    """Does it hold a `case` of a `switch` around it?"""
    if statement.kind == "SwitchStmt":
        return False
    return statement.kind in ("CaseStmt", "DefaultStmt") or any(map(_is_entered, statement.children))


def _ids(node: Node) -> set[int]:
    return {id(part) for part in node.everything()}


def _beginning(use: Node) -> Node | None:
    """The assignment to it that is a statement of a block, or the first part of a `for`."""
    node = use.user()
    if node is None or node.kind != "BinaryOperator" or node.opcode != "=" or node.children[0].bare() is not use:
        return None
    parent = node.parent
    if parent is None:
        return None
    block = parent.kind == "CompoundStmt" and (parent.parent is None or parent.parent.kind not in _WITH_A_MEANING)
    return node if block or (parent.kind == "ForStmt" and parent.children[0] is node) else None


def _scope(assignment: Node) -> Iterator[Node]:
    """What a declaration in the place of the assignment would be seen by."""
    parent = assignment.parent
    assert parent is not None
    if parent.kind == "ForStmt":
        yield parent
    else:
        at = next(number for number, child in enumerate(parent.children) if child is assignment)
        yield from parent.children[at:]


def _declare(declared: Node, identity: str, assignment: Node, uses: list[Node]) -> None:
    """Put a declaration in the place of the assignment, and let the uses name it."""
    parent, value = assignment.parent, assignment.children[1]
    assert parent is not None
    statement = Node("DeclStmt", begin=assignment.begin, end=assignment.end, parent=parent)
    made = dataclasses.replace(
        declared, id=identity, begin=assignment.begin, end=assignment.end, place=assignment.begin,
        parent=statement, children=[value], flags=declared.flags | {_MOVED},
    )  # fmt: skip
    statement.children, value.parent = [made], made
    at = next(number for number, child in enumerate(parent.children) if child is assignment)
    parent.children[at] = statement
    for use in uses:
        if use.reference is not None:
            use.reference = dataclasses.replace(use.reference, id=identity)
