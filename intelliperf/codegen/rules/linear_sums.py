"""Proof that a kernel adds to global memory nothing but sums of what its threads brought along.

`x[t] = mine; barrier; for (s = …) if (t < s) x[t] += x[t + s]; if (t == 0) atomicAdd(total, x[0])` adds a sum of the
values `mine`, each as often as the threads' numbers alone decide. So the sum of what two blocks add is what one block
adds whose threads bring along the sums of both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from intelliperf.codegen.rules.lanes import initializer
from intelliperf.codegen.rules.lds_arrays import array_of, is_shared
from intelliperf.codegen.rules.problem import NotApplicable, Place
from intelliperf.codegen.rules.statements import callee_name, pointee
from intelliperf.codegen.rules.uniformity import LOOPS
from intelliperf.codegen.rules.wave_aggregate_atomics import FLOATS, INTEGERS
from intelliperf.codegen.syntax.tree import Node

_EXCHANGES = re.compile(r"__shfl(?:_down|_up|_xor)?(?:_sync)?")
_MEETINGS = re.compile(r"__syncthreads|__syncwarp|__threadfence_block")
_CASTS = ("CStyleCastExpr", "CXXStaticCastExpr", "CXXFunctionalCastExpr", "ImplicitCastExpr")
_ADDED = ("atomicAdd", "unsafeAtomicAdd")


class LinearSums:
    """`brought`: ids of the variables and LDS arrays that hold what a thread brought along."""

    def __init__(self, place: Place, kernel: Node, brought: set[str]) -> None:
        self._place, self._kernel = place, kernel
        self._held = set(brought)
        self._declared = {node.id: node for node in kernel.everything() if node.kind == "VarDecl"}
        self._adds = 0
        self._follow()

    def check(self, statements: Sequence[Node]) -> None:
        """Raise `NotApplicable` where they do anything but add the values up and add the sums to memory."""
        for statement in statements:
            self._statement(statement)
        if not self._adds:
            raise NotApplicable(f"{self._place}: no atomic adds what the block's threads have to memory")

    def _follow(self) -> None:
        """What gets any of the values is held, too."""
        found = True
        while found:
            found = False
            for node in self._kernel.everything():
                target, value = None, None
                if node.kind == "VarDecl" and (initial := initializer(node)) is not None:
                    target, value = node.id, initial
                elif node.kind in ("BinaryOperator", "CompoundAssignOperator") and node.opcode in ("=", "+="):
                    root = array_of(node.children[0].bare())
                    target = root.reference.id if root.reference is not None else None
                    value = node.children[1]
                if target in self._declared and target not in self._held and value is not None and self._names(value):
                    self._held.add(str(target))
                    found = True

    def _names(self, expression: Node) -> bool:
        return any(node.reference is not None and node.reference.id in self._held for node in expression.everything())

    def _stop(self, node: Node, what: str) -> NotApplicable:
        return NotApplicable(f"{self._place}: line {node.line} {what}")

    def _statement(self, statement: Node) -> None:
        node = statement.bare()
        if node.kind in ("CompoundStmt", "AttributedStmt"):
            for child in node.children:
                if not child.kind.endswith("Attr"):
                    self._statement(child)
        elif node.kind == "DeclStmt":
            for declared in node.children:
                self._declaration(declared)
        elif node.kind == "IfStmt":
            self._free(node.children[0])
            for child in node.children[1:]:
                self._statement(child)
        elif node.kind in LOOPS and node.kind != "CXXForRangeStmt":
            self._loop(node)
        elif node.kind not in ("NullStmt", "Empty", "ReturnStmt", "BreakStmt", "ContinueStmt") or node.children:
            self._expression(node)

    def _loop(self, loop: Node) -> None:
        inside = loop.children[0] if loop.kind == "DoStmt" else loop.children[-1]
        for child in loop.children:
            if child is inside or child.kind == "DeclStmt":
                self._statement(child)
            elif child.kind != "Empty":
                self._free(child)

    def _declaration(self, declared: Node) -> None:
        initial = initializer(declared) if declared.kind == "VarDecl" else None
        if declared.kind != "VarDecl" or (initial is not None and declared.canonical.endswith("&")):
            raise self._stop(declared, "declares what is not followed")
        if initial is None:
            return
        if declared.id not in self._held:
            self._free(initial)
        elif pointee(declared.canonical) is not None:  # another name for the array
            root = array_of(initial.bare())
            if root.kind != "DeclRefExpr" or root is not initial.bare():
                raise self._stop(declared, "points into what the block's threads have")
        elif not is_zero(initial):
            self._linear(initial)

    def _free(self, expression: Node) -> None:
        """Raise `NotApplicable` unless it has nothing to do with the values, and no effect but on variables."""
        if self._names(expression):
            raise self._stop(expression, "depends on what the block's threads have")
        for node in expression.everything():
            if "Call" in node.kind or node.kind in ("LambdaExpr", "CXXNewExpr", "CXXDeleteExpr") or "Asm" in node.kind:
                raise self._stop(node, "calls something that is not followed")
            assigns = node.kind in ("BinaryOperator", "CompoundAssignOperator") and node.opcode.endswith("=")
            if assigns and node.opcode not in ("==", "!=", "<=", ">="):
                target = node.children[0].bare()
                if target.kind != "DeclRefExpr" or target.reference is None or self._in_memory(target):
                    raise self._stop(node, "stores to memory")

    def _in_memory(self, name: Node) -> bool:
        declared = self._declared.get(name.reference.id) if name.reference is not None else None
        return declared is None or is_shared(declared) or declared.canonical.endswith("&")

    def _expression(self, node: Node) -> None:
        name = callee_name(node)
        if _MEETINGS.fullmatch(name):
            return
        if name in _ADDED and len(node.children) == 3:
            address, value = node.children[1:]
            self._free(address)
            self._linear(value)
            self._adds += 1
            return
        if node.kind in ("BinaryOperator", "CompoundAssignOperator") and node.opcode in ("=", "+="):
            root = array_of(node.children[0].bare())
            if root.reference is not None and root.reference.id in self._held:
                self._element(node.children[0].bare())
                if not (node.opcode == "=" and is_zero(node.children[1])):
                    self._linear(node.children[1])
                return
            if self._names(node.children[1]):
                raise self._stop(node, "stores what the block's threads have elsewhere")
        self._free(node)

    def _element(self, place: Node) -> None:
        node = place
        while node.kind == "ArraySubscriptExpr":
            self._free(node.children[1])
            node = node.children[0].bare()
        if place.canonical.replace("volatile ", "") not in INTEGERS | FLOATS:
            raise self._stop(place, f"works on a {place.type}")

    def _linear(self, expression: Node) -> None:
        """Raise `NotApplicable` unless it is a sum of held values, or 0."""
        node = expression.bare()
        if node.kind in _CASTS and node.children:
            self._linear(node.children[-1])
        elif node.kind in ("DeclRefExpr", "ArraySubscriptExpr"):
            root = array_of(node)
            if root.reference is None or root.reference.id not in self._held:
                raise self._stop(expression, "adds what the block's threads did not bring along")
            self._element(node)
        elif node.kind == "BinaryOperator" and node.opcode == "+":
            for child in node.children:
                self._linear(child)
        elif node.kind == "ConditionalOperator":
            self._free(node.children[0])
            for child in node.children[1:]:
                if not is_zero(child):
                    self._linear(child)
        elif node.kind == "CallExpr" and _EXCHANGES.fullmatch(callee_name(node)):
            given = 2 if callee_name(node).endswith("_sync") else 1
            for at, argument in enumerate(node.children[1:], start=1):
                if at == given:
                    self._linear(argument)
                else:
                    self._free(argument)
        else:
            raise self._stop(expression, "does more with what the block's threads have than to add it up")
        self._check_kind(expression)

    def _check_kind(self, expression: Node) -> None:
        """Raise `NotApplicable` where a number is cut on the way: then a sum's part is not part of the sum."""
        node = expression
        while node.kind in (*_CASTS, "ParenExpr") and node.children:
            inner = node.children[-1]
            kinds = [each.canonical.replace("const ", "").replace("volatile ", "") for each in (node, inner)]
            if kinds[0] != kinds[1] and not (set(kinds) <= FLOATS) and not (set(kinds) <= INTEGERS):
                raise self._stop(expression, f"converts {kinds[1]} to {kinds[0]}")
            node = inner


def is_zero(value: Node) -> bool:
    node = value.bare()
    if node.kind in _CASTS and node.children:
        return is_zero(node.children[-1])
    return node.kind in ("IntegerLiteral", "FloatingLiteral") and float(node.value or "1") == 0
