"""Which array an access belongs to, and at which element, seen through local pointers and fields of parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from intelliperf.codegen.rules.lanes import initializer
from intelliperf.codegen.rules.polynomials import Algebra, Polynomial, constant
from intelliperf.codegen.rules.statements import callee_name, pointee
from intelliperf.codegen.syntax.tree import Node

_CASTS = ("CStyleCastExpr", "CXXStaticCastExpr", "CXXReinterpretCastExpr", "CXXConstCastExpr")
_CALLS = ("CXXConstructExpr", "CXXOperatorCallExpr", "CXXMemberCallExpr", "CallExpr")
_FUNCTIONS = ("FunctionDecl", "CXXMethodDecl")
_ADDRESSED = ("ArraySubscriptExpr", "MemberExpr")


@dataclass(frozen=True)
class Element:
    """`index` counts from where the parameter points; None: it depends on data. `root`: of the parameter, or ""."""

    root: str
    index: Polynomial | None


@dataclass(frozen=True)
class Access:
    """One read or write of memory; `place` is the array's element, `whole` what is read or written of it."""

    place: Node
    whole: Node
    stores: bool
    loads: bool
    atomic: bool = False


class Addresses:
    """Elements of one function's arrays, in the words of `algebra`."""

    def __init__(self, algebra: Algebra) -> None:
        self._algebra = algebra

    def element(self, place: Node) -> Element:
        """`place` is an element's lvalue: `p[i]`, `*p`, `p->field`, or a variable of the block in LDS.

        Or what an atomic gets, a pointer to the element.
        """
        node = place.bare()
        if pointee(node.canonical) is not None and node.kind in (
            "DeclRefExpr",
            "BinaryOperator",
            "MemberExpr",
            *_CASTS,
        ):
            return self.pointer(node)
        if node.kind == "DeclRefExpr" and node.reference is not None:
            return Element(node.reference.id, constant(0))
        if node.kind == "ArraySubscriptExpr":
            base = self.pointer(node.children[0])
            return Element(base.root, self._sum(base.index, self._algebra.polynomial(node.children[1])))
        if (node.kind == "UnaryOperator" and node.opcode == "*") or (node.kind == "MemberExpr" and node.children):
            return self.pointer(node.children[0])
        return Element("", None)

    def pointer(self, expression: Node) -> Element:
        node = expression.bare()
        if node.kind in _CASTS and node.children:
            inner = node.children[-1]
            same = _plain(pointee(node.canonical)) == _plain(pointee(inner.bare().canonical))
            found = self.pointer(inner)
            return found if same else Element(found.root, None)
        if node.kind == "DeclRefExpr" and node.reference is not None:
            return self._named(node)
        if node.kind == "MemberExpr" and pointee(node.canonical) is not None and "isArrow" not in node.flags:
            owner = node.children[0].bare()
            plain = owner.kind == "DeclRefExpr" and owner.reference is not None
            if plain and owner.reference is not None and owner.reference.id not in self._algebra.modified:
                return Element(f"{owner.reference.id}.{node.name}", constant(0))
        if node.kind == "BinaryOperator" and node.opcode in ("+", "-"):
            left, right = node.children
            if node.opcode == "+" and pointee(left.bare().canonical) is None:
                left, right = right, left
            base, offset = self.pointer(left), self._algebra.polynomial(right)
            if offset is not None and node.opcode == "-":
                offset = offset * constant(-1)
            return Element(base.root, self._sum(base.index, offset))
        if node.kind == "UnaryOperator" and node.opcode == "&":
            return self.element(node.children[0])
        if node.kind == "UnaryOperator" and node.opcode == "++" and node.postfix:
            return self.pointer(node.children[0])
        return Element("", None)

    def _named(self, node: Node) -> Element:
        reference = node.reference
        declared = self._algebra.declared.get(reference.id) if reference is not None else None
        if reference is not None and declared is not None and _is_array(declared.canonical):
            return Element(reference.id, constant(0))  # an array of the function's own, or LDS, which stays where it is
        if reference is None:
            return Element("", None)
        if reference.id in self._algebra.modified:
            return self._moved(node, reference.id, declared)
        if declared is None:
            return Element(reference.id, constant(0))
        initial = initializer(declared)
        if (elsewhere := self._algebra.place_elsewhere(reference.id)) is not None:
            stays = initial is not None and self._algebra.only_steps(reference.id)
            return Element(self.pointer(initial).root if initial is not None and stays else "", elsewhere)
        found = self.pointer(initial) if initial is not None else Element("", None)
        return Element(found.root, self._algebra.start(declared)) if found.index is None else found

    def _moved(self, node: Node, pointer: str, declared: Node | None) -> Element:
        """A pointer that steps alone change stays in its array."""
        index = self._algebra.walked.get(pointer)
        if not self._algebra.only_steps(pointer):
            return Element("", index)
        if declared is None:
            return Element(pointer, index if index is not None else self._algebra.advance(pointer, node))
        initial = initializer(declared)
        return Element(self.pointer(initial).root if initial is not None else "", index)

    def _sum(self, left: Polynomial | None, right: Polynomial | None) -> Polynomial | None:
        return None if left is None or right is None else left + right


def accesses(top: Node, shared: frozenset[str] = frozenset()) -> Iterator[Access]:
    """All reads and writes of memory through pointers below `top`; arrays that are variables of a thread are none.

    With those of the variables `shared`, which are in LDS.
    """
    for node in top.everything():
        if node.kind == "CallExpr" and callee_name(node).startswith(("atomic", "unsafeAtomic")) and node.children[1:]:
            address = node.children[1].bare()
            if address.opcode != "&" or address.kind != "UnaryOperator":
                yield Access(address, address, True, True, True)
        subscript = node.kind == "ArraySubscriptExpr" and not _is_own_array(node, shared)
        through = node.kind == "UnaryOperator" and node.opcode == "*"
        named = node.kind == "DeclRefExpr" and node.reference is not None and node.reference.id in shared
        plain = named and not node.canonical.endswith("]")
        if subscript or through or plain or (node.kind == "MemberExpr" and "isArrow" in node.flags):
            found = _used(node)
            if found is not None:
                yield found


def _is_own_array(subscript: Node, shared: frozenset[str]) -> bool:
    base = subscript.children[0].bare()
    while base.kind in _ADDRESSED and "isArrow" not in base.flags and base.children:
        if base.kind == "ArraySubscriptExpr" and not base.children[0].bare().canonical.endswith("]"):
            return False
        base = base.children[0].bare()
    own = base.reference is not None and base.reference.id not in shared
    function = next((up for up in subscript.ancestors() if up.kind in _FUNCTIONS), None)
    if own and function is not None and base.reference is not None:
        own = base.reference.id in _variables(function)  # not one of the device
    return base.kind == "DeclRefExpr" and base.canonical.endswith("]") and own


@lru_cache(maxsize=64)
def _variables(function: Node) -> frozenset[str]:
    return frozenset(node.id for node in function.everything() if node.kind in ("VarDecl", "ParmVarDecl"))


def _used(place: Node) -> Access | None:
    """None where only the address is made, for a pointer that is followed by itself."""
    whole, user = place, place.parent
    while user is not None:
        part = user.kind == "MemberExpr" and "isArrow" not in user.flags
        element = user.kind == "ArraySubscriptExpr" and user.children[0].bare() is whole.bare() and _inside(whole)
        through = user.kind in ("ParenExpr", "ExprWithCleanups", "MaterializeTemporaryExpr")
        if not (part or element or through or (user.kind == "ImplicitCastExpr" and user.category == "lvalue")):
            break
        whole, user = user, user.parent
    if user is None:
        return None
    if user.kind == "ImplicitCastExpr" and user.cast == "ArrayToPointerDecay":
        return Access(place, whole, not whole.canonical.startswith("const "), True)  # an array itself, handed on
    assigns = user.kind in ("BinaryOperator", "CompoundAssignOperator") and user.opcode.endswith("=")
    if assigns and user.opcode not in ("==", "!=", "<=", ">=") and user.children[0].bare() is whole.bare():
        return Access(place, whole, True, user.opcode != "=")
    if user.kind == "UnaryOperator" and user.opcode in ("++", "--"):
        return Access(place, whole, True, True)
    if user.kind == "UnaryOperator" and user.opcode == "&":
        call = user.user()
        if call is not None and call.kind == "CallExpr":
            atomic = callee_name(call).startswith(("atomic", "unsafeAtomic"))
            return Access(place, whole, True, True, atomic)
        return None
    if user.kind == "ImplicitCastExpr" or whole.category != "lvalue":
        return Access(place, whole, False, True)
    reads = user.kind in _CALLS and _to_constant(user, whole)
    return Access(place, whole, not reads, True)


def _to_constant(user: Node, whole: Node) -> bool:
    """Is a copy made, or is it bound to a reference through which nothing is written?"""
    if user.kind == "CXXConstructExpr":
        return True
    return whole.canonical.startswith("const ")


def _inside(node: Node) -> bool:
    return node.bare().canonical.endswith("]")


def _is_array(canonical: str) -> bool:
    """And not a pointer to one."""
    return canonical.endswith("]") and "(" not in canonical


def _plain(name: str | None) -> str:
    return "" if name is None else name.replace("const ", "").replace("volatile ", "").strip()
