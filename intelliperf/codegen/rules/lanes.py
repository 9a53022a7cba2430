"""What the lanes of one wave compute: integer expressions evaluated lane by lane.

Used to count LDS bank conflicts of an access before and after a change of layout. It chooses
among rewrites that are right anyway, so an expression that it cannot follow (`Unknown`) costs
a chance and never correctness.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from intelliperf.codegen.syntax.tree import Node

BANK_BYTES = 4
MAX_ITERATIONS = 12


class Unknown(Exception):
    """The value depends on something that only a run can tell."""


def _divide(a: int, b: int) -> int:
    if b == 0:
        raise Unknown("division by zero")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _shift(shift: Callable[[int, int], int]) -> Callable[[int, int], int]:
    def checked(a: int, b: int) -> int:
        if not 0 <= b < 64:
            raise Unknown("shift out of range")
        return shift(a, b)

    return checked


_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "%": lambda a, b: a - b * _divide(a, b),
    "<<": _shift(operator.lshift),
    ">>": _shift(operator.rshift),
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
}
_UNARY: dict[str, Callable[[int], int]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
    "!": lambda a: int(not a),
}
_CASTS = ("ImplicitCastExpr", "CStyleCastExpr", "CXXStaticCastExpr", "CXXFunctionalCastExpr")
_INTEGERS = frozenset(
    f"{sign}{size}".strip()
    for sign in ("", "unsigned ", "signed ")
    for size in ("int", "long", "long long", "short", "char")
) | {"bool"}
_STEPS = {"++": ("+", 1), "--": ("-", 1)}


@dataclass(frozen=True)
class Lane:
    thread: tuple[int, int, int]
    iteration: int  # of the innermost loops around the access


@dataclass
class Evaluator:
    """Evaluates expressions of one function for the lanes of a wave of the given launch."""

    function: Node
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    constant: Callable[[str], int | None]  # of a name declared outside the function
    extent: int | None = None  # stands for integer parameters; None: they are unknown
    _variables: dict[str, Node] = field(default_factory=dict)
    _writes: dict[str, list[Node]] = field(default_factory=dict)
    _current: dict[str, int] = field(default_factory=dict)  # of variables in the middle of a step

    def __post_init__(self) -> None:
        for node in self.function.walk():
            if node.kind == "VarDecl":
                self._variables[node.id] = node
            target = written(node)
            if target is not None:
                self._writes.setdefault(target, []).append(node)

    def lanes(self, wave_size: int, iteration: int) -> list[Lane]:
        """The first wave of a block."""
        width, height, _ = self.block
        threads = min(wave_size, self.block[0] * self.block[1] * self.block[2])
        return [Lane((i % width, i // width % height, i // (width * height)), iteration) for i in range(threads)]

    def active(self, access: Node, lane: Lane) -> bool:
        """Do the conditions around `access` let the lane in? Unknown ones do."""
        child = access
        for parent in access.ancestors():
            if parent is self.function:
                break
            if parent.kind in ("IfStmt", "ForStmt", "WhileStmt") and not self._admits(parent, child, lane):
                return False
            child = parent
        return True

    def _admits(self, statement: Node, child: Node, lane: Lane) -> bool:
        position = next(i for i, part in enumerate(statement.children) if part is child)
        at = 2 if statement.kind == "ForStmt" else sum(f in statement.flags for f in ("hasInit", "hasVar"))
        if position <= at or statement.children[at].kind == "Empty":
            return True
        try:
            holds = self.value(statement.children[at], lane) != 0
        except Unknown:
            return True
        otherwise = statement.kind == "IfStmt" and position == at + 2
        return holds != otherwise

    def value(self, expression: Node, lane: Lane) -> int:
        node = expression.bare()
        if node.kind in ("IntegerLiteral", "CharacterLiteral"):
            return int(node.value)
        if node.kind == "CXXBoolLiteralExpr":
            return int(node.value in ("True", "true"))
        if node.kind == "Coordinate":
            return self._coordinate(node.name, lane)
        if node.kind == "DeclRefExpr":
            return self._variable(node, lane)
        if node.kind in _CASTS and node.children:
            return self._cast(node, self.value(node.children[-1], lane))
        if node.kind == "BinaryOperator":
            return self._binary(node, lane)
        if node.kind == "UnaryOperator" and node.opcode in _UNARY:
            return _UNARY[node.opcode](self.value(node.children[0], lane))
        if node.kind == "ConditionalOperator":
            chosen = 1 if self.value(node.children[0], lane) else 2
            return self.value(node.children[chosen], lane)
        raise Unknown(node.kind)

    def _cast(self, node: Node, value: int) -> int:
        if node.canonical not in _INTEGERS:
            raise Unknown(node.canonical)
        return value

    def _binary(self, node: Node, lane: Lane) -> int:
        left = self.value(node.children[0], lane)
        if node.opcode == "&&":
            return int(bool(left) and bool(self.value(node.children[1], lane)))
        if node.opcode == "||":
            return int(bool(left) or bool(self.value(node.children[1], lane)))
        if node.opcode not in _BINARY:
            raise Unknown(node.opcode)
        return _BINARY[node.opcode](left, self.value(node.children[1], lane))

    def _coordinate(self, name: str, lane: Lane) -> int:
        axis = "xyz".index(name[-1])
        if name.startswith("threadIdx"):
            return lane.thread[axis]
        if name.startswith("blockDim"):
            return self.block[axis]
        return self.grid[axis] if name.startswith("gridDim") else 0

    def _variable(self, node: Node, lane: Lane) -> int:
        reference = node.reference
        if reference is None:
            raise Unknown(node.kind)
        if reference.id in self._current:
            return self._current[reference.id]
        declaration = self._variables.get(reference.id)
        if declaration is None and reference.kind == "ParmVarDecl" and self.extent is not None:
            if node.canonical.removeprefix("const ") not in _INTEGERS:
                raise Unknown(reference.name)
            return self.extent
        if declaration is None:
            value = self.constant(reference.name) if reference.kind == "VarDecl" else None
            if value is None:
                raise Unknown(reference.name)
            return value
        initial = initializer(declaration)
        writes = self._writes.get(reference.id, [])
        if initial is None or len(writes) > 1:
            raise Unknown(reference.name)
        value = self.value(initial, lane)
        if writes:
            for _ in range(lane.iteration):
                value = self._stepped(reference.id, value, writes[0], lane)
        return value

    def _stepped(self, variable: str, value: int, write: Node, lane: Lane) -> int:
        """The variable's value after one more turn of the loop that modifies it."""
        if write.opcode in _STEPS:
            symbol, amount = _STEPS[write.opcode]
            return _BINARY[symbol](value, amount)
        if write.kind not in ("CompoundAssignOperator", "BinaryOperator"):
            raise Unknown("a variable's address is taken")
        self._current[variable] = value
        try:
            operand = self.value(write.children[1], Lane(lane.thread, 0))
        finally:
            del self._current[variable]
        if write.kind == "BinaryOperator":
            return operand
        if write.opcode[:-1] not in _BINARY:
            raise Unknown(write.opcode)
        return _BINARY[write.opcode[:-1]](value, operand)


def initializer(declaration: Node) -> Node | None:
    """The initial value of a variable, or None."""
    values = [child for child in declaration.children if child.category]
    return values[-1] if values else None


def written(node: Node) -> str | None:
    """Id of the variable that this expression modifies or lets out of sight, or None."""
    if node.kind in ("BinaryOperator", "CompoundAssignOperator") and node.opcode.endswith("="):
        if node.opcode in ("==", "!=", "<=", ">="):
            return None
        target = node.children[0].bare()
    elif node.kind == "UnaryOperator" and node.opcode in ("++", "--", "&"):
        target = node.children[0].bare()
    elif node.kind == "DeclRefExpr" and _bound(node):
        target = node
    else:
        return None
    return target.reference.id if target.kind == "DeclRefExpr" and target.reference is not None else None


def _bound(node: Node) -> bool:
    """Is a variable bound to a reference that could change it?"""
    user = node.parent
    while user is not None and user.kind == "ParenExpr":
        user = user.parent
    if user is None or node.category != "lvalue":
        return False
    if user.kind in ("CallExpr", "CXXMemberCallExpr", "CXXOperatorCallExpr", "CXXConstructExpr"):
        return node.reference is not None and node.reference.kind in ("VarDecl", "ParmVarDecl")
    return user.kind == "VarDecl" and user.canonical.endswith("&")


def phases(addresses: Sequence[int | None], element_bytes: int, banks: int) -> int:
    """Bank cycles that a wave needs for byte addresses, None for lanes that take no part.

    Lanes go in groups of 32 (up to 4 bytes), 16 (8 bytes) or 8 (16 bytes); in a group each
    bank serves one word per cycle, to any number of lanes.
    """
    group = 32 if element_bytes <= 4 else 16 if element_bytes <= 8 else 8
    total = 0
    for start in range(0, len(addresses), group):
        words: dict[int, set[int]] = {}
        for address in addresses[start : start + group]:
            if address is None:
                continue
            for word in range(address // BANK_BYTES, (address + max(element_bytes, 1) - 1) // BANK_BYTES + 1):
                words.setdefault(word % banks, set()).add(word)
        total += max((len(rows) for rows in words.values()), default=0)
    return total


def iterations(evaluator: Evaluator, access: Node, wave_size: int) -> Iterator[list[Lane]]:
    """The wave's lanes that reach `access`, for each turn of the loops around it."""
    looped = any(node.kind in ("ForStmt", "WhileStmt", "DoStmt") for node in access.ancestors())
    for iteration in range(MAX_ITERATIONS if looped else 1):
        lanes = [lane for lane in evaluator.lanes(wave_size, iteration) if evaluator.active(access, lane)]
        if lanes:
            yield lanes
