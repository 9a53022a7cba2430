"""LDS arrays of a function: how they are declared, and proof that only subscripts touch them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from intelliperf.codegen.rules.lanes import written
from intelliperf.codegen.rules.polynomials import Algebra
from intelliperf.codegen.rules.problem import NotApplicable
from intelliperf.codegen.rules.statements import callee_name, pointee
from intelliperf.codegen.syntax.source import Source
from intelliperf.codegen.syntax.tree import Node

ELEMENT_BYTES = {
    "char": 1, "signed char": 1, "unsigned char": 1, "bool": 1,
    "short": 2, "unsigned short": 2, "_Float16": 2, "__half": 2, "__hip_bfloat16": 2, "__nv_bfloat16": 2,
    "hip_bfloat16": 2, "half": 2,
    "int": 4, "unsigned int": 4, "float": 4,
    "long": 8, "unsigned long": 8, "long long": 8, "unsigned long long": 8, "double": 8,
    "char2": 2, "uchar2": 2, "char4": 4, "uchar4": 4, "short2": 4, "ushort2": 4, "short4": 8, "ushort4": 8,
    "__half2": 4, "half2": 4, "__nv_bfloat162": 4, "__hip_bfloat162": 4,
    "float2": 8, "int2": 8, "uint2": 8, "float4": 16, "int4": 16, "uint4": 16, "double2": 16,
    "longlong2": 16, "ulonglong2": 16,
}  # fmt: skip


@dataclass(frozen=True)
class Pointer:
    """A local pointer into the array that never moves: `offset` is its element in a flat array, None in a row."""

    declaration: Node
    offset: Node | None
    subscripts: tuple[Node, ...]


@dataclass(frozen=True)
class SharedArray:
    """One declaration, in one instantiation. `subscripts` are the outermost expressions."""

    declaration: Node
    element: str
    dimensions: tuple[int, ...]
    subscripts: tuple[Node, ...]
    pointers: tuple[Pointer, ...] = ()

    @property
    def name(self) -> str:
        return self.declaration.name

    @property
    def element_bytes(self) -> int:
        if self.element not in ELEMENT_BYTES:
            raise NotApplicable(f"{self.name} has elements of type {self.element}, whose bank layout is not known")
        return ELEMENT_BYTES[self.element]

    def indices(self, subscript: Node) -> list[Node]:
        """Index expressions, outermost dimension first."""
        found: list[Node] = []
        node = subscript
        for _ in self.dimensions:
            found.append(node.children[1])
            node = node.children[0].bare()
        return found[::-1]


def is_shared(declaration: Node) -> bool:
    return any(child.kind == "CUDASharedAttr" for child in declaration.children)


def shared_variables(function: Node) -> list[Node]:
    return [node for node in function.walk() if node.kind == "VarDecl" and is_shared(node)]


def array_of(subscript: Node) -> Node:
    """What a chain of subscripts starts from."""
    node = subscript
    while node.kind == "ArraySubscriptExpr":
        node = node.children[0].bare()
    return node


def root_variable(subscript: Node) -> Node | None:
    """The name that a chain of subscripts starts from."""
    node = array_of(subscript)
    return node if node.kind == "DeclRefExpr" else None


def owner_of(member: Node) -> Node | None:
    """The variable that `member` is a field of, as `view` of `view.data`; None of what lies behind a pointer."""
    node = member
    while node.kind == "MemberExpr" and "isArrow" not in node.flags and node.children:
        node = node.children[0].bare()
    return node if node.kind == "DeclRefExpr" and node is not member else None


def shared_array(function: Node, declaration: Node) -> SharedArray:
    """The array with all its uses. Raises `NotApplicable` where anything but a subscript sees it."""
    match = re.fullmatch(r"([\w :]+?)\s*((?:\[\d*\])+)", declaration.canonical)
    if match is None:
        raise NotApplicable(f"{declaration.name} is a {declaration.type}, not an array of known size")
    element, bounds = match.group(1), re.findall(r"\[(\d*)\]", match.group(2))
    if "" in bounds:
        raise NotApplicable(f"{declaration.name} is dynamic LDS: its size is set where the kernel is launched")
    dimensions = tuple(int(bound) for bound in bounds)
    uses = [
        node
        for node in function.walk()
        if node.kind == "DeclRefExpr" and node.reference is not None and node.reference.id == declaration.id
    ]
    pointers = [_pointer(function, use, len(dimensions)) for use in uses]
    subscripts = tuple(
        _whole_subscript(use, len(dimensions)) for use, made in zip(uses, pointers, strict=True) if made is None
    )
    element = re.sub(r"\b(?:const|volatile|struct|class) ", "", element)
    return SharedArray(declaration, element, dimensions, subscripts, tuple(filter(None, pointers)))


def _pointer(function: Node, use: Node, depth: int) -> Pointer | None:
    """The local pointer that a use of the array's name makes; None where it makes none, or one that is not followed.

    `T* p = &a[e]` and `a + e` of a flat array, `T* p = a[e]` of an array of rows, subscripted and nothing else.
    """
    place, offset = _flat_place(use) if depth == 1 else (_row(use, depth - 1), None)
    declared = place.user() if place is not None else None
    if declared is None or declared.kind != "VarDecl" or pointee(declared.canonical) is None:
        return None
    if any(written(node) == declared.id for node in function.everything()):
        return None
    if depth == 1 and (offset is None or Algebra(function).polynomial(offset) is None):
        return None
    subscripts = []
    for name in function.everything():
        if name.kind != "DeclRefExpr" or name.reference is None or name.reference.id != declared.id:
            continue
        access = name.user()
        taken = access.user() if access is not None else None
        if access is None or access.kind != "ArraySubscriptExpr" or access.children[0].bare() is not name:
            return None
        if taken is not None and taken.kind == "UnaryOperator" and taken.opcode == "&":
            return None
        subscripts.append(access)
    return Pointer(declared, offset, tuple(subscripts))


def _flat_place(use: Node) -> tuple[Node | None, Node | None]:
    """The whole of `&a[e]` or `a + e` around a use of `a`, and `e`."""
    user = use.user()
    if user is not None and user.kind == "ArraySubscriptExpr" and user.children[0].bare() is use:
        above = user.user()
        addressed = above is not None and above.kind == "UnaryOperator" and above.opcode == "&"
        return (above, user.children[1]) if addressed else (None, None)
    if user is not None and user.kind == "BinaryOperator" and user.opcode == "+":
        return user, user.children[1 if user.children[0].bare() is use else 0]
    return None, None


def _row(use: Node, depth: int) -> Node | None:
    """The element of an array of rows that a use of its name belongs to."""
    place = use
    for _ in range(depth):
        user = place.user()
        if user is None or user.kind != "ArraySubscriptExpr" or user.children[0].bare() is not place:
            return None
        place = user
    return place


def _whole_subscript(use: Node, depth: int) -> Node:
    """The element expression that a use of the array's name belongs to."""
    name = use.reference.name if use.reference is not None else ""
    node = use
    for _ in range(depth):
        user = node.user()
        if user is None or user.kind != "ArraySubscriptExpr" or user.children[0].bare() is not node:
            raise NotApplicable(f"{name} is used on line {use.line} other than by a full subscript")
        node = user
    user = node.user()
    if user is not None and user.kind == "UnaryOperator" and user.opcode == "&":
        call = user.user()
        if call is None or call.kind != "CallExpr" or not callee_name(call).startswith(("atomic", "unsafeAtomic")):
            raise NotApplicable(f"the address of an element of {name} is taken on line {use.line}")
    if user is not None and user.kind == "VarDecl" and user.canonical.endswith("&"):
        raise NotApplicable(f"line {use.line} binds a reference to an element of {name}")
    return node


def is_stored(node: Node) -> bool:
    """Is the element assigned to?"""
    user = node.user()
    if user is not None and user.kind == "CXXOperatorCallExpr":
        return assigned(user) is node
    assigns = user is not None and user.kind in ("BinaryOperator", "CompoundAssignOperator")
    return assigns and user is not None and user.opcode.endswith("=") and user.children[0].bare() is node


def assigned(node: Node) -> Node | None:
    """What a plain assignment writes, of a number or an object; None of other expressions."""
    if node.kind == "BinaryOperator" and node.opcode == "=":
        return node.children[0].bare()
    if node.kind != "CXXOperatorCallExpr" or len(node.children) != 3:
        return None
    operator = node.children[0].bare().reference
    return node.children[1].bare() if operator is not None and operator.name == "operator=" else None


def closing_bracket(source: Source, node: Node) -> int:
    """Offset of the `]` that a declaration or subscript ends with. Raises `NotApplicable`."""
    if node.end is None or node.end.macro:
        raise NotApplicable(f"line {node.line}: the brackets come from a macro")
    at = node.end_offset - 1
    if source.slice(at, at + 1) != "]":
        raise NotApplicable(f"line {node.line}: the declaration does not end with its bounds")
    return at


def opening_bracket(source: Source, closing: int) -> int:
    """Offset of the `[` that matches the `]` at `closing`."""
    depth = 0
    for at in range(closing, -1, -1):
        character = source.data[at : at + 1]
        depth += (character == b"]") - (character == b"[")
        if depth == 0:
            return at
    raise NotApplicable("unbalanced brackets")
