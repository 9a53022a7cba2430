"""Loops along a row whose turns the lanes of a group can share out, and the text that does so."""

from __future__ import annotations

from dataclasses import dataclass

from intelliperf.codegen.rules import groups
from intelliperf.codegen.rules.addresses import Access, Addresses, accesses
from intelliperf.codegen.rules.guards import line_starts, statement_end
from intelliperf.codegen.rules.independence import Independence
from intelliperf.codegen.rules.lanes import initializer, written
from intelliperf.codegen.rules.lds_arrays import is_shared
from intelliperf.codegen.rules.loops import counter_of
from intelliperf.codegen.rules.memory_scans import first_value, memory_scan
from intelliperf.codegen.rules.methods import METHOD_CALLS
from intelliperf.codegen.rules.polynomials import Algebra, Polynomial, atom, constant
from intelliperf.codegen.rules.positive import positive
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem
from intelliperf.codegen.rules.readers import check_call
from intelliperf.codegen.rules.reductions import Reduction, reductions
from intelliperf.codegen.rules.uniformity import exits
from intelliperf.codegen.rules.wave_aggregate_atomics import FLOATS, INTEGERS
from intelliperf.codegen.syntax.source import Source
from intelliperf.codegen.syntax.tree import Node

_LOOPS = ("ForStmt", "WhileStmt", "DoStmt")
_CASTS = ("CStyleCastExpr", "CXXStaticCastExpr", "CXXFunctionalCastExpr")
_CALLS = ("CallExpr", *METHOD_CALLS)
_COUNTER = "counter of the row"
_ZERO = ("0", "0.0", "0.", "0.0f", "0.f", "0u", "0l", "0ul", "0ll", "0ull")


class RowAlgebra(Algebra):
    """Polynomials within a row: what is set once is a value of its own, whatever thread it belongs to.

    Within `loop`, if one is given, so is what only changes outside of it.
    """

    def __init__(self, function: Node, loop: Node | None = None) -> None:
        super().__init__(function)
        self.inner: set[str] = set()  # counters of loops within, which choices between proven rewrites read
        self._anywhere, self._loop, self._shared = self.modified, loop, lds_variables(function)
        if loop is not None:
            self.modified = {identity for node in loop.everything() if (identity := written(node)) is not None}

    def _variable(self, node: Node) -> Polynomial | None:
        reference = node.reference
        if reference is not None and reference.id in self.inner:
            return atom(reference.id)
        if reference is None or reference.id in self.modified - self.free:
            return None
        if reference.id in self.free:
            return atom(_COUNTER)
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
        return found if found is not None else self._read_once(expression.bare())

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
    counter: Node
    carried: tuple[Reduction, ...]
    sums: tuple[Access, ...]
    neighbours: bool  # does it touch neighbouring elements in neighbouring turns, and nothing far apart but that?
    abreast: bool  # do neighbouring threads touch neighbouring elements in each turn, and nothing far apart but that?


def lds_variables(function: Node) -> frozenset[str]:
    """Ids of what the function declares in LDS."""
    return frozenset(node.id for node in function.everything() if node.kind == "VarDecl" and is_shared(node))


def row_loop(problem: Problem, place: Place, function: Node, loop: Node) -> RowLoop:
    """Raises `NotApplicable` where the turns depend on one another, or their number on the lane."""
    counter = counter_of(place, loop)
    algebra = RowAlgebra(function, loop)
    algebra.free.add(counter.id)
    shared = lds_variables(function)
    inside = frozenset(node.id for node in loop.everything() if node.kind == "VarDecl")
    _check_header(place, loop, counter, inside, shared)
    turn = loop.children[-1]
    for jump in exits(turn):
        if jump.kind != "ContinueStmt" and not _of_inner(jump, loop):
            raise NotApplicable(f"{place}: line {jump.line} leaves the loop on line {loop.line} early")
    carried = tuple(reductions(place, loop, inside | shared, counter, problem))  # LDS is memory
    sums_of_objects = {id(item.update) for item in carried}
    for node in turn.everything():
        if node.kind in ("LambdaExpr", "CXXNewExpr") or "Asm" in node.kind:
            raise NotApplicable(f"{place}: line {node.line} holds a {node.kind}, which is not followed")
        if node.kind in METHOD_CALLS and id(node) not in sums_of_objects:
            Independence(problem, place, function, loop, counter.id).check_method(node)
        if node.kind == "CallExpr":
            check_call(Independence(problem, place, function, loop, counter.id), problem, place, function, node)
    found = list(accesses(turn, shared))
    before: tuple[Node, ...] = ()
    if (scan := memory_scan(loop, found, algebra, _COUNTER)) is not None and scan.through is not None:
        carried, before = (*carried, scan), (scan.through[1],)
    if any(item.scanned for item in carried) and (len(carried) > 1 or list(exits(turn))):
        raise NotApplicable(f"{place}: the loop on line {loop.line} carries more than one running sum")
    sums = tuple(_memory_sums(place, loop, found, algebra))
    kept = [item for item in found if item not in sums and item.whole.bare() not in before]
    _check_memory(place, loop, kept, algebra)
    algebra.inner = {node.id for node in turn.everything() if node.kind == "VarDecl" and _counts_a_loop(node)}
    return RowLoop(loop, counter, carried, sums, _neighbours(found, algebra), _abreast(found, algebra))


def _counts_a_loop(variable: Node) -> bool:
    statement = variable.parent
    around = statement.parent if statement is not None else None
    return around is not None and around.kind == "ForStmt" and around.children[0] is statement


def _of_inner(jump: Node, loop: Node) -> bool:
    if jump.kind not in ("BreakStmt", "ContinueStmt"):
        return False
    loops = ("ForStmt", "WhileStmt", "DoStmt", "SwitchStmt")
    return next((parent for parent in jump.ancestors() if parent.kind in loops), None) is not loop


def _check_header(place: Place, loop: Node, counter: Node, inside: frozenset[str], shared: frozenset[str]) -> None:
    changed = {identity for node in loop.everything() if (identity := written(node)) is not None} - {counter.id}
    pending = [loop.children[2]]
    while pending:
        test = pending.pop().bare()
        if test.kind == "BinaryOperator" and test.opcode == "&&":
            pending += test.children
            continue
        sides = [child.bare() for child in test.children]
        while sides and sides[0].kind in ("CStyleCastExpr", "CXXStaticCastExpr", "CXXFunctionalCastExpr"):
            sides[0] = sides[0].children[-1].bare()
        counts = bool(sides) and sides[0].reference is not None and sides[0].reference.id == counter.id
        steady = len(sides) == 2 and not any(
            node.reference is not None and node.reference.id in changed | inside for node in sides[1].everything()
        )
        stores = any(item.stores for item in accesses(loop.children[-1], shared))
        reads = len(sides) == 2 and (list(accesses(sides[1], shared)) or "Call" in sides[1].kind)
        if test.kind != "BinaryOperator" or test.opcode not in ("<", "<=") or not counts or not steady:
            raise NotApplicable(f"{place}: the loop on line {loop.line} has a condition other than an upper limit")
        if stores and reads:
            raise NotApplicable(f"{place}: the loop on line {loop.line} reads its limit from memory in every turn")


def _memory_sums(place: Place, loop: Node, found: list[Access], algebra: Algebra) -> list[Access]:
    """`y[i] += e` with an `i` that stays: an element that could as well be a variable."""
    addresses = Addresses(algebra)
    sums = []
    for item in found:
        element = addresses.element(item.place)
        user = item.whole.parent
        steady = element.index is not None and _COUNTER not in element.index.atoms
        adds = user is not None and user.kind == "CompoundAssignOperator" and user.opcode in ("+=", "-=")
        if not (item.stores and steady and adds):
            continue
        others = [other for other in found if other is not item and addresses.element(other.place).root == element.root]
        if others or item.whole.canonical not in INTEGERS | FLOATS or not element.root:
            raise NotApplicable(f"{place}: line {item.place.line} adds to memory that the loop uses otherwise, too")
        sums.append(item)
    return sums


def _check_memory(place: Place, loop: Node, found: list[Access], algebra: Algebra) -> None:
    """Each turn may write elements of its own only, and read of the same array what it writes."""
    addresses = Addresses(algebra)
    written_at: dict[str, Polynomial] = {}
    known = positive(algebra, loop)
    for item in found:
        element = addresses.element(item.place)
        if not item.stores or item.atomic:
            continue
        own = element.index is not None and _moves(element.index, known)
        if not element.root or element.index is None or not own:
            raise NotApplicable(f"{place}: line {item.place.line} writes to more than the turn's own element")
        if written_at.setdefault(element.root, element.index).terms != element.index.terms:
            raise NotApplicable(f"{place}: line {item.place.line} writes to another element of the same array")
    for item in found:
        element = addresses.element(item.place)
        if item.atomic and element.root not in written_at:
            continue
        if element.root in written_at and (
            element.index is None or (element.index - written_at[element.root]).terms or item.atomic
        ):
            raise NotApplicable(
                f"{place}: line {item.place.line} uses another element of an array that the loop writes"
            )
        if written_at and not element.root:
            raise NotApplicable(f"{place}: line {item.place.line} reads what may be written in the loop")


def _moves(index: Polynomial, known: frozenset[str]) -> bool:
    """Is it another element in each turn? `known` are more than zero."""
    step = index.factor_of(_COUNTER)
    far = len(step.terms) == 1 and all(set(names) <= known for names in step.terms)
    return far and not any(m.count(_COUNTER) > 1 for m in index.terms)


def _neighbours(found: list[Access], algebra: Algebra) -> bool:
    addresses = Addresses(algebra)
    near = far = 0
    for item in found:
        index = addresses.element(item.place).index
        if index is None or _COUNTER not in index.atoms:
            continue
        step = index.factor_of(_COUNTER)
        small = set(step.terms) == {()} and abs(step.terms[()]) <= 4
        near, far = near + small, far + (not small)
    return near > far


def _abreast(found: list[Access], algebra: Algebra) -> bool:
    addresses = Addresses(algebra)
    near = far = 0
    for item in found:
        index = addresses.element(item.place).index
        if index is None:
            return False
        step = index.factor_of("threadIdx.x")
        if step.terms and _COUNTER in index.atoms:
            small = set(step.terms) == {()} and abs(step.terms[()]) <= 2
            near, far = near + small, far + (not small)
    return near > far


def same_lane(loops: list[RowLoop], function: Node, root: str) -> Polynomial | None:
    """The index that all of the loops use of an array, if lanes meet only what they wrote themselves."""
    seen: list[tuple[Polynomial, Polynomial]] = []
    shared = lds_variables(function)
    for row in loops:
        algebra = RowAlgebra(function)
        algebra.free.add(row.counter.id)
        start = initializer(row.counter)
        first = algebra.polynomial(start) if start is not None else None
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


@dataclass(frozen=True)
class Words:
    """Names and helpers that the rewritten text uses; `helper` declares one and returns its name."""

    lane: str
    sharing: groups.Sharing
    part: str
    meet: str  # a call with its semicolon that makes the lanes' stores known to each other, or ""


def renders(reduction: Reduction, cuda: bool, sharing: groups.Sharing, name: str) -> str:
    """The helper that puts the lanes' parts together."""
    if reduction.place is not None:
        return groups.first_extreme(name, ">" if reduction.kind.startswith("greatest") else "<", cuda, sharing)
    if reduction.whole:
        return groups.object_sum(name, reduction.members, cuda, sharing)
    if reduction.scanned:
        return groups.scan(name, reduction.combine, cuda)
    return groups.reduction(name, reduction.combine, cuda, sharing)


def starts_neutral(function: Node, row: RowLoop, reduction: Reduction) -> bool:
    """Is the variable declared as nothing right before the loop, so that every lane begins with the neutral value?"""
    if reduction.neutral != "0" or reduction.whole:
        return False
    declared = next((n for n in function.walk() if n.kind == "VarDecl" and n.id == reduction.variable), None)
    initial = initializer(declared) if declared is not None else None
    if declared is None or initial is None or declared.parent is None or declared.parent.parent is not row.loop.parent:
        return False
    literal = initial.bare()
    zero = literal.kind in ("IntegerLiteral", "FloatingLiteral") and float(literal.value or "1") == 0
    between = [
        node
        for node in function.walk()
        if written(node) == reduction.variable and declared.end_offset < node.start_offset < row.loop.start_offset
    ]
    return zero and not between


def walk_by(source: Source, place: Place, row: RowLoop, number: str, step: str) -> None:
    """Write the loop's header for the one with that number among `step` that share its turns."""
    loop, counter = row.loop, row.counter
    initial, count, inside = initializer(counter), loop.children[3], loop.children[-1]
    if initial is None or loop.in_macro or count.in_macro or inside.in_macro:
        raise NotApplicable(f"{place}: the loop on line {loop.line} is written by a macro")
    if initial.begin is None or initial.end is None or initial.begin.macro or initial.end.macro:
        raise NotApplicable(f"{place}: the first value of the loop on line {loop.line} is written by a macro")
    text = source.slice(initial.start_offset, initial.end_offset)
    source.replace(initial.start_offset, initial.end_offset, number if text in _ZERO else f"{text} + {number}")
    source.replace(count.start_offset, count.end_offset, f"{counter.name} += {step}")


def share_out(
    source: Source, place: Place, row: RowLoop, words: Words, helpers: dict[str, str], plain: set[str]
) -> None:
    """Write the loop for the lanes. `helpers`: by the variable carried; `plain`: variables that begin neutral."""
    loop = row.loop
    walk_by(source, place, row, words.lane, str(words.sharing.lanes))
    before: list[str] = [words.meet] if words.meet else []
    after: list[str] = []
    for item in row.carried:
        if item.scanned:
            total = _scan(source, place, row, item, words, helpers)
            if item.through is not None:
                first = first_value(source, place, loop, row.counter, item.through[1])
                before.append(f"{item.type} {total} = {first};")
            continue
        if item.neutral is not None and item.variable not in plain:
            cleared = f"memset(&{item.name}, 0, sizeof({item.name}))" if item.whole else f"{item.name} = {item.neutral}"
            before.append(f"if ({words.lane} != 0) {cleared};")
        helper = helpers[item.variable]
        if item.place is not None:
            after.append(f"{helper}({item.name}, {item.place[1]});")
        else:
            after.append(f"{item.name} = {helper}({item.name});")
    for number, added in enumerate(row.sums):
        name = words.part + (f"_{number + 1}" if number else "")
        target = source.slice(added.whole.start_offset, added.whole.end_offset)
        source.replace(added.whole.start_offset, added.whole.end_offset, name)
        before.append(f"{added.whole.type.replace('const ', '')} {name} = 0;")
        after.append(f"{name} = {helpers['']}({name});")
        after.append(f"if ({words.lane} == 0) {target} += {name};")
    _around(source, loop, before, after)


def _around(source: Source, loop: Node, before: list[str], after: list[str]) -> None:
    """Statements in front of and behind the loop, in braces where it stands alone."""
    if not before and not after:
        return
    whole, parent = loop, loop.parent
    while parent is not None and parent.kind == "AttributedStmt":
        whole, parent = parent, parent.parent
    alone = parent is None or parent.kind != "CompoundStmt"
    indent = source.indentation(whole.start_offset)
    end = statement_end(source, loop.children[-1])
    lead = "".join(f"{line}\n{indent}" for line in before)
    source.insert(whole.start_offset, f"{{\n{indent}{lead}" if alone else lead)
    tail = "".join(f"\n{indent}{line}" for line in after)
    source.insert(end, f"{tail}\n{indent}}}" if alone else tail)


def _scan(source: Source, place: Place, row: RowLoop, item: Reduction, words: Words, helpers: dict[str, str]) -> str:
    """The name of the sum.

    All lanes take each turn; those beyond the end add nothing, so that the last lane has the sum of all.
    """
    loop, counter, turn = row.loop, row.counter, row.loop.children[-1]
    update, alone = item.update, item.update is turn
    if not alone and (turn.kind != "CompoundStmt" or not turn.children or turn.children[0] is not update):
        raise NotApplicable(f"{place}: the running sum is not the first thing that the loop on line {loop.line} does")
    condition = loop.children[2]
    text = source.slice(condition.start_offset, condition.end_offset)
    if any(name.in_macro for name in condition.walk() if _counts(name, counter)) or update.in_macro:
        raise NotApplicable(f"{place}: the condition of the loop on line {loop.line} is written by a macro")
    indent = source.indentation(update.start_offset)
    operand = item.through[2] if item.through else update.children[1]
    value = source.slice(operand.start_offset, operand.end_offset)
    for name in condition.walk():
        if _counts(name, counter):
            source.replace(name.start_offset, name.end_offset, f"({counter.name} - {words.lane})")
    own, total, store = f"{words.part}_here", item.name, []
    if item.through is not None:
        total = _new(source, f"{words.part}_sum")
        stored, read, _ = item.through
        store = [f"  {source.slice(stored.start_offset, stored.end_offset)} = {total};"]
    kind = f"decltype({total})"
    lines = [
        f"const bool {own} = {text};",
        f"{total} += {helpers[item.variable]}({own} ? static_cast<{kind}>({value}) : {kind}(0));",
        f"if ({own}) {{",
        *store,
    ]
    last = f"{total} = {helpers['last']}({total});"
    end = statement_end(source, update)
    if alone:
        lines = ["{", *(f"  {line}" for line in (*lines, "}", last)), "}"]
        source.replace(update.start_offset, end, f"\n{indent}".join(lines))
    else:
        source.replace(update.start_offset, end, f"\n{indent}".join(lines))
        _close_own(source, turn, end, indent, last)
    return total


def _new(source: Source, base: str) -> str:
    """`base`, or with a number, so that an earlier loop of the function does not declare it, too."""
    declared = [f" {base}{number} = " for number in ("", *range(2, 100))]
    name = next(each for each in declared if not any(each in splice.text for splice in source.splices))
    return name.split()[0]


def _close_own(source: Source, turn: Node, start: int, indent: str, last: str) -> None:
    """The end of what a lane does for its own turn, and of the turn."""
    closing = turn.end_offset - 1
    line = source.data.rfind(b"\n", 0, closing) + 1
    alone = not source.data[line:closing].strip()
    for offset in line_starts(source, start, line if alone else closing):
        source.insert(offset, "  ")
    end = f"{indent}}}\n{indent}{last}\n"
    source.insert(line if alone else closing, end if alone else f"\n{end}")


def _counts(name: Node, counter: Node) -> bool:
    return name.kind == "DeclRefExpr" and name.reference is not None and name.reference.id == counter.id
