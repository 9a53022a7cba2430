"""Questions about expressions and statements that several rules ask."""

from __future__ import annotations

from collections.abc import Iterator

from intelliperf.codegen.syntax.source import Source
from intelliperf.codegen.syntax.tree import Node

# Children of a statement whose value the statement reads, by position; None: by counting flags.
_BODIES = ("CompoundStmt", "CaseStmt", "DefaultStmt", "LabelStmt", "AttributedStmt")


def _reads_child(statement: Node, position: int) -> bool:
    """Does this control statement use the value of its child at `position`?"""
    leading = sum(flag in statement.flags for flag in ("hasInit", "hasVar"))
    if statement.kind in ("IfStmt", "WhileStmt", "SwitchStmt"):
        return position == leading
    if statement.kind == "ForStmt":
        return position == 2
    if statement.kind == "DoStmt":
        return position == 1
    return statement.kind != "CXXForRangeStmt"


def value_used(expression: Node) -> bool:
    """Is the expression's value read? A discarded value makes an atomic a reduction."""
    child, parent = expression, expression.parent
    while parent is not None:
        if parent.kind in _BODIES:
            return False
        if parent.kind.endswith("Stmt"):
            return _reads_child(parent, parent.children.index(child))
        if parent.kind == "CStyleCastExpr" and parent.canonical == "void":
            return False
        comma = parent.kind == "BinaryOperator" and parent.opcode == ","
        if comma and parent.children[0] is child:
            return False
        if not comma and parent.kind not in ("ParenExpr", "ExprWithCleanups"):
            return True
        child, parent = parent, parent.parent
    return True


def callee(call: Node) -> Node | None:
    """The expression that names the called function, or None for an indirect call."""
    if call.kind != "CallExpr" or not call.children:
        return None
    target = call.children[0].bare()
    return target if target.kind == "DeclRefExpr" and target.reference is not None else None


def callee_name(call: Node) -> str:
    target = callee(call)
    return target.reference.name if target is not None and target.reference is not None else ""


def calls(function: Node, names: frozenset[str]) -> Iterator[Node]:
    """Calls of the named functions, those in closures included."""
    for node in function.everything():
        if node.kind == "CallExpr" and callee_name(node) in names:
            yield node


def pointee(type_name: str) -> str | None:
    """ "float" for "float *", "float *const" or "float *__restrict"; None for anything else."""
    text = type_name
    for qualifier in ("__restrict__", "__restrict", "const"):
        while text.endswith(qualifier):
            text = text[: -len(qualifier)].rstrip()
    return text[:-1].rstrip() if text.endswith("*") else None


def is_replaceable(source: Source, expression: Node) -> bool:
    """Is there a piece of text that is this expression and nothing else? Not where a macro takes arguments."""
    if not expression.in_macro:
        return True
    behind = source.code(expression.end_offset, expression.end_offset + 80).lstrip()
    return expression.is_whole_macro and not behind.startswith("(")


def is_spelled_out(source: Source, value: Node) -> bool:
    """As `is_replaceable`, of a variable's whole first value, whose last word may be a macro without arguments."""
    if value.begin is None or value.end is None or value.begin.macro or value.end.argument:
        return is_replaceable(source, value)
    return not value.in_macro or source.code(value.end_offset, value.end_offset + 80).lstrip()[:1] in (";", ",")


def is_constant(expression: Node) -> bool:
    """A compile-time constant: a literal, an enumerator, or arithmetic on such."""
    node = expression.bare()
    if node.kind in ("IntegerLiteral", "FloatingLiteral", "CharacterLiteral", "CXXBoolLiteralExpr"):
        return True
    if node.kind == "DeclRefExpr":
        return node.reference is not None and node.reference.kind == "EnumConstantDecl"
    if node.kind in ("UnaryOperator", "BinaryOperator", "CStyleCastExpr", "CXXStaticCastExpr", "CXXFunctionalCastExpr"):
        if node.opcode in ("++", "--", "&", "*") and node.kind == "UnaryOperator":
            return False
        parts = [child for child in node.children if child.category]
        return bool(parts) and not node.opcode.endswith("=") and all(is_constant(child) for child in parts)
    return False
