"""How a loop goes along a row: by a counter, by pointers that it moves, or by both.

`for (int i = 0; i < n; ++i)`, `while (p != end) sum += *p++;` and `for (; p < end; ++p, ++q)` take the same turns. The
one that the condition compares is the counter; what else moves by the same amount in every turn goes with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from intelliperf.codegen.rules.addresses import Addresses
from intelliperf.codegen.rules.guards import remove_statement, statement_end
from intelliperf.codegen.rules.lanes import initializer, written
from intelliperf.codegen.rules.lds_arrays import is_shared
from intelliperf.codegen.rules.loops import counter_of
from intelliperf.codegen.rules.polynomials import Algebra, Polynomial, atom, constant
from intelliperf.codegen.rules.problem import NotApplicable, Place
from intelliperf.codegen.rules.statements import is_spelled_out, pointee
from intelliperf.codegen.rules.uniformity import exits
from intelliperf.codegen.rules.wave_aggregate_atomics import INTEGERS
from intelliperf.codegen.syntax.source import Source
from intelliperf.codegen.syntax.tree import Node

TURN = "counter of the row"  # the atom that numbers the turns: the counter's value where that is a number
_LOOPS = ("ForStmt", "WhileStmt", "DoStmt")


@dataclass(frozen=True)
class Move:
    """A variable, and the expression that moves it in every turn. `amount`: how far; None: by one, perhaps `down`."""

    variable: Node
    step: Node
    amount: Node | None
    in_header: bool
    declared_by_loop: bool
    down: bool = False
    in_condition: bool = False  # as `while (n--)`, whose turns see it after its step

    @property
    def sign(self) -> str:
        return "-" if self.down else "+"

    @property
    def is_pointer(self) -> bool:
        return pointee(self.variable.canonical) is not None


@dataclass(frozen=True)
class Walk:
    counter: Node
    moves: tuple[Move, ...]  # the counter's own is the first

    @property
    def is_plain(self) -> bool:
        """Does the loop's header declare and move the counter, and nothing else move?"""
        first = self.moves[0]
        simple = first.in_header and first.declared_by_loop and not first.is_pointer and not first.down
        return len(self.moves) == 1 and simple

    @property
    def moved(self) -> frozenset[str]:
        return frozenset(move.variable.id for move in self.moves)


def condition_of(loop: Node) -> Node:
    return loop.children[2] if loop.kind == "ForStmt" else loop.children[0]


def comparison(test: Node) -> tuple[Node, str, Node] | None:
    """A comparison with what counts up on its left, as in `i < n` or `n > i`."""
    node = test.bare()
    if node.kind != "BinaryOperator" or node.opcode not in ("<", "<=", ">", ">=", "!="):
        return None
    left, right = node.children
    if node.opcode.startswith(">"):
        return right, node.opcode.replace(">", "<"), left
    return left, node.opcode, right


def walk_of(place: Place, function: Node, loop: Node) -> Walk:
    """Raises `NotApplicable` where the loop does not go along a row, or where others see what it moves."""
    moves = list(_moves(function, loop))
    compared = {down: _compared(condition_of(loop), down) for down in (False, True)}
    counts = (move for move in moves if move.variable.id in compared[move.down] and move.amount is None)
    counter = next((move for move in moves if move.in_condition), None) or next(counts, None)
    if counter is None:
        if loop.kind != "ForStmt":
            raise NotApplicable(f"{place}: the loop on line {loop.line} does not count up by one")
        counted = counter_of(place, loop)
        if counted.id not in compared[False]:
            raise NotApplicable(f"{place}: the loop on line {loop.line} has a condition other than an upper limit")
        counter = Move(counted, loop.children[3].bare(), None, True, True)
    others = [move for move in moves if move is not counter and (move.is_pointer or _is_read(loop, move))]
    others = [move for move in others if not move.down]
    walk = Walk(counter.variable, (counter, *others))
    known = {id(move.step) for move in walk.moves}
    if loop.kind == "ForStmt" and any(id(part) not in known for part in _parts(loop.children[3])):
        raise NotApplicable(f"{place}: the loop on line {loop.line} does more than count up by one")
    for move in walk.moves:
        _check_seen(place, function, loop, move)
    return walk


def counted_side(test: Node, down: bool) -> tuple[Node, str, Node] | None:
    """What counts, how it is compared and with what; one that counts down is on the other side."""
    sides = comparison(test)
    if sides is None or not down or sides[1] == "!=":
        return sides
    return sides[2], sides[1], sides[0]


def _compared(condition: Node, down: bool) -> set[str]:
    pending, found = [condition], set()
    while pending:
        node = pending.pop().bare()
        if node.kind == "BinaryOperator" and node.opcode == "&&":
            pending += node.children
        elif (sides := counted_side(node, down)) is not None:
            for side in (sides[0], sides[2]) if sides[1] == "!=" else (sides[0],):
                counted = side.bare()
                while counted.kind in ("CStyleCastExpr", "CXXStaticCastExpr", "CXXFunctionalCastExpr"):
                    counted = counted.children[-1].bare()
                if counted.kind == "DeclRefExpr" and counted.reference is not None:
                    found.add(counted.reference.id)
    return found


def _parts(expression: Node) -> list[Node]:
    """Of a comma's sides."""
    node = expression.bare()
    if node.kind == "BinaryOperator" and node.opcode == ",":
        return [part for child in node.children for part in _parts(child)]
    return [] if node.kind == "Empty" else [node]


def _moves(function: Node, loop: Node) -> Iterator[Move]:
    """Numbers and pointers from outside of the turns that each turn moves once, always by the same amount."""
    header = _parts(loop.children[3]) if loop.kind == "ForStmt" else []
    declared = {
        node.id: node
        for node in function.everything()
        if node.kind in ("VarDecl", "ParmVarDecl") and not is_shared(node) and node.storage != "static"
    }
    by_variable: dict[str, list[Node]] = {}
    for node in loop.everything():
        if (identity := written(node)) is not None:
            by_variable.setdefault(identity, []).append(node)
    inside = {node.id for node in loop.children[-1].everything() if node.kind == "VarDecl"}
    changed = set(by_variable)
    for identity, writes in by_variable.items():
        variable = declared.get(identity)
        if variable is None or identity in inside or len(writes) != 1 or variable.canonical.endswith("&"):
            continue
        pointer = pointee(variable.canonical) is not None
        if not pointer and variable.canonical not in INTEGERS:
            continue
        (step,) = writes
        in_header = any(step is part for part in header)
        is_step, amount = _amount(step, identity, changed | inside)
        down = "-" in step.opcode
        if down and not pointer and step is _counted_down(loop) and not _is_unsigned(variable):
            yield Move(variable, step, None, False, False, True, True)
            continue
        if down and (pointer or _is_unsigned(variable)):
            continue  # which cannot go below nothing
        if is_step and (in_header or _in_every_turn(loop, step, identity)):
            own = loop.kind == "ForStmt" and any(variable is node for node in loop.children[0].everything())
            yield Move(variable, step, amount, in_header, own, down)


def _is_unsigned(variable: Node) -> bool:
    return variable.canonical.startswith("unsigned")


def _counted_down(loop: Node) -> Node | None:
    """`n--` in `while (n--)`, `while (n-- > 0)` or `for (; n-- != 0;)` whose turns all end in the same way."""
    if loop.kind == "DoStmt" or any(jump.kind == "ContinueStmt" for jump in exits(loop.children[-1])):
        return None
    test = condition_of(loop).bare()
    if test.kind == "BinaryOperator" and test.opcode in (">", "!=") and test.children[1].bare().value == "0":
        test = test.children[0].bare()
    return test if test.kind == "UnaryOperator" and test.opcode == "--" and test.postfix else None


def _amount(step: Node, identity: str, unsteady: set[str]) -> tuple[bool, Node | None]:
    if step.kind == "UnaryOperator" and step.opcode in ("++", "--"):
        return True, None
    if step.kind == "BinaryOperator" and step.opcode == "=":
        total = step.children[1].bare()
        sides = [child.bare() for child in total.children] if total.opcode == "+" else []
        named = [side for side in sides if side.reference is not None and side.reference.id == identity]
        ones = [side for side in sides if side.kind == "IntegerLiteral" and side.value == "1"]
        return len(named) == 1 and len(ones) == 1, None
    if step.kind != "CompoundAssignOperator" or step.opcode not in ("+=", "-="):
        return False, None
    amount = step.children[1]
    if amount.bare().kind == "IntegerLiteral" and amount.bare().value == "1":
        return True, None
    if step.opcode == "-=":
        return False, None
    plain = all(
        node.kind in ("IntegerLiteral", "Coordinate", "ImplicitCastExpr", "ParenExpr", "BinaryOperator")
        or (node.kind == "DeclRefExpr" and node.reference is not None and node.reference.id not in unsteady)
        for node in amount.everything()
    )
    return plain and not amount.in_macro, amount


def _in_every_turn(loop: Node, step: Node, identity: str) -> bool:
    """As a statement of the body or, where its value is read, as `*p++`; nothing reads the variable afterwards."""
    turn = loop.children[-1]
    if any(jump.kind == "ContinueStmt" for jump in exits(turn)):
        return False
    statement = step
    for parent in step.ancestors():
        if parent is turn.parent or parent is turn and turn.kind == "CompoundStmt":
            break
        if parent.kind.endswith("Stmt") and parent.kind != "DeclStmt" or parent.opcode in ("&&", "||"):
            return False
        if parent.kind in ("ConditionalOperator", "LambdaExpr", "StmtExpr"):
            return False
        statement = parent
    alone = all(
        part.kind in ("UnaryOperator", "CompoundAssignOperator", "BinaryOperator") for part in _parts(statement)
    )
    alone = alone and any(part is step for part in _parts(statement))
    if alone and (turn.kind != "CompoundStmt" or len(_parts(statement)) > 1):
        return False
    if not alone and not (step.kind == "UnaryOperator" and step.postfix):
        return False
    for node in loop.everything():
        if node.kind == "DeclRefExpr" and node.reference is not None and node.reference.id == identity:
            own = any(up is step for up in node.ancestors())
            if not own and statement.start_offset <= node.start_offset < turn.end_offset:
                return False
    return not step.in_macro


def _is_read(loop: Node, move: Move) -> bool:
    """Does a turn use it, or is it just a count of turns, which a sum may be?"""
    own = {id(node) for node in move.step.everything()}
    uses = [node for node in loop.everything() if node.reference is not None and node.reference.id == move.variable.id]
    user = move.step.user()
    read = user is not None and not user.kind.endswith("Stmt") and user.opcode != ","
    return read or any(id(node) not in own for node in uses)


def _check_seen(place: Place, function: Node, loop: Node, move: Move) -> None:
    """Raise `NotApplicable` where something reads where the loop has left a variable."""
    if move.declared_by_loop:
        return
    name, identity = move.variable.name, move.variable.id
    for up in loop.ancestors():
        if up.kind in _LOOPS and all(up is not parent for parent in move.variable.ancestors()):
            raise NotApplicable(
                f"{place}: the loop on line {loop.line} moves {name} from one turn of the loop on line {up.line} "
                "to the next"
            )
    for node in function.everything():
        used = node.reference is not None and node.reference.id == identity
        if used and node.start_offset >= loop.end_offset:
            raise NotApplicable(f"{place}: line {node.line} uses {name}, which the loop on line {loop.line} moves")
        other = written(node) == identity and node is not move.step
        if other and not move.is_pointer:
            raise NotApplicable(
                f"{place}: line {node.line} changes {name}, by which the loop on line {loop.line} counts"
            )


def follow(algebra: Algebra, function: Node, loop: Node, walk: Walk) -> Polynomial | None:
    """Tell `algebra` where all that moves is in turn `TURN`. Returns what numbers the first turn."""
    first: Polynomial | None = constant(0)
    if not walk.moves[0].is_pointer and not walk.moves[0].down:
        algebra.free.add(walk.counter.id)
        start = initializer(walk.counter)
        first = algebra.polynomial(start) if start is not None else None
    since = atom(TURN) - (first if first is not None else atom(f"first turn of {loop.start_offset}"))
    for move in walk.moves:
        if move.variable.id in algebra.free:
            continue
        begin = _start(algebra, function, loop, move) - constant(1 if move.in_condition else 0)
        far = algebra.polynomial(move.amount) if move.amount is not None else constant(-1 if move.down else 1)
        if far is not None:
            algebra.walked[move.variable.id] = begin + since * far
    return first


def _start(algebra: Algebra, function: Node, loop: Node, move: Move) -> Polynomial:
    """Where it is before the first turn, counted from where its array begins; a value of its own where unknown."""
    initial = initializer(move.variable) if move.variable.kind == "VarDecl" else None
    writes = [node for node in function.everything() if written(node) == move.variable.id]
    known: Polynomial | None = None
    if len(writes) == 1:
        if move.variable.kind == "ParmVarDecl":
            known = constant(0) if move.is_pointer else None
        elif initial is not None and not _changes(function, initial):
            known = Addresses(algebra).pointer(initial).index if move.is_pointer else algebra.polynomial(initial)
    return known if known is not None else atom(f"start of {move.variable.id} at {loop.start_offset}")


def _changes(function: Node, expression: Node) -> bool:
    """May a variable of the expression have another value later?"""
    named = {node.reference.id for node in expression.everything() if node.reference is not None}
    return any(written(node) in named for node in function.everything())


def write_walk(source: Source, place: Place, loop: Node, walk: Walk, number: str, step: str) -> list[str]:
    """Let the loop take each `step`th turn from turn `number` on; returns what stands in front of it."""
    if loop.in_macro or loop.children[-1].in_macro or condition_of(loop).begin is None:
        raise NotApplicable(f"{place}: the loop on line {loop.line} is written by a macro")
    before: list[str] = []
    in_header: list[str] = []
    behind: list[str] = []
    for move in walk.moves:
        times = f" * ({source.slice(move.amount.start_offset, move.amount.end_offset)})" if move.amount else ""
        initial = initializer(move.variable)
        if move.declared_by_loop and initial is not None:
            if not is_spelled_out(source, initial):
                raise NotApplicable(f"{place}: the first value of the loop on line {loop.line} is written by a macro")
            first = _moved_start(source, initial, move.sign, f"{number}{times}")
            source.replace(initial.start_offset, initial.end_offset, first)
        else:
            before.append(f"{move.variable.name} {move.sign}= {number}{times};")
        if move.in_condition:
            behind.append(f"{move.variable.name} -= {int(step) - 1 if step.isdigit() else f'{step} - 1'}")
            continue
        (in_header if move.in_header else behind).append(f"{move.variable.name} {move.sign}= {step}{times}")
        if not move.in_header:
            _remove(source, move)
    if in_header:
        count = loop.children[3]
        source.replace(count.start_offset, count.end_offset, ", ".join(in_header))
    if behind:
        _append(source, loop.children[-1], [f"{text};" for text in behind])
    _bound(source, place, loop, walk)
    return before


def _moved_start(source: Source, initial: Node, sign: str, number: str) -> str:
    text, bare = source.slice(initial.start_offset, initial.end_offset), initial.bare()
    if bare.kind == "IntegerLiteral" and bare.value == "0" and sign == "+":
        return number
    loose = bare.kind == "ConditionalOperator" or (
        bare.kind == "BinaryOperator" and bare.opcode not in ("+", "-", "*", "/", "%") and initial.kind != "ParenExpr"
    )
    return f"({text}) {sign} {number}" if loose else f"{text} {sign} {number}"


def _remove(source: Source, move: Move) -> None:
    """The step from where it stands in the body."""
    user = move.step.user()
    if user is None or user.kind == "CompoundStmt":
        remove_statement(source, move.step)
    else:
        source.replace(move.step.start_offset, move.step.end_offset, move.variable.name)


def _append(source: Source, turn: Node, statements: list[str]) -> None:
    if turn.kind != "CompoundStmt":
        source.insert(turn.start_offset, "{ ")
        source.insert(statement_end(source, turn), f" {' '.join(statements)} }}")
        return
    last = turn.children[-1] if turn.children else turn
    closing = turn.end_offset - 1
    line = source.data.rfind(b"\n", 0, closing) + 1
    if source.data[line:closing].strip():
        source.insert(closing, f"{' '.join(statements)} ")
    else:
        indent = source.indentation(last.start_offset)
        source.insert(line, "".join(f"{indent}{text}\n" for text in statements))


def _bound(source: Source, place: Place, loop: Node, walk: Walk) -> None:
    """A walk in longer steps may pass its end: `!=` becomes `<`."""
    if walk.moves[0].in_condition:
        whole = condition_of(loop)
        if whole.in_macro:
            raise NotApplicable(f"{place}: the condition of the loop on line {loop.line} is written by a macro")
        source.replace(whole.start_offset, whole.end_offset, f"{walk.counter.name}-- > 0")
        return
    pending = [condition_of(loop)]
    while pending:
        node = pending.pop().bare()
        if node.opcode == "&&":
            pending += node.children
        elif node.opcode == "!=":
            left, right = node.children
            at = source.data.find(b"!=", left.end_offset, right.start_offset)
            named = left.bare().reference
            counts = (named is not None and named.id == walk.counter.id) != walk.moves[0].down
            if at < 0:
                raise NotApplicable(f"{place}: the condition of the loop on line {loop.line} is written by a macro")
            source.replace(at, at + 2, "<" if counts else ">")
