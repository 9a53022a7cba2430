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


def elements_apart(address: Node, used: Sequence[Node], own: Collection[str]) -> bool:
    """Do all uses of the pointer name elements by constants, and none but `address` the one that it names?

    `own` are functions that the project itself defines under the names of atomics: what they touch is unknown.
    """
    mentioned = [node for node in used if any(part is node for part in address.walk())]
    index = _index_of_address(address)
    others = [_index_of_use(node, own) for node in used if node not in mentioned]
    return index is not None and len(mentioned) == 1 and all(other not in (None, index) for other in others)


def _index_of_use(name: Node, own: Collection[str]) -> int | None:
    """The constant index of the element that this mention of a pointer reads, writes or makes an atomic on."""
    node, parent = _outermost(name)
    if parent is None or parent.kind != "ArraySubscriptExpr" or parent.children[0] is not node:
        return None
    subscript = parent
    node, parent = _outermost(subscript)
    if parent is not None and _reads_or_writes(parent, node):
        return _constant(subscript.children[1])
    if parent is None or parent.kind != "UnaryOperator" or parent.opcode != "&":
        return None  # bound to a reference, from which others could be reached
    node, parent = _outermost(parent)
    if parent is None or callee_name(parent) not in ATOMICS - set(own) or parent.children[1] is not node:
        return None
    return _constant(subscript.children[1])


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
    while parent is not None and (parent.kind == "ParenExpr" or _same_element(parent)):
        node, parent = parent, parent.parent
    return node, parent


def _same_element(cast: Node) -> bool:
    """A conversion of a pointer that leaves the elements' size as it is."""
    if cast.kind not in ("ImplicitCastExpr", "CStyleCastExpr", "CXXReinterpretCastExpr") or not cast.children:
        return False
    to, from_ = (pointee(node.canonical) for node in (cast, cast.children[-1]))
    return to is not None and from_ is not None and _bytes(to) == _bytes(from_) is not None


def _bytes(element: str) -> int | None:
    return ELEMENT_BYTES.get(element.replace("const ", "").replace("volatile ", ""))


def _index_of_address(address: Node) -> int | None:
    """The constant index of `&pointer[index]`, of the pointer's own type; None for any other address."""
    if address.kind != "UnaryOperator" or address.opcode != "&" or address.children[0].kind != "ArraySubscriptExpr":
        return None
    return _constant(address.children[0].children[1])


def _constant(index: Node) -> int | None:
    return Lane(_NO_LAUNCH, (0, 0, 0), frozenset()).value(index) if is_constant(index) else None
