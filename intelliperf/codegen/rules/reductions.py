"""What a loop carries from one turn to the next, where lanes that share the turns out can put it together again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from intelliperf.codegen.rules.lanes import written
from intelliperf.codegen.rules.object_sums import object_sum, open_members
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem
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
        summed = object_sum(problem, node) if problem is not None else None
        if (
            problem is not None
            and summed is not None
            and node.reference is not None
            and not _mentions(summed.children[2], identity)
        ):
            own = (identity, node.reference.name, "object_sum", "{a} += {b}", "0", node.canonical)
            reduction, parts = Reduction(*own, summed, None, False, True, open_members(problem, node)), {id(node)}
        else:
            reduction, parts = _reduction(place, node, loop, counter)
        accounted |= parts
        if reduction.variable in found or (reduction.place is not None and reduction.place[0] in found):
            raise NotApplicable(f"{place}: {reduction.name} is changed twice in the loop on line {loop.line}")
        for known in filter(None, (reduction.variable, reduction.place[0] if reduction.place else "")):
            found[known] = reduction
    return [_with_uses(place, loop, reduction) for reduction in dict.fromkeys(found.values())]


def _with_uses(place: Place, loop: Node, reduction: Reduction) -> Reduction:
    """Other uses of the variable make a sum a scan, and anything else impossible."""
    own = {id(node) for node in reduction.update.everything()}
    names = {reduction.variable, *(reduction.place[:1] if reduction.place else ())}
    others = [node for node in _names(loop) if id(node) not in own and any(_may_touch(node, name) for name in names)]
    if not others:
        return reduction
    statement = reduction.update
    parent = statement.parent
    top = loop.children[-1]
    later = all(node.start_offset > statement.end_offset for node in others)
    if parent is top and later and statement.kind == "CompoundAssignOperator" and statement.opcode == "+=":
        return Reduction(
            reduction.variable, reduction.name, "running_sum", reduction.combine, reduction.neutral, reduction.type,
            statement, None, True,
        )  # fmt: skip
    raise NotApplicable(
        f"{place}: line {others[0].line} uses {reduction.name}, which the loop on line {loop.line} carries along"
    )


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
        if best.reference is None or best.canonical not in INTEGERS | FLOATS:
            raise _carried(place, node, loop)
        name, identity, type_name = best.reference.name, best.reference.id, best.canonical
        kind = ("greatest" if better == ">" else "least") + ("_place" if kept else "")
        combine = "{b} %s {a} ? {b} : {a}" % better  # noqa: UP031 - braces are for later
        return Reduction(identity, name, kind, combine, None, type_name, parts[0], kept), {id(p) for p in parts}
    if value_used(node):
        raise _carried(place, node, loop)
    form = _form(node, identity)
    if form is None or (type_name == "bool" and form[2] is not None):
        raise _carried(place, node, loop)
    kind, combine, neutral = form
    return Reduction(identity, name, kind, combine, neutral, type_name, node), {id(node)}


def _carried(place: Place, node: Node, loop: Node) -> NotApplicable:
    name = next((part.reference.name for part in node.walk() if part.reference), "a variable")
    return NotApplicable(
        f"{place}: the loop on line {loop.line} carries {name} from one turn to the next (line {node.line})"
    )


def _form(node: Node, identity: str) -> tuple[str, str, str | None] | None:
    """Helper, combination and neutral value of `s += e` and its like."""
    if node.kind == "UnaryOperator" and node.opcode in ("++", "--"):
        return "sum", *_JOINED["+"]
    if node.kind == "CompoundAssignOperator" and node.opcode[:-1] in _JOINED:
        symbol = node.opcode[:-1]
        return None if _mentions(node.children[1], identity) else (_WORDS[symbol], *_JOINED[symbol])
    if node.kind != "BinaryOperator" or node.opcode != "=":
        return None
    value = node.children[1].bare()
    if value.kind == "BinaryOperator" and value.opcode in ("+", "*", "&", "|", "^"):
        mine = [_is(child, identity) for child in value.children]
        theirs = [_mentions(child, identity) for child in value.children]
        if mine.count(True) == 1 and theirs.count(True) == 1:
            return _WORDS[value.opcode], *_JOINED[value.opcode]
    if value.kind == "BinaryOperator" and value.opcode == "-" and _is(value.children[0], identity):
        return None if _mentions(value.children[1], identity) else ("sum", *_JOINED["-"])
    if value.kind == "CallExpr" and callee_name(value) in _BY_CALL and len(value.children) == 3:
        mine = [_is(child, identity) for child in value.children[1:]]
        theirs = [_mentions(child, identity) for child in value.children[1:]]
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
    kept, taken = (no, yes) if _is(no, identity) else (yes, no)
    if not _is(kept, identity) or _mentions(taken, identity):
        return None
    greater = test.opcode.startswith(">")
    if _is(left, identity) and alike(right, taken):
        greater = not greater
    elif not (_is(right, identity) and alike(left, taken)):
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
        own = target.reference.id if target.reference is not None else ""
        value = part.children[1]
        first = _is(right, own) and alike(left, value)
        if not own or not (first or (_is(left, own) and alike(right, value))):
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
    return (target.reference.id, target.reference.name) if _is(value, counter.id) else None


def _key(place: Node) -> str:
    """Of a variable its id, of a member of one both; empty for other places."""
    if place.kind == "DeclRefExpr" and place.reference is not None:
        return place.reference.id
    if place.kind != "MemberExpr" or "isArrow" in place.flags or not place.children:
        return ""
    owner = place.children[0].bare()
    named = owner.kind == "DeclRefExpr" and owner.reference is not None and not owner.canonical.endswith("&")
    return f"{owner.reference.id}.{place.name.lstrip('.')}" if named and owner.reference is not None else ""


def _text(place: Node) -> str:
    if place.kind == "MemberExpr":
        return f"{_text(place.children[0].bare())}.{place.name.lstrip('.')}"
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


def _is(node: Node, identity: str) -> bool:
    return _key(node.bare()) == identity


def _mentions(node: Node, identity: str) -> bool:
    return any(_may_touch(name, identity) for name in _names(node))


def alike(left: Node, right: Node) -> bool:
    """Do two expressions compute the same from the same?"""
    a, b = left.bare(), right.bare()
    if (a.kind, a.opcode, a.value, a.name, a.canonical) != (b.kind, b.opcode, b.value, b.name, b.canonical):
        return False
    if (a.reference.id if a.reference else "") != (b.reference.id if b.reference else ""):
        return False
    return len(a.children) == len(b.children) and all(map(alike, a.children, b.children))
