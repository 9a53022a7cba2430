"""Compile-time limits of indices: proof that an expression lies in 0 … limit - 1."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from intelliperf.codegen.rules.constants import outside_constant
from intelliperf.codegen.rules.lanes import Lane, Launch, initializer, written
from intelliperf.codegen.rules.problem import NotApplicable, Problem, body, resolved_functions
from intelliperf.codegen.rules.statements import callee_name
from intelliperf.codegen.syntax import outline
from intelliperf.codegen.syntax.tree import Node

_RANGES = {
    "bool": 2,
    "unsigned char": 1 << 8,
    "unsigned short": 1 << 16,
    "unsigned int": 1 << 32,
    "unsigned long": 1 << 64,
    "unsigned long long": 1 << 64,
}
_SIGNED = {
    "char": 1 << 7,
    "signed char": 1 << 7,
    "short": 1 << 15,
    "int": 1 << 31,
    "long": 1 << 63,
    "long long": 1 << 63,
}
_CASTS = ("CStyleCastExpr", "CXXStaticCastExpr", "CXXFunctionalCastExpr", "ImplicitCastExpr")
_DEPTH = 12  # of calls and variables that are followed


class Bounds:
    """Limits in one function, with what the project's functions return."""

    def __init__(self, problem: Problem, function: Node, depth: int = 0) -> None:
        self._problem = problem
        self._depth = depth
        self._constant: Callable[[str], int | None] = outside_constant(problem)
        self._modified = {identity for node in function.everything() if (identity := written(node)) is not None}
        self._declared = {node.id: node for node in function.everything() if node.kind == "VarDecl"}

    def limit(self, expression: Node) -> int | None:
        """The smallest known n with 0 <= expression < n in every execution, or None."""
        if self._depth > _DEPTH:
            return None
        self._depth += 1
        found = [limit for limit in (self._by_form(expression), _by_type(expression)) if limit is not None]
        self._depth -= 1
        return min(found, default=None)

    def _by_form(self, node: Node) -> int | None:
        if node.kind in _CASTS:
            inner = self.limit(next(child for child in node.children if child.category))
            widest = _RANGES.get(_plain(node), _SIGNED.get(_plain(node), 0))
            integral = node.cast not in ("FloatingToIntegral", "IntegralToFloating", "FloatingCast")
            return inner if inner is not None and inner <= widest and integral else None
        if node.kind in ("ParenExpr", "ExprWithCleanups", "MaterializeTemporaryExpr"):
            return self.limit(node.children[0])
        if (value := self.value(node)) is not None:
            return value + 1 if value >= 0 else None
        if node.kind == "BinaryOperator":
            return self._by_operator(node)
        if node.kind == "ConditionalOperator":
            sides = [self.limit(child) for child in node.children[1:]]
            return None if None in sides else max(side for side in sides if side is not None)
        if node.kind == "DeclRefExpr":
            return self._by_name(node)
        if node.kind == "CallExpr" and callee_name(node) in ("min", "umin") and len(node.children) == 3:
            known = [limit for child in node.children[1:] if (limit := self.limit(child)) is not None]
            return min(known, default=None) if all(map(self.from_zero, node.children[1:])) else None
        if node.kind in ("CallExpr", "CXXOperatorCallExpr"):
            return self._by_call(node)
        return None

    def from_zero(self, expression: Node) -> bool:
        """Is it known not to be negative?"""
        node = expression.bare()
        while node.kind in _CASTS and _plain(node) == _plain(node.children[-1].bare()):
            node = node.children[-1].bare()
        if node.kind == "CallExpr" and callee_name(node) in ("max", "umax") and len(node.children) == 3:
            return any(map(self.from_zero, node.children[1:]))
        return self.limit(node) is not None

    def _by_operator(self, node: Node) -> int | None:
        left, right = node.children
        if node.opcode == "&":
            masks = [value for value in (self.value(left), self.value(right)) if value is not None and value >= 0]
            limits = [limit for limit in (self.limit(left), self.limit(right)) if limit is not None]
            return min([mask + 1 for mask in masks] + limits, default=None)
        if node.opcode == "-":
            return self._difference(node)
        a, b = self.limit(left), self.limit(right)
        amount = self.value(right)
        if a is None:
            return None
        if node.opcode == "%" and amount is not None and amount > 0:
            return min(a, amount)
        if node.opcode == "/" and amount is not None and amount > 0:
            return (a - 1) // amount + 1
        if node.opcode == ">>" and amount is not None and 0 <= amount < 64:
            return ((a - 1) >> amount) + 1
        widest = _RANGES.get(_plain(node), _SIGNED.get(_plain(node), 0))
        total = None if b is None else a + b - 1 if node.opcode == "+" else (a - 1) * (b - 1) + 1
        return total if node.opcode in ("+", "*") and total is not None and total <= widest else None

    def _by_name(self, node: Node) -> int | None:
        reference = node.reference
        if reference is None or reference.id in self._modified:
            return None
        declared = self._declared.get(reference.id)
        initial = initializer(declared) if declared is not None else None
        limits = [] if initial is None else [self.limit(initial)]
        limits += [self._by_guard(node, reference.id)]
        return min((limit for limit in limits if limit is not None), default=None)

    def _by_guard(self, node: Node, identity: str) -> int | None:
        lowest, below = self._span(node, identity)
        return below if lowest is not None and lowest >= 0 else None

    def _difference(self, node: Node) -> int | None:
        """`c - 'a'` where conditions around it keep c from 'a' on and below something."""
        variable, amount = node.children[0].bare(), self.value(node.children[1])
        reference = variable.reference if variable.kind == "DeclRefExpr" else None
        if reference is None or reference.id in self._modified or amount is None:
            return None
        lowest, below = self._span(variable, reference.id)
        return below - amount if lowest is not None and below is not None and lowest >= amount else None

    def _span(self, node: Node, identity: str) -> tuple[int | None, int | None]:
        """Least value and exclusive limit from the variable's type and the `if`s whose first branch holds `node`."""
        below = _RANGES.get(_plain(node))
        lowest = None if below is None else 0
        child = node
        for parent in node.ancestors():
            plain = not {"hasInit", "hasVar"} & parent.flags
            if parent.kind == "IfStmt" and plain and len(parent.children) > 1 and parent.children[1] is child:
                for test in conjuncts(parent.children[0]):
                    least, limit = self._tested(test, identity)
                    below = min((each for each in (below, limit) if each is not None), default=None)
                    lowest = max((each for each in (lowest, least) if each is not None), default=None)
            child = parent
        return lowest, below

    def _tested(self, test: Node, identity: str) -> tuple[int | None, int | None]:
        """(least value, exclusive limit) that a comparison says of the variable."""
        if test.kind != "BinaryOperator" or test.opcode not in ("<", "<=", ">=", ">"):
            return None, None
        left, right = (child.bare() for child in test.children)
        opcode = test.opcode
        if right.reference is not None and right.reference.id == identity:
            left, right = right, left
            opcode = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}[opcode]
        value = self.value(right)
        if left.reference is None or left.reference.id != identity or value is None:
            return None, None
        if opcode in ("<", "<="):
            return None, value + (opcode == "<=")
        return value + (opcode == ">"), None

    def _by_call(self, call: Node) -> int | None:
        if call.kind == "CXXOperatorCallExpr":
            owner = re.sub(r"\b(?:const|struct|class) ", "", call.children[1].bare().canonical).split("<")[0]
            name, function = owner.split("::")[-1].strip(" &"), "operator()"
            operator = call.children[0].bare()
            if operator.reference is None or operator.reference.name != function:
                return None
        else:
            name = function = callee_name(call)
        limits = list(self._returned(name, function)) if name else []
        return None if not limits or None in limits else max(limit for limit in limits if limit is not None)

    def _returned(self, name: str, function: str) -> Iterator[int | None]:
        """Limits of what all definitions of a function of the project return."""
        for path, text in self._problem.task.sources.items():
            if not re.search(rf"\b{re.escape(name)}\b", text) or not any(
                region.name == function for region in outline.functions(text)
            ):
                continue
            try:
                roots = self._problem.declarations(path, name)
            except NotApplicable:
                yield None
                return
            for root in roots:
                for found in resolved_functions(root):
                    if found.name == function:
                        yield self._least(found)

    def _least(self, function: Node) -> int | None:
        inner = Bounds(self._problem, function, self._depth)
        returns = [node.children[0] for node in body(function).walk() if node.kind == "ReturnStmt" and node.children]
        limits = [inner.limit(value) for value in returns]
        return None if not limits or None in limits else max(limit for limit in limits if limit is not None)

    def value(self, expression: Node) -> int | None:
        """Of a compile-time constant."""
        for node in expression.walk():
            if node.kind == "Coordinate" or "Call" in node.kind:
                return None
            if node.kind == "DeclRefExpr" and (node.reference is None or not node.canonical.startswith("const ")):
                return None
            if node.kind == "DeclRefExpr" and node.reference is not None and node.reference.id in self._declared:
                initial = initializer(self._declared[node.reference.id])
                alone = expression.bare() is node
                return self.value(initial) if initial is not None and alone else None
        launch = Launch((1, 1, 1), (1, 1, 1), self._constant)
        return Lane(launch, (0, 0, 0), frozenset()).value(expression)


def _plain(node: Node) -> str:
    return re.sub(r"\b(?:const|volatile) ", "", node.canonical)


def _by_type(node: Node) -> int | None:
    return _RANGES.get(_plain(node)) if node.category else None


def conjuncts(condition: Node) -> Iterator[Node]:
    """The parts of a condition that all have to hold."""
    node = condition.bare()
    if node.kind == "BinaryOperator" and node.opcode == "&&":
        for child in node.children:
            yield from conjuncts(child)
    else:
        yield node
