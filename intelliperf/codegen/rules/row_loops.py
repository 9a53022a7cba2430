"""Loops along a row whose turns the lanes of a group can share out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from intelliperf.codegen.rules.addresses import Access, Addresses, accesses
from intelliperf.codegen.rules.independence import COMMUTING, Independence
from intelliperf.codegen.rules.lanes import initializer, written
from intelliperf.codegen.rules.lds_arrays import is_shared
from intelliperf.codegen.rules.members import other_members
from intelliperf.codegen.rules.memory_scans import memory_scan
from intelliperf.codegen.rules.methods import METHOD_CALLS
from intelliperf.codegen.rules.polynomials import Algebra, Polynomial, atom, constant
from intelliperf.codegen.rules.positive import divisors, positive
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem
from intelliperf.codegen.rules.readers import check_call
from intelliperf.codegen.rules.reductions import Reduction, reductions
from intelliperf.codegen.rules.row_walks import TURN, Walk, condition_of, counted_side, follow, walk_of
from intelliperf.codegen.rules.scaled_sums import scaled_sum
from intelliperf.codegen.rules.statements import callee_name, pointee, value_used
from intelliperf.codegen.rules.uniformity import exits
from intelliperf.codegen.rules.wave_aggregate_atomics import FLOATS, INTEGERS
from intelliperf.codegen.syntax.tree import Node

_LOOPS = ("ForStmt", "WhileStmt", "DoStmt")
_CASTS = ("CStyleCastExpr", "CXXStaticCastExpr", "CXXFunctionalCastExpr")
_CALLS = ("CallExpr", *METHOD_CALLS)
_STEPS = ("++", "--", "+=", "-=")


class RowAlgebra(Algebra):
    """Polynomials within a row: what is set once is a value of its own, whatever thread it belongs to.

    Within `loop`, if one is given, so is what only changes outside of it.
    """

    def __init__(self, function: Node, loop: Node | None = None) -> None:
        super().__init__(function)
        self.function = function
        self.inner: set[str] = set()  # counters of loops within, which choices between proven rewrites read
        self._anywhere, self._loop, self._shared = self.modified, loop, lds_variables(function)
        if loop is not None:
            self.modified = {identity for node in loop.everything() if (identity := written(node)) is not None}

    def _variable(self, node: Node) -> Polynomial | None:
        reference = node.reference
        if reference is not None and reference.id in self.inner:
            return atom(reference.id)
        if reference is not None and reference.id in self.walked:
            return self.walked[reference.id] if pointee(node.canonical) is None else None
        if reference is None or reference.id in self.modified - self.free:
            return None
        if reference.id in self.free:
            return atom(TURN)
        declared = self.declared.get(reference.id)
        initial = initializer(declared) if declared is not None else None
        settled = initial is not None and reference.id not in self._anywhere
        expanded = self.polynomial(initial) if initial is not None and settled else None
        if expanded is not None:
            return expanded
        if declared is not None and self._loop is not None and any(up is self._loop for up in declared.ancestors()):
            return None
        if declared is not None and self._loop is None and any(up.kind in _LOOPS for up in declared.ancestors()):
            return None
        self.names[reference.id] = reference.name
        return atom(reference.id)

    def polynomial(self, expression: Node) -> Polynomial | None:
        found = super().polynomial(expression)
        node = expression.bare()
        if node.kind == "UnaryOperator" and node.opcode in ("++", "--") and node.postfix:
            return self.polynomial(node.children[0])
        return found if found is not None else self._read_once(node)

    def _read_once(self, node: Node) -> Polynomial | None:
        """What is read from memory at a place that stays, in a loop that stores nothing: a value of its own."""
        while node.kind in _CASTS and node.children:
            node = node.children[-1].bare()
        if (
            self._loop is None
            or node.kind != "ArraySubscriptExpr"
            or not any(up is self._loop for up in node.ancestors())
        ):
            return None
        if any(item.stores for item in accesses(self._loop.children[-1], self._shared)):
            return None
        turns = self.modified | self.free | {each.id for each in self._loop.everything() if each.kind == "VarDecl"}
        if any(part.kind in _CALLS or (part.reference and part.reference.id in turns) for part in node.everything()):
            return None
        return atom(f"read at {node.start_offset}")

    def start(self, pointer: Node) -> Polynomial | None:
        """Where a pointer leads that is set once, before the loop: a value of its own."""
        inside = any(up is self._loop or (self._loop is None and up.kind in _LOOPS) for up in pointer.ancestors())
        return None if inside or pointer.id in self._anywhere else atom(f"start of {pointer.id}")

    def advance(self, pointer: str, use: Node) -> Polynomial | None:
        """Of a pointer that one statement of the function moves, once, as in `row += i * columns`."""
        writes = [node for node in self.function.everything() if written(node) == pointer]
        (write,) = writes if len(writes) == 1 else (None,)
        block = write.parent if write is not None else None
        if write is None or write.opcode != "+=" or block is None or block.parent is not self.function:
            return None
        if use.start_offset < write.end_offset:
            return None
        return atom(f"move of {pointer}")

    def place_elsewhere(self, pointer: str) -> Polynomial | None:
        moved = self._loop is not None and pointer in self._anywhere - self.modified
        return atom(f"place of {pointer}") if moved else None

    def only_steps(self, pointer: str) -> bool:
        return all(node.opcode in _STEPS for node in self.function.everything() if written(node) == pointer)

    def _member(self, node: Node) -> Polynomial | None:
        base = node.children[0].bare() if node.children else node
        if base.kind != "DeclRefExpr" or base.reference is None or base.reference.id in self.modified:
            return None
        key = f"{base.reference.id}.{node.name}"
        self.names[key] = f"{base.reference.name}.{node.name.removeprefix('.')}"
        return atom(key)


@dataclass(frozen=True)
class RowLoop:
    """A loop whose turns go round the lanes. `sums`: elements of memory that it adds to in every turn."""

    loop: Node
    walk: Walk
    carried: tuple[Reduction, ...]
    sums: tuple[Access, ...]
    neighbours: bool  # does it touch neighbouring elements in neighbouring turns, and nothing far apart but that?
    abreast: bool  # do neighbouring threads touch neighbouring elements in each turn, and nothing far apart but that?

    @property
    def counter(self) -> Node:
        return self.walk.counter


def lds_variables(function: Node) -> frozenset[str]:
    """Ids of what the function declares in LDS."""
    return frozenset(node.id for node in function.everything() if node.kind == "VarDecl" and is_shared(node))


def row_loop(problem: Problem, place: Place, function: Node, loop: Node) -> RowLoop:
    """Raises `NotApplicable` where the turns depend on one another, or their number on the lane."""
    walk = walk_of(place, function, loop)
    counter = walk.counter
    algebra = RowAlgebra(function, loop)
    follow(algebra, function, loop, walk)
    shared = lds_variables(function)
    inside = frozenset(node.id for node in loop.everything() if node.kind == "VarDecl")
    _check_header(place, loop, walk, shared)
    turn = loop.children[-1]
    for jump in exits(turn):
        if jump.kind != "ContinueStmt" and not _of_inner(jump, loop):
            raise NotApplicable(f"{place}: line {jump.line} leaves the loop on line {loop.line} early")
    known = inside | shared | walk.moved  # LDS is memory
    pair = scaled_sum(loop, known)
    if pair is not None and pair.scaled is not None:
        known |= {pair.variable, pair.scaled[0].variable}
    carried = (*reductions(place, loop, known, counter, problem), *([pair] if pair is not None else []))
    sums_of_objects = {id(item.update) for item in carried}
    for node in turn.everything():
        if node.kind in ("LambdaExpr", "CXXNewExpr") or "Asm" in node.kind:
            raise NotApplicable(f"{place}: line {node.line} holds a {node.kind}, which is not followed")
        if node.kind in METHOD_CALLS and id(node) not in sums_of_objects:
            Independence(problem, place, function, loop, counter.id).check_method(node)
        if node.kind == "CallExpr" and not _adds_up(node):
            check_call(Independence(problem, place, function, loop, counter.id), problem, place, function, node)
    found = list(accesses(turn, shared))
    before: tuple[Node, ...] = ()
    if walk.is_plain and (scan := memory_scan(loop, found, algebra, TURN)) is not None and scan.through is not None:
        carried, before = (*carried, scan), (scan.through[1],)
    if any(item.scanned for item in carried) and (len(carried) > 1 or list(exits(turn))):
        raise NotApplicable(f"{place}: the loop on line {loop.line} carries more than one running sum")
    if walk.moves[0].down and any(item.place is not None for item in carried):
        raise NotApplicable(f"{place}: the loop on line {loop.line} keeps the last place of an extreme")
    if any(item.scanned for item in carried) and not walk.is_plain:
        raise NotApplicable(
            f"{place}: the loop on line {loop.line} carries a running sum, and moves more than a counter"
        )
    sums = tuple(_memory_sums(problem, place, loop, found, algebra))
    kept = [item for item in found if item not in sums and item.whole.bare() not in before]
    _check_memory(place, loop, kept, algebra)
    algebra.inner = {node.id for node in turn.everything() if node.kind == "VarDecl" and _counts_a_loop(node)}
    return RowLoop(loop, walk, carried, sums, _neighbours(found, algebra), _abreast(found, algebra))


def _adds_up(call: Node) -> bool:
    """An atomic that is as good in another order, for which one lane issues what one turn did."""
    return callee_name(call) in (*COMMUTING, "unsafeAtomicAdd") and not value_used(call)


def _counts_a_loop(variable: Node) -> bool:
    statement = variable.parent
    around = statement.parent if statement is not None else None
    return around is not None and around.kind == "ForStmt" and around.children[0] is statement


def _of_inner(jump: Node, loop: Node) -> bool:
    if jump.kind not in ("BreakStmt", "ContinueStmt"):
        return False
    loops = ("ForStmt", "WhileStmt", "DoStmt", "SwitchStmt")
    return next((parent for parent in jump.ancestors() if parent.kind in loops), None) is not loop


def _check_header(place: Place, loop: Node, walk: Walk, shared: frozenset[str]) -> None:
    changed = {identity for node in loop.everything() if (identity := written(node)) is not None}
    changed |= {node.id for node in loop.children[-1].everything() if node.kind == "VarDecl"}
    pending = [] if walk.moves[0].in_condition else [condition_of(loop)]
    while pending:
        test = pending.pop().bare()
        if test.kind == "BinaryOperator" and test.opcode == "&&":
            pending += test.children
            continue
        sides = counted_side(test, walk.moves[0].down)
        counted, opcode, limit = sides if sides is not None else (test, "", test)
        counted, limit = counted.bare(), limit.bare()
        while counted.kind in _CASTS:
            counted = counted.children[-1].bare()
        if opcode == "!=" and limit.reference is not None and limit.reference.id == walk.counter.id:
            counted, limit = limit, counted
        counts = counted.reference is not None and counted.reference.id == walk.counter.id
        steady = not any(node.reference is not None and node.reference.id in changed for node in limit.everything())
        stores = any(item.stores for item in accesses(loop.children[-1], shared))
        reads = list(accesses(limit, shared)) or "Call" in limit.kind
        if not opcode or not counts or not steady or (opcode == "!=" and not _meets(walk)):
            raise NotApplicable(f"{place}: the loop on line {loop.line} has a condition other than an upper limit")
        if stores and reads:
            raise NotApplicable(f"{place}: the loop on line {loop.line} reads its limit from memory in every turn")


def _meets(walk: Walk) -> bool:
    """Would a walk that begins beyond its end leave the array, or overflow?"""
    start = initializer(walk.counter)
    natural = start is not None and start.bare().value == "0"
    return walk.moves[0].is_pointer or natural or not walk.counter.canonical.startswith("unsigned")


def _memory_sums(problem: Problem, place: Place, loop: Node, found: list[Access], algebra: Algebra) -> list[Access]:
    """`y[i] += e` with an `i` that stays: an element that could as well be a variable."""
    addresses = Addresses(algebra)
    sums = []
    for item in found:
        element = addresses.element(item.place)
        user = item.whole.parent
        steady = element.index is not None and TURN not in element.index.atoms
        adds = user is not None and user.kind == "CompoundAssignOperator" and user.opcode in ("+=", "-=")
        if not (item.stores and steady and adds):
            continue
        others = [
            other
            for other in found
            if other is not item
            and addresses.element(other.place).root == element.root
            and not other_members(problem.task.sources, item, other)
        ]
        if others or item.whole.canonical not in INTEGERS | FLOATS or not element.root:
            raise NotApplicable(f"{place}: line {item.place.line} adds to memory that the loop uses otherwise, too")
        sums.append(item)
    return sums


def _check_memory(place: Place, loop: Node, found: list[Access], algebra: Algebra) -> None:
    """Each turn may write elements of its own only, and read of the same array what it writes."""
    addresses = Addresses(algebra)
    written_at: dict[str, list[Polynomial]] = {}
    known = positive(algebra, loop) | divisors(algebra, loop)
    for item in found:
        element = addresses.element(item.place)
        if not item.stores or item.atomic:
            continue
        own = element.index is not None and _moves(element.index, known)
        if not element.root or element.index is None or not own:
            raise NotApplicable(f"{place}: line {item.place.line} writes to more than the turn's own element")
        mine = written_at.setdefault(element.root, [])
        if not all(_of_one_turn(element.index, other) for other in mine):
            raise NotApplicable(f"{place}: line {item.place.line} writes to another element of the same array")
        mine.append(element.index)
    _check_atomics(place, found, addresses)
    for item in found:
        element = addresses.element(item.place)
        if item.atomic and element.root not in written_at:
            continue
        index, mine = element.index, written_at.get(element.root, [])
        if mine and (index is None or item.atomic or not all(_of_one_turn(index, other) for other in mine)):
            raise NotApplicable(
                f"{place}: line {item.place.line} uses another element of an array that the loop writes"
            )
        if written_at and not element.root:
            raise NotApplicable(f"{place}: line {item.place.line} reads what may be written in the loop")


def _of_one_turn(one: Polynomial, other: Polynomial) -> bool:
    """Is it the same element, or one that no other turn has, as `2 * i` and `2 * i + 1`?"""
    apart, step = (one - other).terms, one.factor_of(TURN).terms
    if not apart:
        return True
    return set(apart) == {()} and set(step) == {()} and apart[()] % step[()] != 0


def _check_atomics(place: Place, found: list[Access], addresses: Addresses) -> None:
    """Raise `NotApplicable` unless what atomics change is left alone by all but atomics of the same kind."""
    kinds: dict[str, str] = {}
    for item in (each for each in found if each.atomic):
        call = next(up for up in item.place.ancestors() if up.kind == "CallExpr")
        root = addresses.element(item.place).root
        if not root or kinds.setdefault(root, callee_name(call)) != callee_name(call):
            raise NotApplicable(f"{place}: line {item.place.line} changes what another atomic may change")
    for item in found:
        if kinds and not item.atomic and addresses.element(item.place).root in {*kinds, ""}:
            raise NotApplicable(f"{place}: line {item.place.line} uses what an atomic of the loop may change")


def _moves(index: Polynomial, known: frozenset[str]) -> bool:
    """Is it another element in each turn? `known` are not zero."""
    step = index.factor_of(TURN)
    far = len(step.terms) == 1 and all(set(names) <= known for names in step.terms)
    return far and not any(m.count(TURN) > 1 for m in index.terms)


def _neighbours(found: list[Access], algebra: Algebra) -> bool:
    addresses = Addresses(algebra)
    near = far = 0
    for item in found:
        index = addresses.element(item.place).index
        if index is None or TURN not in index.atoms:
            continue
        step = index.factor_of(TURN)
        small = set(step.terms) == {()} and abs(step.terms[()]) <= 4
        near, far = near + small, far + (not small)
    return near > far


def _abreast(found: list[Access], algebra: RowAlgebra) -> bool:
    addresses = Addresses(algebra)
    side_by_side = ("threadIdx.x", *_remainders(algebra))
    near = far = 0
    for item in found:
        index = addresses.element(item.place).index
        if index is None:
            return False
        step = sum((index.factor_of(name) for name in side_by_side), constant(0))
        if step.terms and TURN in index.atoms:
            small = set(step.terms) == {()} and abs(step.terms[()]) <= 2
            near, far = near + small, far + (not small)
    return near > far


def _remainders(algebra: RowAlgebra) -> Iterator[str]:
    """Variables that are the thread's number modulo something: mostly one more in the next thread."""
    numbers = Algebra(algebra.function)
    for identity, variable in algebra.declared.items():
        initial = initializer(variable)
        root = initial.bare() if initial is not None else None
        if root is not None and root.opcode == "%" and identity not in numbers.modified:
            number = numbers.polynomial(root.children[0])
            if number is not None and number.factor_of("threadIdx.x") == constant(1):
                yield identity


def same_lane(loops: list[RowLoop], function: Node, root: str) -> Polynomial | None:
    """The index that all of the loops use of an array, if lanes meet only what they wrote themselves."""
    seen: list[tuple[Polynomial, Polynomial]] = []
    shared = lds_variables(function)
    for row in loops:
        algebra = RowAlgebra(function)
        first = follow(algebra, function, row.loop, row.walk)
        addresses = Addresses(algebra)
        for item in accesses(row.loop.children[-1], shared):
            element = addresses.element(item.place)
            if element.root != root:
                continue
            if element.index is None or first is None:
                return None
            seen.append((element.index, first))
    alike_all = all(not (i - seen[0][0]).terms and not (f - seen[0][1]).terms for i, f in seen)
    return seen[0][0] if seen and alike_all else constant(0) if not seen else None
