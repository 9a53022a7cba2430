"""Which values and which control flow are the same for all threads of a block.

Conservative: loads, calls, anything derived from `threadIdx`, variables whose address is taken
and variables written under divergent control count as varying.
"""

from __future__ import annotations

from collections.abc import Iterator

from intelliperf.codegen.rules.lanes import initializer, written
from intelliperf.codegen.syntax.tree import Node

LOOPS = ("ForStmt", "WhileStmt", "DoStmt", "CXXForRangeStmt")
EXITS = ("ReturnStmt", "BreakStmt", "ContinueStmt", "GotoStmt", "IndirectGotoStmt", "CXXThrowExpr")
_LOADS = ("ArraySubscriptExpr", "CXXThisExpr", "LambdaExpr")
_SIMPLE = frozenset(
    (
        "IntegerLiteral", "FloatingLiteral", "CharacterLiteral", "CXXBoolLiteralExpr", "CXXNullPtrLiteralExpr",
        "GNUNullExpr", "DeclRefExpr", "Coordinate", "BinaryOperator", "UnaryOperator", "ConditionalOperator",
        "ImplicitCastExpr", "CStyleCastExpr", "CXXStaticCastExpr", "CXXFunctionalCastExpr", "CXXReinterpretCastExpr",
        "ParenExpr", "MemberExpr", "UnaryExprOrTypeTraitExpr", "SubstNonTypeTemplateParmExpr", "ConstantExpr",
        "ExprWithCleanups", "ArraySubscriptExpr", "CXXConstCastExpr", "BuiltinType",
    )
)  # fmt: skip


def condition(statement: Node) -> list[Node]:
    """The expressions that decide how often, or whether, the parts of a statement run."""
    leading = sum(flag in statement.flags for flag in ("hasInit", "hasVar"))
    if statement.kind in ("IfStmt", "WhileStmt", "SwitchStmt"):
        return [child for child in statement.children[: leading + 1] if child.category]
    if statement.kind == "ForStmt":
        return [child for child in statement.children[1:3] if child.category]
    if statement.kind == "DoStmt":
        return [statement.children[1]]
    if statement.kind == "ConditionalOperator":
        return [statement.children[0]]
    if statement.kind == "BinaryOperator" and statement.opcode in ("&&", "||"):
        return [statement.children[0]]
    return []


def exits(node: Node) -> Iterator[Node]:
    """Jumps out of the usual order below `node`; those of lambdas end only the lambda."""
    for child in node.children:
        if child.kind in EXITS:
            yield child
        elif child.kind != "LambdaExpr":
            yield from exits(child)


class Uniformity:
    """The analysis of one kernel."""

    def __init__(self, function: Node) -> None:
        self._function = function
        self._locals = {node.id: node for node in function.everything() if node.kind in ("VarDecl", "ParmVarDecl")}
        self._writes = [(identity, node) for node in function.everything() if (identity := written(node)) is not None]
        self._varying: set[str] = set()
        while self._grow():
            pass

    def _grow(self) -> bool:
        before = len(self._varying)
        for identity, declaration in self._locals.items():
            initial = initializer(declaration) if declaration.kind == "VarDecl" else None
            opaque = declaration.canonical.endswith("&") or any(
                node.kind == "LambdaExpr" for node in declaration.ancestors()
            )
            shared = any(child.kind == "CUDASharedAttr" for child in declaration.children)
            if shared or opaque or (initial is not None and self.varying(initial)):
                self._varying.add(identity)
        for identity, write in self._writes:
            plain = write.kind in ("BinaryOperator", "CompoundAssignOperator", "UnaryOperator") and write.opcode != "&"
            if not plain or self.divergent(write) or any(self.varying(child) for child in write.children):
                self._varying.add(identity)
        return len(self._varying) > before

    def varying(self, expression: Node) -> bool:
        """May the value differ between threads of a block?"""
        node = expression.bare()
        if node.kind == "UnaryOperator" and node.opcode == "&":
            return self._varying_place(node.children[0])
        if node.kind == "Coordinate":
            return node.name.startswith("threadIdx")
        if node.kind == "DeclRefExpr":
            return self._varying_name(node)
        if node.kind == "UnaryOperator" and node.opcode == "*":
            return True
        if node.kind == "MemberExpr":
            return "isArrow" in node.flags or any(self.varying(child) for child in node.children)
        if node.kind not in _SIMPLE or node.kind in _LOADS:
            return node.kind != "Empty"
        return any(self.varying(child) for child in node.children if child.kind != "BuiltinType")

    def _varying_name(self, node: Node) -> bool:
        reference = node.reference
        if reference is None:
            return True
        if reference.id in self._locals:
            return reference.id in self._varying
        constant = reference.type.startswith("const ") or reference.kind == "EnumConstantDecl"
        return not constant and not (node.canonical.startswith("const ") or reference.kind == "NonTypeTemplateParmDecl")

    def _varying_place(self, expression: Node) -> bool:
        """May the address of an lvalue differ? Nothing is loaded at its last step."""
        node = expression.bare()
        if node.kind == "ArraySubscriptExpr":
            base, *index = node.children
            return any(self.varying(child) for child in (index if self._is_lds_array(base) else node.children))
        if node.kind == "DeclRefExpr":
            return False
        if node.kind == "UnaryOperator" and node.opcode == "*":
            return self.varying(node.children[0])
        if node.kind == "MemberExpr" and node.children:
            through = "isArrow" in node.flags
            return self.varying(node.children[0]) if through else self._varying_place(node.children[0])
        return True

    def _is_lds_array(self, expression: Node) -> bool:
        """An array of the block's own, which is in one place for all of its threads."""
        node = expression.bare()
        declared = self._locals.get(node.reference.id) if node.kind == "DeclRefExpr" and node.reference else None
        return (
            declared is not None
            and declared.canonical.endswith("]")
            and any(child.kind == "CUDASharedAttr" for child in declared.children)
        )

    def divergent(self, node: Node, within: Node | None = None) -> bool:
        """May threads of a block disagree on whether, or how often, `node` runs (inside `within`)?"""
        stop = within or self._function
        for parent in node.ancestors():
            if parent is stop:
                return False
            if parent.kind == "LambdaExpr" or any(self.varying(part) for part in condition(parent)):
                return True
            if parent.kind == "CXXForRangeStmt" or (parent.kind in LOOPS and self._leaves_unevenly(parent)):
                return True
        return False

    def _leaves_unevenly(self, loop: Node) -> bool:
        return any(
            any(self.varying(part) for parent in jump.ancestors() if _below(parent, loop) for part in condition(parent))
            for jump in exits(loop)
        )

    def divergent_exits(self, before: int) -> list[Node]:
        """Returns that only some threads take and that start before byte `before`."""
        return [
            jump
            for jump in exits(self._function)
            if jump.kind not in ("BreakStmt", "ContinueStmt") and jump.start_offset < before and self.divergent(jump)
        ]


def _below(node: Node, top: Node) -> bool:
    return node is not top and any(parent is top for parent in node.ancestors())
