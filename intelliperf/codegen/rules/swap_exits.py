"""Loops that swap a value into memory as long as it is greater, or less, than what was last seen there.

`while (value > number(old)) { seen = old; old = atomicCAS(p, seen, bits(value)); if (old == seen) break; }`, and
`do { … if (number(seen) >= value) break; … } while (seen != old)`. Each variable of such a loop holds what was seen
before a turn, or what the swap has returned; the turn is followed with these two.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from intelliperf.codegen.rules.lanes import initializer
from intelliperf.codegen.rules.statements import callee_name
from intelliperf.codegen.rules.wave import Operation
from intelliperf.codegen.rules.wave_aggregate_atomics import FLOATS
from intelliperf.codegen.syntax.tree import Node

REINTERPRETED = re.compile(r"__(?:\w+_as_\w+|\w+2\w+_rn|bit_cast)|(?:std::)?bit_cast")
_CASTS = ("CStyleCastExpr", "CXXStaticCastExpr", "CXXReinterpretCastExpr", "CXXFunctionalCastExpr")
_SEEN, _RETURNED = "seen", "returned"
_OPPOSITE = {">": "<", "<": ">", ">=": "<=", "<=": ">="}


def plain(expression: Node) -> Node:
    """Without what only takes the same bits for another type."""
    node = expression.bare()
    while True:
        if node.kind == "CallExpr" and REINTERPRETED.fullmatch(callee_name(node)) and len(node.children) == 2:
            node = node.children[1].bare()
        elif node.kind in _CASTS and node.children:
            node = node.children[-1].bare()
        else:
            return node


def source_of(function: Node, address: Node) -> str:
    """The parameter that a pointer is a cast of."""
    node = plain(address)
    if node.reference is None:
        return ""
    declared = next((each for each in function.everything() if each.id == node.reference.id), None)
    initial = initializer(declared) if declared is not None and declared.kind == "VarDecl" else None
    found = plain(initial).reference if initial is not None else node.reference
    return found.id if found is not None else ""


def extreme_by_swaps(function: Node, swap: Node, parameters: Sequence[Node]) -> Operation | None:
    """What a call of `function(address, value)` does to memory, where it is such a loop and nothing else."""
    address, value = (one.id for one in parameters)
    inside = next(child for child in function.children if child.kind == "CompoundStmt")
    loops = [child for child in inside.children if child.kind in ("DoStmt", "WhileStmt")]
    others = [child for child in inside.children if child not in loops]
    if len(loops) != 1 or any(child.kind not in ("DeclStmt", "ReturnStmt", "NullStmt") for child in others):
        return None
    if any(child.kind == "ReturnStmt" and child is not inside.children[-1] for child in others):
        return None
    if any(node.kind == "CallExpr" and not _is_plain(node) for child in others for node in child.everything()):
        return None
    if plain(swap.children[3]).reference is None or source_of(function, swap.children[1]) != address:
        return None
    if _id(swap.children[3]) != value:
        return None
    start = _first_seen(function, others, address)
    turn = _Turn(swap, value, start)
    return turn.operation(loops[0], parameters[1].canonical.removeprefix("const ")) if start else None


def _is_plain(call: Node) -> bool:
    return REINTERPRETED.fullmatch(callee_name(call)) is not None


def _id(node: Node) -> str:
    reference = plain(node).reference
    return reference.id if reference is not None else ""


def _first_seen(function: Node, statements: list[Node], address: str) -> str:
    """The one variable that begins with what the address leads to; "" where there are others, or none."""
    found = []
    for node in (node for statement in statements for node in statement.everything() if node.kind == "VarDecl"):
        initial = initializer(node)
        if initial is None or _is_pointer(node):
            continue
        first = plain(initial)
        reads = first.kind == "UnaryOperator" and first.opcode == "*"
        if not reads or source_of(function, first.children[0]) != address:
            return ""
        found.append(node.id)
    return found[0] if len(found) == 1 else ""


def _is_pointer(node: Node) -> bool:
    return node.canonical.removesuffix("const").rstrip().endswith("*")


class _Turn:
    """One turn of the loop: what its variables hold, and how it has compared `value` with what was seen."""

    def __init__(self, swap: Node, value: str, start: str) -> None:
        self._swap, self._value, self._start = swap, value, start
        self._holds = {start: _SEEN}
        self._kept = ""  # the comparison of the value with what was seen by which it is swapped in
        self._nan_is_kept = self._swapped = False

    def operation(self, loop: Node, element: str) -> Operation | None:
        turn, condition = (
            (loop.children[0], loop.children[1]) if loop.kind == "DoStmt" else (loop.children[-1], loop.children[0])
        )
        if loop.kind == "WhileStmt" and (len(loop.children) != 2 or not self._compare(condition)):
            return None
        steps = turn.children if turn.kind == "CompoundStmt" else [turn]
        if not all(map(self._step, steps)) or not self._swapped or self._holds.get(self._start) != _RETURNED:
            return None
        if loop.kind == "DoStmt" and not self._succeeded(condition, "!="):
            return None
        return self._found(element)

    def _found(self, element: str) -> Operation:
        text = f"{{a}} {self._kept} {{b}} ? {{a}} : {{b}}"
        if element in FLOATS:
            text = f"{{a}} != {{a}} || {text}" if self._nan_is_kept else f"{{b}} != {{b}} || {text}"
        return Operation("Maximizes" if self._kept == ">" else "Minimizes", text, "")

    def _step(self, statement: Node) -> bool:
        if statement.kind == "NullStmt":
            return True
        if statement.kind == "IfStmt":
            return self._exit(statement)
        if statement.kind == "DeclStmt":
            target = statement.children[0] if len(statement.children) == 1 else None
            value = initializer(target) if target is not None and target.kind == "VarDecl" else None
            name = target.id if target is not None else ""
        else:
            assigned = statement.bare()
            if assigned.kind != "BinaryOperator" or assigned.opcode != "=":
                return False
            target, value = assigned.children[0].bare(), assigned.children[1]
            name = target.reference.id if target.kind == "DeclRefExpr" and target.reference is not None else ""
        if value is None or not name or name == self._value:
            return False
        return self._assign(name, plain(value))

    def _assign(self, name: str, value: Node) -> bool:
        if value is self._swap:
            if self._swapped or not self._kept or self._holds.get(_id(value.children[2])) != _SEEN:
                return False
            self._swapped, self._holds[name] = True, _RETURNED
            return True
        held = self._holds.get(_id(value)) if value.kind == "DeclRefExpr" else None
        if held is None:
            return False
        self._holds[name] = held
        return True

    def _exit(self, statement: Node) -> bool:
        """`if (…) break;`, of a swap that succeeded, or of a value that is not greater."""
        if len(statement.children) != 2:
            return False
        then = statement.children[1]
        last = then.children[0] if then.kind == "CompoundStmt" and len(then.children) == 1 else then
        if last.kind not in ("BreakStmt", "ReturnStmt") or any(n.kind == "CallExpr" for n in last.everything()):
            return False
        if self._swapped:
            return self._succeeded(statement.children[0], "==")
        return not self._kept and self._compare(statement.children[0], ends=True)

    def _succeeded(self, condition: Node, by: str) -> bool:
        test = condition.bare()
        held = {self._holds.get(_id(side)) for side in test.children} if test.opcode == by else set()
        return held == {_SEEN, _RETURNED}

    def _compare(self, condition: Node, ends: bool = False) -> bool:
        test = condition.bare()
        if test.kind != "BinaryOperator" or test.opcode not in _OPPOSITE:
            return False
        left, right = (_id(side) for side in test.children)
        if self._value not in (left, right) or self._holds.get(right if left == self._value else left) != _SEEN:
            return False
        opcode = test.opcode if left == self._value else _OPPOSITE[test.opcode]
        if not ends and opcode not in ("<", ">"):
            return False
        self._kept = ">" if (opcode[0] == ">") != ends else "<"
        self._nan_is_kept = ends
        return True
