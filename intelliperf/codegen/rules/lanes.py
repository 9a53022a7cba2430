"""What the lanes of one wave compute: a small interpreter of integer code over clang's tree.

Used to count bank cycles and memory sectors of accesses before and after a change of layout.
It chooses among rewrites that are right anyway: what it cannot follow is `None` and costs a
chance, never correctness. Loads, floats and calls are unknown; an unknown condition lets the
lane into the guarded code, unless that code leaves the function or loop.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from intelliperf.codegen.rules.statements import pointee
from intelliperf.codegen.syntax.tree import Node

BANK_BYTES = 4
# Stands for sizes and strides that are known at run time only: large, and a multiple of any block.
TYPICAL_EXTENT = 8192
MAX_TURNS = 24  # of one loop
MAX_STEPS = 4000  # statements per lane
Thread = tuple[int, int, int]
Value = int | None


class Flow(Enum):
    NEXT = "next"
    BREAK = "break"
    CONTINUE = "continue"
    RETURN = "return"


def _divide(a: int, b: int) -> Value:
    if b == 0:
        return None
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int, b: int) -> Value:
    quotient = _divide(a, b)
    return None if quotient is None else a - b * quotient


_BINARY: dict[str, Callable[[int, int], Value]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "%": _remainder,
    "<<": lambda a, b: a << b if 0 <= b < 64 else None,
    ">>": lambda a, b: a >> b if 0 <= b < 64 else None,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "||": lambda a, b: int(bool(a) or bool(b)),
    ",": lambda a, b: b,
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
_LITERALS: dict[str, Callable[[str], int]] = {
    "IntegerLiteral": int,
    "CharacterLiteral": int,
    "CXXBoolLiteralExpr": lambda text: int(text in ("True", "true")),
}
_JUMPS = {"BreakStmt": Flow.BREAK, "ContinueStmt": Flow.CONTINUE, "ReturnStmt": Flow.RETURN}


@dataclass(frozen=True)
class Launch:
    """`extent` stands for integer parameters, whose values only a run can tell; None: unknown."""

    block: Thread
    grid: Thread
    constant: Callable[[str], Value]  # of a name declared outside the function
    extent: int | None = None
    number: Thread = (0, 0, 0)  # of the block

    def threads(self, wave_size: int) -> list[Thread]:
        """The first wave of a block."""
        width, height, depth = self.block
        count = min(wave_size, width * height * depth)
        return [(i % width, i // width % height, i // (width * height)) for i in range(count)]


@dataclass
class Lane:
    """One thread's run through the function. `seen`: indices of each subscript, in order of execution."""

    launch: Launch
    thread: Thread
    escaped: frozenset[str]
    seen: list[tuple[Node, tuple[Value, ...]]] = field(default_factory=list)
    _variables: dict[str, Value] = field(default_factory=dict)
    _pointers: dict[str, tuple[Value, ...]] = field(default_factory=dict)  # indices of the element that each leads to
    _steps: int = 0

    # -- statements ---------------------------------------------------------------------------

    def run(self, statement: Node) -> Flow:
        self._steps += 1
        if self._steps > MAX_STEPS:
            return Flow.RETURN
        kind = statement.kind
        if kind in _JUMPS:
            for child in statement.children:
                self.value(child)
            return _JUMPS[kind]
        if kind == "IfStmt":
            return self._if(statement)
        if kind in ("ForStmt", "WhileStmt", "DoStmt"):
            return self._loop(statement)
        if kind == "DeclStmt":
            for declaration in statement.children:
                self._declare(declaration)
            return Flow.NEXT
        if kind.endswith("Stmt"):
            for child in statement.children:
                flow = self.run(child)
                if flow is not Flow.NEXT:
                    return Flow.NEXT if kind == "SwitchStmt" and flow is Flow.BREAK else flow
            return Flow.NEXT
        self.value(statement)
        return Flow.NEXT

    def _declare(self, declaration: Node) -> None:
        if declaration.kind == "VarDecl":
            initial = initializer(declaration)
            if initial is not None and pointee(declaration.canonical) is not None:
                if declaration.id not in self.escaped:
                    self._pointers[declaration.id] = self._element(initial)
                return
            value = self.value(initial) if initial is not None else None
            self._variables[declaration.id] = (
                value if declaration.canonical.removeprefix("const ") in _INTEGERS else None
            )

    def _if(self, statement: Node) -> Flow:
        at = sum(flag in statement.flags for flag in ("hasInit", "hasVar"))
        for child in statement.children[:at]:
            self.run(child)
        holds = self.value(statement.children[at])
        branches = statement.children[at + 1 :]
        if holds is None:
            if any(node.kind in _JUMPS for node in branches[0].walk()):
                return self.run(branches[1]) if len(branches) > 1 else Flow.NEXT
            self.run(branches[0])
            return Flow.NEXT
        chosen = branches[0] if holds else branches[1] if len(branches) > 1 else None
        return self.run(chosen) if chosen is not None else Flow.NEXT

    def _loop(self, statement: Node) -> Flow:
        condition, step, inside = self._loop_parts(statement)
        for turn in range(MAX_TURNS):
            tested = statement.kind != "DoStmt" or turn > 0
            holds = self.value(condition) if condition is not None and tested else 1
            if holds == 0 or (holds is None and turn > 0):
                break
            flow = self.run(inside)
            if flow in (Flow.BREAK, Flow.RETURN):
                return Flow.NEXT if flow is Flow.BREAK else flow
            if step is not None:
                self.value(step)
        return Flow.NEXT

    def _loop_parts(self, statement: Node) -> tuple[Node | None, Node | None, Node]:
        parts = statement.children
        if statement.kind == "ForStmt":
            if parts[0].kind != "Empty":
                self.run(parts[0])
            return (_present(parts[2]), _present(parts[3]), parts[4])
        if statement.kind == "DoStmt":
            return parts[1], None, parts[0]
        return parts[-2], None, parts[-1]

    # -- expressions --------------------------------------------------------------------------

    def value(self, expression: Node) -> Value:
        node = expression.bare()
        kind = node.kind
        if kind in _LITERALS:
            return _LITERALS[kind](node.value)
        if kind == "Coordinate":
            return self._coordinate(node.name)
        if kind == "DeclRefExpr":
            return self._variable(node)
        if kind == "ArraySubscriptExpr":
            self._subscript(node)
            return None
        if kind == "BinaryOperator" and node.opcode == "=":
            return self._assign(node.children[0], self.value(node.children[1]))
        if kind == "CompoundAssignOperator":
            return self._assign(node.children[0], self._combined(node.opcode[:-1], node))
        if kind == "BinaryOperator":
            return self._combined(node.opcode, node)
        if kind == "UnaryOperator":
            return self._unary(node)
        if kind == "ConditionalOperator":
            holds = self.value(node.children[0])
            return self.value(node.children[2 if holds == 0 else 1])
        if kind == "MemberExpr" and node.canonical in _INTEGERS and _of_parameter(node):
            return self.launch.extent
        values = [self.value(child) for child in node.children if child.category]
        if kind in _CASTS and values and node.canonical.removeprefix("const ") in _INTEGERS:
            return values[-1]
        return None

    def _combined(self, symbol: str, node: Node) -> Value:
        left, right = self.value(node.children[0]), self.value(node.children[1])
        if symbol in ("&&", "||") and (left is None or right is None):
            known = left if right is None else right
            decided = known is not None and bool(known) == (symbol == "||")
            return int(bool(known)) if decided else None
        if left is None or right is None or symbol not in _BINARY:
            return None
        return _BINARY[symbol](left, right)

    def _unary(self, node: Node) -> Value:
        value = self.value(node.children[0])
        if node.opcode in ("++", "--"):
            after = None if value is None else value + (1 if node.opcode == "++" else -1)
            self._assign(node.children[0], after)
            return value if node.postfix else after
        return None if value is None or node.opcode not in _UNARY else _UNARY[node.opcode](value)

    def _assign(self, target: Node, value: Value) -> Value:
        place = target.bare()
        if place.kind == "DeclRefExpr" and place.reference is not None:
            self._variables[place.reference.id] = value
            if place.reference.id in self._pointers:
                self._pointers[place.reference.id] = (None,)
        else:
            self.value(place)
        return value

    def _coordinate(self, name: str) -> int:
        axis = "xyz".index(name[-1])
        if name.startswith("threadIdx"):
            return self.thread[axis]
        if name.startswith("blockDim"):
            return self.launch.block[axis]
        return self.launch.grid[axis] if name.startswith("gridDim") else self.launch.number[axis]

    def _variable(self, node: Node) -> Value:
        reference = node.reference
        if reference is None or reference.id in self.escaped:
            return None
        if reference.id in self._variables:
            return self._variables[reference.id]
        if reference.kind == "ParmVarDecl":
            return self.launch.extent if node.canonical.removeprefix("const ") in _INTEGERS else None
        return self.launch.constant(reference.name) if reference.kind == "VarDecl" else None

    def _subscript(self, node: Node) -> None:
        self.seen.append((node, self._indices(node)))

    def _indices(self, node: Node) -> tuple[Value, ...]:
        """Of an element, outermost dimension first; through a local pointer those in its array."""
        indices: list[Value] = []
        base = node
        while base.kind == "ArraySubscriptExpr":
            indices.append(self.value(base.children[1]))
            base = base.children[0].bare()
        if base.kind != "DeclRefExpr":
            self.value(base)
        indices.reverse()
        known = self._pointers.get(base.reference.id) if base.reference is not None else None
        return tuple(indices) if known is None else (*known[:-1], _sum(known[-1], indices[0]), *indices[1:])

    def _element(self, pointer: Node) -> tuple[Value, ...]:
        """Indices of the element that a pointer leads to."""
        node = pointer.bare()
        if node.kind == "UnaryOperator" and node.opcode == "&" and node.children[0].bare().kind == "ArraySubscriptExpr":
            return self._indices(node.children[0].bare())
        if node.kind == "ArraySubscriptExpr":  # of an array of arrays
            return (*self._indices(node), 0)
        if node.kind == "BinaryOperator" and node.opcode in ("+", "-"):
            base, offset = self._element(node.children[0]), self.value(node.children[1])
            if node.opcode == "-" and offset is not None:
                offset = -offset
            return (*base[:-1], _sum(base[-1], offset))
        if node.kind == "DeclRefExpr" and node.reference is not None and node.reference.id not in self.escaped:
            return self._pointers.get(node.reference.id, (0,))
        self.value(node)
        return (None,)


def _sum(left: Value, right: Value) -> Value:
    return None if left is None or right is None else left + right


def _present(node: Node) -> Node | None:
    return None if node.kind == "Empty" else node


def _of_parameter(member: Node) -> bool:
    node = member
    while node.kind == "MemberExpr" and node.children:
        node = node.children[0].bare()
    return node.kind == "DeclRefExpr" and node.reference is not None and node.reference.kind == "ParmVarDecl"


@dataclass(frozen=True)
class Request:
    """One execution of a subscript by a wave: the indices of its lanes, None for lanes not there."""

    access: Node
    indices: tuple[tuple[int, ...] | None, ...]


def requests(
    function_body: Node, launch: Launch, wave_size: int, threads: Sequence[Thread] | None = None
) -> list[Request]:
    """The accesses of a block's first wave whose indices are all known, the n-th of each lane together.

    `threads` are the coordinates that the lanes have, if not the usual ones.
    """
    escaped = frozenset(identity for node in function_body.walk() if (identity := _escape(node)) is not None)
    order = list(threads if threads is not None else launch.threads(wave_size))
    grouped: dict[tuple[int, int], list[tuple[Value, ...] | None]] = {}
    nodes: dict[int, Node] = {}
    for number, thread in enumerate(order):
        lane = Lane(launch, thread, escaped)
        lane.run(function_body)
        count: dict[int, int] = {}
        for node, indices in lane.seen:
            turn = count[id(node)] = count.get(id(node), -1) + 1
            nodes[id(node)] = node
            grouped.setdefault((id(node), turn), [None] * len(order))[number] = indices
    found = []
    for (key, _), lanes in grouped.items():
        known = [None if entry is None else tuple(i for i in entry if i is not None) for entry in lanes]
        complete = all(a is None or b is None or len(a) == len(b) for a, b in zip(known, lanes, strict=True))
        if complete:
            found.append(Request(nodes[key], tuple(known)))
    return found


def initializer(declaration: Node) -> Node | None:
    """The initial value of a variable, or None."""
    values = [child for child in declaration.children if child.category]
    return values[-1] if values else None


def written(node: Node) -> str | None:
    """Id of the variable that this expression modifies or lets out of sight, or None."""
    if node.kind in ("BinaryOperator", "CompoundAssignOperator") and node.opcode.endswith("="):
        if node.opcode in ("==", "!=", "<=", ">="):
            return None
        target = _whole(node.children[0].bare())
    elif node.kind == "UnaryOperator" and node.opcode in ("++", "--"):
        target = _whole(node.children[0].bare())
    else:
        return _escape(node)
    return target.reference.id if target.kind == "DeclRefExpr" and target.reference is not None else None


def _whole(place: Node) -> Node:
    """The variable that a member or an array element is a part of; other places as they are."""
    node = place
    while True:
        member = node.kind == "MemberExpr" and "isArrow" not in node.flags and bool(node.children)
        element = node.kind == "ArraySubscriptExpr" and node.children[0].bare().canonical.endswith("]")
        if not member and not element:
            return node
        node = node.children[0].bare()


def _escape(node: Node) -> str | None:
    """Id of a variable that this expression hands out by address or reference, or None."""
    target = node
    if node.kind == "UnaryOperator" and node.opcode == "&":
        target = node.children[0].bare()
    elif node.kind != "DeclRefExpr" or not _bound(node):
        return None
    return target.reference.id if target.kind == "DeclRefExpr" and target.reference is not None else None


def _bound(node: Node) -> bool:
    """Is a variable bound to a reference that could change it, or the object of a method that is not constant?"""
    user = node.parent
    while user is not None and user.kind == "ParenExpr":
        user = user.parent
    part = node
    while user is not None and user.kind == "MemberExpr" and "isArrow" not in user.flags:
        part, user = user, user.parent
    method = user is not None and user.kind == "CXXMemberCallExpr" and user.children[0].bare() is part
    whole = node if method else part
    if whole.canonical.startswith("const ") and "*" not in whole.canonical:
        return False
    if user is None or whole.category != "lvalue":
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
