"""Whether the uses of one pointer name elements that lie apart."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from intelliperf.codegen.rules.lanes import Lane, Launch
from intelliperf.codegen.rules.lds_arrays import ELEMENT_BYTES
from intelliperf.codegen.rules.statements import callee_name, is_constant, pointee
from intelliperf.codegen.rules.wave import OPERATIONS
from intelliperf.codegen.rules.wave_aggregate_atomics import SINGLE
from intelliperf.codegen.syntax.tree import Node

ATOMICS = frozenset((*OPERATIONS, *SINGLE))  # each touches the element that it is given, and no other
_NO_LAUNCH = Launch((1, 1, 1), (1, 1, 1), lambda _: None)  # for constants, which depend on none


Spot = tuple[int, str]  # the constant index of an element, and a member of it


def elements_apart(address: Node, used: Sequence[Node], own: Collection[str], members: bool) -> bool:
    """Do all uses of the pointer name elements by constants, and none but `address` the one that it names?

    `own` are functions that the project itself defines under the names of atomics: what they touch is unknown.
    `members`: whether members of one element are apart, as they are in all but unions.
    """
    mentioned = [node for node in used if any(part is node for part in address.walk())]
    others = [_spot_of_use(node, own) for node in used if node not in mentioned]
    found = _spot(mentioned[0]) if len(mentioned) == 1 else None
    moved = _moved(mentioned[0]) if len(mentioned) == 1 else None
    if moved is not None and moved[1] is address:
        return all(other is not None and _apart(other, moved[0], members) for other in others)
    whole = address.kind == "UnaryOperator" and address.opcode == "&" and bool(address.children)
    if found is None or not whole or address.children[0].bare() is not found[1]:
        return False
    return all(other is not None and _apart(other, found[0], members) for other in others)


def _apart(one: Spot, other: Spot, members: bool) -> bool:
    return one[0] != other[0] or (members and bool(one[1]) and bool(other[1]) and one[1] != other[1])


def _spot(name: Node) -> tuple[Spot, Node] | None:
    """What `name[2]`, `name[2].member` or `name->member` around the mention of a pointer is, and its expression."""
    node, parent = _outermost(name)
    if parent is not None and parent.kind == "MemberExpr" and "isArrow" in parent.flags:
        return (0, parent.name.removeprefix("->")), parent
    if parent is None or parent.kind != "ArraySubscriptExpr" or parent.children[0] is not node:
        return None
    index = _constant(parent.children[1])
    _, user = _outermost(parent)
    member = user is not None and user.kind == "MemberExpr"
    if index is None:
        return None
    return ((index, user.name.removeprefix(".")), user) if member and user is not None else ((index, ""), parent)


def _moved(name: Node) -> tuple[Spot, Node] | None:
    """The element that `name` or `name + 2` points at, and that expression."""
    node, parent = _outermost(name)
    if parent is None or parent.kind != "BinaryOperator" or parent.opcode != "+":
        return (0, ""), node
    index = _constant(next(child for child in parent.children if child is not node))
    return ((index, ""), _outermost(parent)[0]) if index is not None else None


def _spot_of_use(name: Node, own: Collection[str]) -> Spot | None:
    """The element that this mention of a pointer reads, writes or makes an atomic on."""
    if (moved := _moved(name)) is not None and _is_of_atomic(moved[1], own):
        return moved[0]
    found = _spot(name)
    if found is None:
        return None
    node, parent = _outermost(found[1])
    if parent is not None and _reads_or_writes(parent, node):
        return found[0]
    if parent is None or parent.kind != "UnaryOperator" or parent.opcode != "&":
        return None  # bound to a reference, from which others could be reached
    return found[0] if _is_of_atomic(parent, own) else None


def _is_of_atomic(address: Node, own: Collection[str]) -> bool:
    """Is it the pointer that an atomic gets?"""
    node, parent = _outermost(address)
    return parent is not None and callee_name(parent) in ATOMICS - set(own) and parent.children[1] is node


def _reads_or_writes(user: Node, element: Node) -> bool:
    """Is it a load, an assignment or a step, which touches the element itself and nothing beside it?"""
    if user.kind == "ImplicitCastExpr":
        return user.category != "lvalue"
    if user.kind in ("BinaryOperator", "CompoundAssignOperator"):
        return user.opcode.endswith("=") and user.children[0] is element
    return user.kind == "UnaryOperator" and user.opcode in ("++", "--")


def _outermost(node: Node) -> tuple[Node, Node | None]:
    """The expression with its parentheses and harmless casts, and what uses it."""
    parent = node.parent
    while parent is not None and (parent.kind == "ParenExpr" or _same_element(parent) or _decays(parent, node)):
        node, parent = parent, parent.parent
    return node, parent


def _decays(cast: Node, node: Node) -> bool:
    """Is it a variable that is an array, on its way to an element?"""
    return cast.cast == "ArrayToPointerDecay" and node.kind == "DeclRefExpr"


def _same_element(cast: Node) -> bool:
    """A conversion of a pointer that leaves the elements' size as it is."""
    if cast.kind not in ("ImplicitCastExpr", "CStyleCastExpr", "CXXReinterpretCastExpr") or not cast.children:
        return False
    to, from_ = (pointee(node.canonical) for node in (cast, cast.children[-1]))
    return to is not None and from_ is not None and (to == from_ or _bytes(to) == _bytes(from_) is not None)


def _bytes(element: str) -> int | None:
    return ELEMENT_BYTES.get(element.replace("const ", "").replace("volatile ", ""))


def _constant(index: Node) -> int | None:
    return Lane(_NO_LAUNCH, (0, 0, 0), frozenset()).value(index) if is_constant(index) else None
