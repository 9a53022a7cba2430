"""What a loop carries from one turn to the next, where lanes that share the turns out can put it together again."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass

from intelliperf.codegen.rules.lanes import written
from intelliperf.codegen.rules.methods import assigns, definitions, may_be_meant, method_name, why_sees_more
from intelliperf.codegen.rules.object_sums import adder_of, ends_statement, object_sum, open_members
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, body
from intelliperf.codegen.rules.statements import callee_name, value_used
from intelliperf.codegen.rules.wave_aggregate_atomics import FLOATS, INTEGERS
from intelliperf.codegen.syntax.tree import Node

# Compound assignments: how parts are joined, and the value that changes nothing; None: any part joined twice is fine.
_JOINED: dict[str, tuple[str, str | None]] = {
    "+": ("{a} + {b}", "0"),
    "-": ("{a} + {b}", "0"),
    "*": ("{a} * {b}", "1"),
    "&": ("{a} & {b}", None),
    "|": ("{a} | {b}", None),
    "^": ("{a} ^ {b}", "0"),
}
_WORDS = {"+": "sum", "-": "sum", "*": "product", "&": "and", "|": "or", "^": "xor"}
_BY_CALL = {
    "fmaxf": ("fmaxf({a}, {b})", "float_max"),
    "fmax": ("fmax({a}, {b})", "double_max"),
    "fminf": ("fminf({a}, {b})", "float_min"),
    "fmin": ("fmin({a}, {b})", "double_min"),
    "max": ("{a} < {b} ? {b} : {a}", "max"),
    "min": ("{b} < {a} ? {b} : {a}", "min"),
}


@dataclass(frozen=True)
class Reduction:
    """One variable, or an extreme and its place. `neutral`: what all lanes but the first begin with; None: as it is."""

    variable: str  # its id
    name: str
    kind: str  # names the helper
    combine: str
    neutral: str | None
    type: str
    update: Node
    place: tuple[str, str] | None = None  # id and name of the variable that keeps where the extreme is
    scanned: bool = False  # the turns need what came up to their own
    whole: bool = False  # an object of a class that adds up its members
    members: tuple[str, ...] = ()  # of such an object, if their names are known and anybody may use them
    # Of a sum carried through memory: the element stored, the one of the turn before, and what is added to that.
    through: tuple[Node, Node, Node] | None = None
    # Of a sum of what is scaled by an exponential of an extreme: the extreme, and the function's name.
    scaled: tuple[Reduction, str] | None = None
    also: tuple[Node, ...] = ()  # further updates of the same kind


def reductions(
    place: Place, loop: Node, inside: frozenset[str], counter: Node, problem: Problem | None = None
) -> list[Reduction]:
    """All that the loop carries. Raises `NotApplicable` for other things. `inside`: ids declared in it.

    Sums of objects are told where `problem` has the definition of their operators.
    """
    found: dict[str, Reduction] = {}
    accounted: set[int] = set()
    for node in loop.children[-1].everything():
        identity = written(node)
        if identity is None or identity in inside or identity == counter.id or id(node) in accounted:
            continue
        if problem is not None and (call := changing_call(node)) is not None:
            members = _by_method(problem, place, node, call, loop, counter)
            found.update({member.variable: member for member in members})
            continue
        summed = object_sum(problem, node) if problem is not None else None
        if (
            problem is not None
            and summed is not None
            and node.reference is not None
            and not mentions(summed[1], identity)
        ):
            update, _, joined = summed
            own = (identity, node.reference.name, "object_sum", joined, "0", node.canonical)
            fields = open_members(problem, node, adder_of(joined))
            reduction, parts = Reduction(*own, update, None, False, True, fields), {id(node)}
        else:
            reduction, parts = _reduction(place, node, loop, counter)
        accounted |= parts
        before = found.get(reduction.variable)
        if before is not None and _joins_alike(before, reduction):
            found[reduction.variable] = dataclasses.replace(before, also=(*before.also, reduction.update))
            continue
        if before is not None or (reduction.place is not None and reduction.place[0] in found):
            raise NotApplicable(f"{place}: {reduction.name} is changed twice in the loop on line {loop.line}")
        for known in filter(None, (reduction.variable, reduction.place[0] if reduction.place else "")):
            found[known] = reduction
    return [_with_uses(place, loop, reduction) for reduction in dict.fromkeys(found.values())]


def _joins_alike(one: Reduction, other: Reduction) -> bool:
    """Are the variable's parts put together in the same way after both updates, as after `s += a; s -= b;`?"""
    plain = one.place is None and other.place is None and not one.whole and not other.whole
    return plain and (one.combine, one.neutral, one.type) == (other.combine, other.neutral, other.type)


def _with_uses(place: Place, loop: Node, reduction: Reduction) -> Reduction:
    """Other uses of the variable make a sum a scan, and anything else impossible."""
    own = {id(node) for update in (reduction.update, *reduction.also) for node in update.everything()}
    names = {reduction.variable, *(reduction.place[:1] if reduction.place else ())}
    others = [node for node in _names(loop) if id(node) not in own and any(_may_touch(node, name) for name in names)]
    if not others:
        return reduction
    statement = reduction.update
    parent = statement.parent
    top = loop.children[-1]
    later = all(node.start_offset > statement.end_offset for node in others)
    sums = statement.kind == "CompoundAssignOperator" and statement.opcode == "+="
    if _is_sum_of_steps(loop, reduction, others):
        _check_rest(place, reduction)
        return dataclasses.replace(reduction, kind="running_sum", scanned=True)
    extreme = not reduction.also and reduction.neutral is None and reduction.place is None and reduction.type != "bool"
    if parent is top and later and ((sums and not reduction.also) or extreme):
        return dataclasses.replace(reduction, kind=f"running_{reduction.kind}", scanned=True)
    raise NotApplicable(
        f"{place}: line {others[0].line} uses {reduction.name}, which the loop on line {loop.line} carries along"
    )


def steps_of(loop: Node, reduction: Reduction) -> tuple[Node, ...]:
    """The statements of a turn from the first update to the last one."""
    turn = loop.children[-1]
    updates = {id(update) for update in (reduction.update, *reduction.also)}
    at = [n for n, each in enumerate(turn.children) if any(id(node) in updates for node in each.everything())]
    return tuple(turn.children[at[0] : at[-1] + 1]) if turn.kind == "CompoundStmt" and at else ()


def is_one_step(loop: Node, reduction: Reduction) -> bool:
    """Is it a plain `s += e` of every turn?"""
    update = reduction.update
    in_turn = update.parent is loop.children[-1] or update is loop.children[-1]
    return not reduction.also and in_turn and update.kind == "CompoundAssignOperator" and update.opcode == "+="


def _is_sum_of_steps(loop: Node, reduction: Reduction, others: list[Node]) -> bool:
    """A sum that a turn changes perhaps, or several times, before anything else looks at it."""
    adds = reduction.combine == "{a} + {b}" and reduction.neutral == "0" and not reduction.whole
    steps = steps_of(loop, reduction)
    if not adds or not steps or is_one_step(loop, reduction) or reduction.type not in INTEGERS | FLOATS:
        return False
    declares = any(step.kind == "DeclStmt" or step.in_macro for step in steps)
    simple = "." not in reduction.variable and all(node.start_offset > steps[-1].end_offset for node in others)
    names = [node for step in steps for node in _names(step) if _may_touch(node, reduction.variable)]
    return simple and not declares and not any(node.in_macro for node in names)


def _check_rest(place: Place, reduction: Reduction) -> None:
    """Raise `NotApplicable` where large numbers that cancel would leave other rests in another order."""
    for update in (reduction.update, *reduction.also):
        value = update.children[1].bare() if update.kind == "BinaryOperator" else update
        apart = update.kind == "CompoundAssignOperator"  # what is taken off is added up by itself
        if reduction.type in FLOATS and "-" in value.opcode and not apart:
            raise NotApplicable(
                f"{place}: line {update.line} takes floating-point numbers off {reduction.name}, "
                "of which additions in another order would leave another rest"
            )


def changing_call(variable: Node) -> Node | None:
    """The call of a method that may change the variable, an object."""
    call = variable.parent.user() if variable.parent is not None and variable.parent.kind == "MemberExpr" else None
    return call if call is not None and call.kind == "CXXMemberCallExpr" else None


def _by_method(
    problem: Problem, place: Place, variable: Node, call: Node, loop: Node, counter: Node
) -> list[Reduction]:
    """Members to which a method of the project adds, each by itself. Raises `NotApplicable`."""
    name, owner = method_name(call), variable.reference
    found = [one for one in definitions(problem, name) if may_be_meant(one, call)]
    if len(found) != 1 or found[0].kind != "CXXMethodDecl":
        raise NotApplicable(
            f"{place}: line {call.line} calls {name}, of which the sources have {len(found)} definitions"
        )
    if owner is None or not ends_statement(call) or sum(_may_touch(each, owner.id) for each in _names(loop)) != 1:
        raise _carried(place, variable, loop)
    (method,) = found
    if why := why_sees_more(method):
        raise NotApplicable(f"{place}: line {call.line} calls {name}, which {why}")
    if not _is_open(problem, method.parent):
        raise NotApplicable(f"{place}: line {call.line} changes members that only their class may name")
    own = {node.id for node in method.everything() if node.kind == "VarDecl"}
    members: dict[str, Reduction] = {}
    parts: set[int] = set()
    for node in body(method).everything():
        target = node.children[0].bare() if assigns(node) else node
        if not assigns(node) or id(node) in parts or (target.reference is not None and target.reference.id in own):
            continue
        try:
            member, changed = _reduction(place, node, body(method), counter)
        except NotApplicable:
            raise NotApplicable(
                f"{place}: line {call.line} calls {name}, which does more than add to members (line {node.line})"
            ) from None
        if member.place is not None or member.variable in members or not member.variable.startswith("this."):
            raise NotApplicable(f"{place}: line {call.line} calls {name}, which changes a member twice, or none")
        parts |= changed | {id(part) for part in member.update.everything()}
        members[member.variable] = member
    for node in body(method).everything():
        key = _key(node.parent) if node.kind == "CXXThisExpr" and node.parent is not None else "none"
        own_update = key in members and any(up is members[key].update for up in node.ancestors())
        if not key or (key in members and not own_update):
            raise NotApplicable(f"{place}: line {node.line} reads what {name} changes from one call to the next")
    return [
        dataclasses.replace(
            member, variable=key.replace("this", owner.id, 1), name=f"{owner.name}{member.name}", update=call
        )
        for key, member in members.items()
    ]


def _is_open(problem: Problem, record: Node | None) -> bool:
    """May functions outside of the class name its members?"""
    if record is None or any(child.kind == "AccessSpecDecl" for child in record.children):
        return False
    return not any(re.search(rf"\bclass\s+{record.name}\b", text) for text in problem.task.sources.values())


def _names(top: Node) -> Iterator[Node]:
    return (node for node in top.everything() if node.kind == "DeclRefExpr" and node.reference is not None)


def _reduction(place: Place, node: Node, loop: Node, counter: Node) -> tuple[Reduction, set[int]]:
    """The reduction that a write belongs to, with the writes that it consists of."""
    target = node.children[0].bare() if node.children else node
    if target is node or not (identity := _key(target)):
        raise _carried(place, node, loop)
    name, type_name = _text(target), target.canonical
    if type_name not in INTEGERS | FLOATS | {"bool"}:
        raise NotApplicable(f"{place}: {name}, which the loop on line {loop.line} carries along, is a {target.type}")
    guard = _extreme(node, identity, counter)
    if guard is not None:
        better, kept, best, parts = guard
        if best.canonical not in INTEGERS | FLOATS:
            raise _carried(place, node, loop)
        name, identity, type_name = _text(best), _key(best), best.canonical
        kind = ("greatest" if better == ">" else "least") + ("_place" if kept else "")
        combine = "{b} %s {a} ? {b} : {a}" % better  # noqa: UP031 - braces are for later
        return Reduction(identity, name, kind, combine, None, type_name, parts[0], kept), {id(p) for p in parts}
    if value_used(node):
        raise _carried(place, node, loop)
    form = form_of(node, identity)
    if form is None or (type_name == "bool" and form[2] is not None):
        raise _carried(place, node, loop)
    kind, combine, neutral = form
    return Reduction(identity, name, kind, combine, neutral, type_name, node), {id(node)}


def _carried(place: Place, node: Node, loop: Node) -> NotApplicable:
    name = next((part.reference.name for part in node.walk() if part.reference), "a variable")
    return NotApplicable(
        f"{place}: the loop on line {loop.line} carries {name} from one turn to the next (line {node.line})"
    )


def form_of(node: Node, identity: str) -> tuple[str, str, str | None] | None:
    """Helper, combination and neutral value of `s += e` and its like."""
    if node.kind == "UnaryOperator" and node.opcode in ("++", "--"):
        return "sum", *_JOINED["+"]
    if node.kind == "CompoundAssignOperator" and node.opcode[:-1] in _JOINED:
        symbol = node.opcode[:-1]
        return None if mentions(node.children[1], identity) else (_WORDS[symbol], *_JOINED[symbol])
    if node.kind != "BinaryOperator" or node.opcode != "=":
        return None
    value = node.children[1].bare()
    if value.kind == "BinaryOperator" and value.opcode in ("+", "*", "&", "|", "^"):
        mine = [is_named(child, identity) for child in value.children]
        theirs = [mentions(child, identity) for child in value.children]
        if mine.count(True) == 1 and theirs.count(True) == 1:
            return _WORDS[value.opcode], *_JOINED[value.opcode]
    if value.kind == "BinaryOperator" and value.opcode == "-" and is_named(value.children[0], identity):
        return None if mentions(value.children[1], identity) else ("sum", *_JOINED["-"])
    if value.kind == "CallExpr" and callee_name(value) in _BY_CALL and len(value.children) == 3:
        mine = [is_named(child, identity) for child in value.children[1:]]
        theirs = [mentions(child, identity) for child in value.children[1:]]
        if mine.count(True) == 1 and theirs.count(True) == 1:
            combine, word = _BY_CALL[callee_name(value)]
            return word, combine, None
    if value.kind == "ConditionalOperator":
        return _choice(value, identity)
    return None


def _choice(value: Node, identity: str) -> tuple[str, str, str | None] | None:
    """`e > m ? e : m` and the other ways to write it."""
    test, yes, no = value.children[0].bare(), value.children[1], value.children[2]
    if test.kind != "BinaryOperator" or test.opcode not in ("<", ">", "<=", ">="):
        return None
    left, right = test.children
    kept, taken = (no, yes) if is_named(no, identity) else (yes, no)
    if not is_named(kept, identity) or mentions(taken, identity):
        return None
    greater = test.opcode.startswith(">")
    if is_named(left, identity) and alike(right, taken):
        greater = not greater
    elif not (is_named(right, identity) and alike(left, taken)):
        return None
    if taken is no:
        greater = not greater
    better = ">" if greater else "<"
    return ("greatest" if greater else "least"), "{b} %s {a} ? {b} : {a}" % better, None  # noqa: UP031


def _extreme(node: Node, identity: str, counter: Node) -> tuple[str, tuple[str, str] | None, Node, list[Node]] | None:
    """`if (e > m) m = e;`, perhaps with `where = counter;`: direction, place's variable, m, `if` and writes."""
    guard = next((parent for parent in node.ancestors() if parent.kind == "IfStmt"), None)
    if guard is None or len(guard.children) != 2:
        return None
    test, branch = guard.children[0].bare(), guard.children[1]
    inner = branch.children if branch.kind == "CompoundStmt" else [branch]
    plain = all(part.kind == "BinaryOperator" and part.opcode == "=" for part in inner)
    if not plain or not 1 <= len(inner) <= 2 or test.kind != "BinaryOperator" or test.opcode not in ("<", ">"):
        return None
    left, right = test.children
    better = test.opcode
    for part in inner:
        target = part.children[0].bare()
        own = _key(target)
        value = part.children[1]
        first = is_named(right, own) and alike(left, value)
        if not own or not (first or (is_named(left, own) and alike(right, value))):
            continue
        if not first:
            better = ">" if better == "<" else "<"
        rest = [other for other in inner if other is not part]
        kept = _place(rest[0], counter) if rest else None
        if (rest and kept is None) or identity not in (own, kept[0] if kept else ""):
            return None
        return better, kept, target, [guard, *inner]
    return None


def _place(assignment: Node, counter: Node) -> tuple[str, str] | None:
    target, value = assignment.children[0].bare(), assignment.children[1].bare()
    while value.kind in ("CStyleCastExpr", "CXXStaticCastExpr", "CXXFunctionalCastExpr") and value.children:
        value = value.children[-1].bare()
    if target.kind != "DeclRefExpr" or target.reference is None or target.canonical not in INTEGERS:
        return None
    return (target.reference.id, target.reference.name) if is_named(value, counter.id) else None


def _key(place: Node) -> str:
    """Of a variable its id, of a member of one both; empty for other places."""
    if place.kind == "DeclRefExpr" and place.reference is not None:
        return place.reference.id
    if place.kind != "MemberExpr" or not place.children:
        return ""
    owner = place.children[0].bare()
    if owner.kind == "CXXThisExpr":
        return f"this.{_member(place)}"
    named = owner.kind == "DeclRefExpr" and owner.reference is not None and not owner.canonical.endswith("&")
    apart = "isArrow" not in place.flags and named and owner.reference is not None
    return f"{owner.reference.id}.{_member(place)}" if apart and owner.reference is not None else ""


def _member(place: Node) -> str:
    return place.name.removeprefix("->").removeprefix(".")


def _text(place: Node) -> str:
    if place.kind == "MemberExpr":
        return f"{_text(place.children[0].bare())}.{_member(place)}"
    return place.reference.name if place.reference is not None else ""


def _may_touch(name: Node, identity: str) -> bool:
    """Does a variable's name here stand for the place, or for a whole that holds it?"""
    variable, _, member = identity.partition(".")
    if name.reference is None or name.reference.id != variable:
        return False
    if not member:
        return True
    user = name.parent
    while user is not None and user.kind in ("ParenExpr", "ImplicitCastExpr"):
        user = user.parent
    return user is None or user.kind != "MemberExpr" or user.name.lstrip(".") == member


def is_named(node: Node, identity: str) -> bool:
    return _key(node.bare()) == identity


def mentions(node: Node, identity: str) -> bool:
    touched = any(_may_touch(name, identity) for name in _names(node))
    return touched or any(_key(part) == identity for part in node.everything() if part.kind == "MemberExpr")


def alike(left: Node, right: Node) -> bool:
    """Do two expressions compute the same from the same?"""
    a, b = left.bare(), right.bare()
    if (a.kind, a.opcode, a.value, a.name, a.canonical) != (b.kind, b.opcode, b.value, b.name, b.canonical):
        return False
    if (a.reference.id if a.reference else "") != (b.reference.id if b.reference else ""):
        return False
    return len(a.children) == len(b.children) and all(map(alike, a.children, b.children))
