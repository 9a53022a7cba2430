"""Proof that the iterations of a loop over elements may run in any order, on any thread.

An iteration may read and write element `i` of arrays, read what nobody writes, and use variables
of its own. Arrays of different names that overlap at an offset would let the threads of the
original race at the borders of their chunks, so race-free programs have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from intelliperf.codegen.rules.addresses import Addresses
from intelliperf.codegen.rules.lanes import initializer, written
from intelliperf.codegen.rules.methods import METHOD_CALLS, is_assignment, why_impure
from intelliperf.codegen.rules.polynomials import Algebra
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, body, resolved_functions
from intelliperf.codegen.rules.statements import callee_name, pointee, value_used
from intelliperf.codegen.rules.uniformity import exits
from intelliperf.codegen.rules.wave_aggregate_atomics import INTEGERS
from intelliperf.codegen.syntax import outline
from intelliperf.codegen.syntax.tree import Node

_ORDERED = re.compile(
    r"atomic|sync|fence|shfl|ballot|vote|printf|assert|clock|(?:\b|_|cu|hip)rand|activemask|match_(?:any|all)|barrier"
    r"|(?:\b|_)asm(?:\b|_)|trap\b"
)
COMMUTING = ("atomicAdd", "atomicSub", "atomicMin", "atomicMax", "atomicAnd", "atomicOr", "atomicXor")
_WRITES = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")


class Independence:
    """The iterations of `loop` in `kernel`; `element` is the id of the variable that numbers them.

    Expressions in `numbers` are such numbers as well, and so are variables that are set to one.
    """

    def __init__(
        self, problem: Problem, place: Place, kernel: Node, loop: Node, element: str, numbers: Sequence[Node] = ()
    ) -> None:
        self._numbers = {id(number.bare()) for number in numbers}
        self._parts = {id(part) for number in numbers for part in number.walk()}
        self._problem, self._place = problem, place
        self._kernel, self._loop, self._element = kernel, loop, element
        self._algebra = Algebra(kernel)
        self._inside = {node.id for node in loop.everything() if node.kind == "VarDecl"}
        self._seen: set[str] = set()
        self._updates: set[int] = set()  # atomics whose order does not matter, and the elements that they are given

    def check(self, own: frozenset[str]) -> None:
        """Raise `NotApplicable` if an iteration sees another one. `own`: ids of the loop's own counters."""
        inside = self._loop.children[-1]
        self._updates = set(self._commuting(inside))
        for node in inside.everything():
            if id(node) not in self._parts:
                self._check_node(node, own)
        for jump in exits(inside):
            leaves = jump.kind != "ContinueStmt" and not self._of_inner_loop(jump)
            if leaves:
                raise self._declined(f"line {jump.line} leaves the loop early")
        self._check_memory(inside)

    def _declined(self, why: str) -> NotApplicable:
        return NotApplicable(f"{self._place}: {why}")

    def _commuting(self, inside: Node) -> Iterator[int]:
        """Atomics of one kind on integers of an array that the kernel uses for nothing else: their order is all one."""
        by_root: dict[str, list[Node]] = {}
        addresses = Addresses(self._algebra)
        for node in inside.everything():
            plain = node.kind == "CallExpr" and callee_name(node) in COMMUTING and node.canonical in INTEGERS
            if plain and not value_used(node):
                by_root.setdefault(addresses.pointer(node.children[1]).root, []).append(node)
        parameters = {child.id for child in self._kernel.children if child.kind == "ParmVarDecl"}
        for root, calls in by_root.items():
            known = {id(part) for call in calls for part in call.children[1].walk()}
            uses = [
                node for node in self._kernel.everything() if node.reference is not None and node.reference.id == root
            ]
            alone = all(id(use) in known for use in uses)
            if root in parameters and alone and len({callee_name(call) for call in calls}) == 1:
                for call in calls:
                    yield id(call)
                    yield from (id(part) for part in call.children[1].walk())

    def _of_inner_loop(self, jump: Node) -> bool:
        if jump.kind != "BreakStmt":
            return False
        loops = ("ForStmt", "WhileStmt", "DoStmt", "SwitchStmt")
        nearest = next((parent for parent in jump.ancestors() if parent.kind in loops), None)
        return nearest is not None and nearest is not self._loop

    def _check_node(self, node: Node, own: frozenset[str]) -> None:
        if node.kind == "LambdaExpr" or "Asm" in node.kind:
            raise self._declined(f"the loop holds a lambda or assembler on line {node.line}")
        if node.kind == "Coordinate" and node.name.startswith(("threadIdx", "blockIdx")):
            raise self._declined(f"the loop's body uses {node.name} on line {node.line}")
        if node.kind in (*METHOD_CALLS, "CXXConstructExpr", "CXXNewExpr"):
            self.check_method(node)
        if node.kind == "CallExpr" and id(node) not in self._updates:
            self.check_call(node)
        if (identity := written(node)) is not None and identity not in self._inside | own:
            name = next((part.reference.name for part in node.walk() if part.reference), "a variable")
            raise self._declined(f"the loop carries {name} from one element to the next (line {node.line})")
        if (
            node.kind != "DeclRefExpr"
            or node.reference is None
            or node.reference.kind not in ("VarDecl", "ParmVarDecl")
        ):
            return
        known = node.reference.id in self._inside | own or node.reference.id == self._element
        constant = node.canonical.startswith("const ")
        if not known and self._algebra.uniform.varying(node) and not constant:
            raise self._declined(f"the loop's body uses {node.reference.name}, which differs between threads")
        if not known and node.reference.id in self._algebra.declared and self._algebra.uniform.varying(node):
            raise self._declined(f"the loop's body uses {node.reference.name}, which differs between threads")

    def check_method(self, node: Node) -> None:
        """Raise `NotApplicable` unless a method, an operator or a constructor is one of its values alone."""
        if node.kind in METHOD_CALLS:
            if why := why_impure(self._problem, node, self.check_body):
                raise self._declined(f"line {node.line} {why}")
        elif node.kind != "CXXConstructExpr" or any(part.kind == "CallExpr" for part in node.walk()):
            raise self._declined(f"line {node.line} makes an object, which may keep state")

    def check_call(self, call: Node) -> None:
        """Raise `NotApplicable` unless the called function is one of its arguments' values alone."""
        name = callee_name(call)
        if not name or _ORDERED.search(name):
            raise self._declined(f"line {call.line} calls {name or 'through a pointer'}, whose order may matter")
        for argument in call.children[1:]:
            if pointee(argument.canonical) is not None:
                raise self._declined(f"line {call.line} hands a pointer to {name}")
        self.check_function(name)

    def check_function(self, name: str) -> None:
        """A function of the project may touch its parameters and its own variables only."""
        if name in self._seen:
            return
        self._seen.add(name)
        for path, text in self._problem.task.sources.items():
            if name not in text or not any(region.name == name for region in outline.functions(text)):
                continue
            for root in self._problem.declarations(path, name):
                for function in resolved_functions(root):
                    if function.name == name:
                        self.check_body(function)

    def check_body(self, function: Node) -> None:
        own = {node.id for node in function.everything() if node.kind in ("VarDecl", "ParmVarDecl")}
        for node in body(function).everything():
            reference = node.reference
            outside = node.kind == "DeclRefExpr" and reference is not None and reference.kind == "VarDecl"
            if outside and reference is not None and reference.id not in own and not reference.type.startswith("const"):
                raise self._declined(f"{function.name}, which the loop calls, uses {reference.name}")
            if node.kind == "Coordinate" or node.storage == "static" or "Asm" in node.kind:
                raise self._declined(f"{function.name}, which the loop calls, depends on the thread")
            if node.kind == "CallExpr":
                if not (name := callee_name(node)) or _ORDERED.search(name):
                    raise self._declined(f"{function.name}, which the loop calls, calls {name or 'a pointer'}")
                self.check_function(name)

    def _check_memory(self, inside: Node) -> None:
        stored: set[str] = set()
        for root, index, access in self._accesses(inside):
            if not _modified(access):
                continue
            if root is None or not self._is_element(index) or not _is_pointer(access.children[0]):
                raise self._declined(f"line {access.line} writes to more than the loop's own element")
            stored.add(root)
        for root, index, access in self._accesses(inside):
            if root in stored and not self._is_element(index):
                raise self._declined(f"line {access.line} reads another element of an array that the loop writes")
            if root not in stored and stored and not self._steady(index):
                self._check_gather(access, inside, stored)

    def _check_gather(self, access: Node, inside: Node, stored: set[str]) -> None:
        """A data-dependent read must be of another type than what is written, so that it is not an alias."""
        for root, _, other in self._accesses(inside):
            if root in stored and _bare_type(other) == _bare_type(access):
                raise self._declined(f"line {access.line} reads by a data-dependent index what may be written here")

    def _accesses(self, inside: Node) -> Iterator[tuple[str | None, Node | None, Node]]:
        """(id of the pointer, index, access) of what is not a variable of the iteration."""
        for node in inside.everything():
            if id(node) in self._updates and node.user() is not None and _is_updated(node):
                continue
            if node.kind == "UnaryOperator" and node.opcode == "*":
                yield None, None, node
            if node.kind == "MemberExpr" and "isArrow" in node.flags:
                yield None, None, node
            if node.kind == "ArraySubscriptExpr":
                base = node.children[0].bare()
                while base.kind in ("MemberExpr", "ArraySubscriptExpr") and base.kind != "DeclRefExpr":
                    if base.kind == "ArraySubscriptExpr" or "isArrow" in base.flags or _is_pointer(node.children[0]):
                        break
                    base = base.children[0].bare()
                if base.kind == "ArraySubscriptExpr":
                    continue  # an array inside an element: the inner subscript counts
                if base.kind == "MemberExpr":
                    root = base.children[0].bare()
                    named = root.kind == "DeclRefExpr" and root.reference is not None and "isArrow" not in base.flags
                    key = f"{root.reference.id}.{base.name}" if named and root.reference else None
                    yield key, node.children[1], node
                elif base.kind != "DeclRefExpr" or base.reference is None:
                    yield None, node.children[1], node
                elif base.reference.id not in self._inside or pointee(base.reference.type) is not None:
                    inner = base.reference.id in self._inside
                    yield (None if inner else base.reference.id), node.children[1], node

    def _is_element(self, index: Node | None) -> bool:
        node = index.bare() if index is not None else None
        while node is not None and node.kind in ("CStyleCastExpr", "CXXStaticCastExpr", "CXXFunctionalCastExpr"):
            node = next(child for child in node.children if child.category).bare()
        if node is not None and id(node) in self._numbers:
            return True
        named = node is not None and node.kind == "DeclRefExpr" and node.reference is not None
        if not named or node is None or node.reference is None:
            return False
        declared = self._algebra.declared.get(node.reference.id) if node.reference.id in self._inside else None
        if declared is not None and node.reference.id not in self._algebra.modified and self._numbers:
            return self._is_element(initializer(declared))
        return node.reference.id == self._element and not self._numbers

    def _steady(self, index: Node | None) -> bool:
        """Is the index made of the element's number and of what all threads share?"""
        return index is not None and not any(
            node.kind in ("ArraySubscriptExpr", "CallExpr") or (node.kind == "UnaryOperator" and node.opcode == "*")
            for node in index.walk()
        )


def _is_updated(node: Node) -> bool:
    """Is it the element that an atomic is given, and not a part of its index?"""
    above = node.user()
    call = above.user() if above is not None and above.kind == "UnaryOperator" and above.opcode == "&" else None
    return call is not None and call.kind == "CallExpr" and call.children[1].bare() is above


def _is_pointer(expression: Node) -> bool:
    return expression.bare().canonical.rstrip().endswith(("*", "*const", "__restrict", "__restrict__"))


def _bare_type(access: Node) -> str:
    return access.canonical.replace("const ", "").replace("volatile ", "")


def _modified(access: Node) -> bool:
    """Is the element, or a part of it, assigned, incremented or bound to a reference that could change it?"""
    node, user = access, access.user()
    while user is not None and (
        (user.kind == "MemberExpr" and "isArrow" not in user.flags)
        or (user.kind == "ArraySubscriptExpr" and user.children[0].bare() is node)
    ):
        node, user = user, user.user()
    if user is None:
        return False
    if user.kind in ("BinaryOperator", "CompoundAssignOperator") and user.opcode in _WRITES:
        return user.children[0].bare() is node
    if user.kind == "UnaryOperator" and user.opcode in ("++", "--", "&"):
        return True
    if is_assignment(user):
        return user.children[1].bare() is node
    if user.kind == "VarDecl":
        return user.canonical.endswith("&") and not user.canonical.startswith("const ")
    loaded = any(parent.cast == "LValueToRValue" for parent in _between(node, user))
    return user.kind in ("CallExpr", "CXXConstructExpr") and not loaded and not node.canonical.startswith("const ")


def _between(node: Node, user: Node) -> Iterator[Node]:
    for parent in node.ancestors():
        if parent is user:
            return
        yield parent
