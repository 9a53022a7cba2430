"""Sums whose terms are scaled by an extreme that the same loop finds, as in a softmax of one pass.

    float before = most;
    most = fmaxf(most, x[i]);
    sum = sum * expf(before - most) + expf(x[i] - most);

After each turn `sum` is that of `exp(x - most)` over all turns so far. Lanes that share the turns out get one such pair
each, and put them together as a turn does: by the exponential of the difference to the greatest of all.
"""

from __future__ import annotations

from dataclasses import dataclass

from intelliperf.codegen.rules.lanes import initializer, written
from intelliperf.codegen.rules.reductions import Reduction, alike, form_of, is_named, mentions
from intelliperf.codegen.rules.statements import callee_name
from intelliperf.codegen.rules.uniformity import exits
from intelliperf.codegen.rules.wave_aggregate_atomics import FLOATS
from intelliperf.codegen.syntax.tree import Node

_EXPONENTIALS = ("exp", "expf", "__expf", "exp2", "exp2f", "exp10", "exp10f")


@dataclass(frozen=True)
class _Extreme:
    """The update of the extreme, and what names its value before and after it. `turned`: the pair's own `if`."""

    variable: Node
    update: Node
    kind: str
    combine: str
    before: Node | str
    after: Node | str
    statements: tuple[Node, ...]  # all that name the variable, beside the scale and the term


def scaled_sum(loop: Node, inside: frozenset[str]) -> Reduction | None:
    """The pair that the loop carries; None where there is none. `inside`: ids declared in the loop."""
    turn = loop.children[-1]
    if turn.kind != "CompoundStmt" or list(exits(turn)):
        return None
    for statement in turn.children:
        term = _term(statement)
        if term is None or term[0].reference is None or term[0].reference.id in inside:
            continue
        for extreme in (_kept_before(turn), _kept_after(turn), _in_if(turn)):
            if extreme is not None and (made := _pair(turn, term[0], extreme)) is not None:
                return made
    return None


def _term(statement: Node) -> tuple[Node, Node | None, Node] | None:
    """The sum, its scale and what is added: of `s = s * e + t`, or of `s += t` after `s *= e`."""
    node = statement.bare()
    target = node.children[0].bare() if node.children else node
    if target.kind != "DeclRefExpr" or target.reference is None or target.canonical not in FLOATS:
        return None
    name = target.reference.id
    if node.kind == "CompoundAssignOperator" and node.opcode == "+=":
        return (target, None, node.children[1]) if not mentions(node.children[1], name) else None
    total = node.children[1].bare() if node.kind == "BinaryOperator" and node.opcode == "=" else node
    if total is node or total.kind != "BinaryOperator" or total.opcode != "+":
        return None
    for scaled, added in (total.children, total.children[::-1]):
        if mentions(scaled, name) and not mentions(added, name) and (scale := _scale(scaled, name)) is not None:
            return target, scale, added
    return None


def _scale(product: Node, name: str) -> Node | None:
    node = product.bare()
    if node.kind != "BinaryOperator" or node.opcode != "*":
        return None
    left, right = node.children
    if is_named(left, name) and not mentions(right, name):
        return right
    return left if is_named(right, name) and not mentions(left, name) else None


def _kept_before(turn: Node) -> _Extreme | None:
    """`before = most; most = max(most, x);`"""
    for number, statement in enumerate(turn.children):
        node = statement.bare()
        target = node.children[0].bare() if node.kind == "BinaryOperator" and node.opcode == "=" else node
        if target.kind != "DeclRefExpr" or target.reference is None or target is node:
            continue
        form = form_of(node, target.reference.id)
        if form is None or form[2] is not None:
            continue
        for declared in turn.children[:number]:
            for variable in declared.children if declared.kind == "DeclStmt" else []:
                initial = initializer(variable)
                if initial is not None and is_named(initial, target.reference.id):
                    own = (variable, node)
                    return _Extreme(target, node, form[0], form[1], variable.id, target.reference.id, own)
    return None


def _kept_after(turn: Node) -> _Extreme | None:
    """`after = max(most, x); …; most = after;`"""
    for number, statement in enumerate(turn.children):
        node = statement.bare()
        target = node.children[0].bare() if node.kind == "BinaryOperator" and node.opcode == "=" else node
        value = node.children[1].bare() if target is not node else node
        if target.kind != "DeclRefExpr" or target.reference is None or value.reference is None or target is node:
            continue
        for declared in turn.children[:number]:
            for variable in declared.children if declared.kind == "DeclStmt" else []:
                initial = initializer(variable)
                if initial is None or variable.id != value.reference.id:
                    continue
                made = Node("BinaryOperator", opcode="=", children=[target, initial])
                form = form_of(made, target.reference.id)
                if form is not None and form[2] is None:
                    own = (variable, node)
                    return _Extreme(target, node, form[0], form[1], target.reference.id, variable.id, own)
    return None


def _in_if(turn: Node) -> _Extreme | None:
    """`if (x > most) { sum *= exp(most - x); most = x; }`"""
    for statement in turn.children:
        if statement.kind != "IfStmt" or len(statement.children) != 2:
            continue
        test, branch = statement.children[0].bare(), statement.children[1]
        last = branch.children[-1].bare() if branch.kind == "CompoundStmt" and len(branch.children) == 2 else branch
        if test.kind != "BinaryOperator" or test.opcode not in ("<", ">") or last.opcode != "=":
            continue
        target, value = last.children[0].bare(), last.children[1]
        left, right = test.children
        if target.reference is None or mentions(value, target.reference.id):
            continue
        name = target.reference.id
        if is_named(right, name) and alike(left, value):
            better = test.opcode
        elif is_named(left, name) and alike(right, value):
            better = "<" if test.opcode == ">" else ">"
        else:
            continue
        combine = f"{{b}} {better} {{a}} ? {{b}} : {{a}}"
        kind = "greatest" if better == ">" else "least"
        return _Extreme(target, statement, kind, combine, name, value, (test, last))
    return None


def _pair(turn: Node, total: Node, extreme: _Extreme) -> Reduction | None:
    if total.reference is None or extreme.variable.reference is None or extreme.variable.canonical != total.canonical:
        return None
    name, most = total.reference.id, extreme.variable.reference.id
    parts = [part for node in turn.everything() if written(node) == name and (part := _parts(node, name)) is not None]
    if len(parts) != sum(written(node) == name for node in turn.everything()) or name == most:
        return None
    scales = [scale for scale, _ in parts if scale is not None]
    terms = [term for _, term in parts if term is not None]
    if len(scales) != 1 or len(terms) != 1 or sum(written(node) == most for node in turn.everything()) != 1:
        return None
    (scale,), (term,) = scales, terms
    after = extreme.after
    exponential = _exponential_of(scale, extreme.before, after)
    ended = most if isinstance(after, Node) else after  # what names the new extreme in the term
    if not exponential or not _is_scaled(term, exponential, ended, {most, name, str(extreme.before)} - {ended}):
        return None
    if not _in_order(turn, extreme, scale, term):
        return None
    known = {id(node) for top in (*extreme.statements, scale, term) for node in top.everything()}
    kept = [extreme.before, after]
    names = {most, *(each for each in kept if isinstance(each, str))}
    for node in turn.everything():
        if node.reference is not None and node.reference.id in names and id(node) not in known:
            return None
    helper = Reduction(
        most, extreme.variable.reference.name, extreme.kind, extreme.combine, None, total.canonical, turn
    )
    return Reduction(
        name, total.reference.name, "sum", "{a} + {b}", "0", total.canonical, term, scaled=(helper, exponential)
    )


def _parts(node: Node, name: str) -> tuple[Node | None, Node | None] | None:
    """Scale and term of one change of the sum."""
    if node.kind == "CompoundAssignOperator" and node.opcode == "*=" and not mentions(node.children[1], name):
        return node.children[1], None
    scale = _scale(node.children[1], name) if node.kind == "BinaryOperator" and node.opcode == "=" else None
    if scale is not None:
        return scale, None
    found = _term(node)
    return (found[1], found[2]) if found is not None else None


def _exponential_of(scale: Node, before: Node | str, after: Node | str) -> str:
    """The function's name in `exp(before - after)`."""
    difference = _exponent(scale)
    if difference is None or difference.kind != "BinaryOperator" or difference.opcode != "-":
        return ""
    left, right = difference.children
    return callee_name(scale.bare()) if _stands_for(left, before) and _stands_for(right, after) else ""


def _stands_for(node: Node, value: Node | str) -> bool:
    return is_named(node, value) if isinstance(value, str) else alike(node, value)


def _exponent(call: Node) -> Node | None:
    node = call.bare()
    known = node.kind == "CallExpr" and callee_name(node) in _EXPONENTIALS and len(node.children) == 2
    return node.children[1].bare() if known else None


def _is_scaled(term: Node, exponential: str, extreme: str, others: set[str]) -> bool:
    """A product with one factor `exp(x - extreme)`, and nothing else that names what the loop carries."""
    pending, scaled = [term], 0
    while pending:
        node = pending.pop().bare()
        if node.kind == "BinaryOperator" and node.opcode == "*":
            pending += node.children
            continue
        power = _exponent(node)
        named = any(mentions(node, name) for name in {extreme, *others})
        if power is not None and callee_name(node) == exponential and power.opcode == "-" and named:
            left, right = power.children
            if not is_named(right, extreme) or any(mentions(left, name) for name in {extreme, *others}):
                return False
            scaled += 1
        elif named:
            return False
    return scaled == 1


def _in_order(turn: Node, extreme: _Extreme, scale: Node, term: Node) -> bool:
    """Is every turn one of all steps, each where it sees the extreme that it names?"""
    statements = turn.children
    places = [
        next((n for n, statement in enumerate(statements) if any(part is node for part in statement.everything())), -1)
        for node in (scale, term, extreme.update)
    ]
    at_scale, at_term, at_update = places
    whole = all(_is_own(turn, node) for node in (scale, term))
    if isinstance(extreme.after, Node):
        inner = extreme.update.children[1].children[0]
        first = any(part is scale for part in inner.everything())
        return first and at_scale == at_update < at_term and _is_own(turn, term)
    declared = next(
        n for n, statement in enumerate(statements) if any(part is extreme.statements[0] for part in statement.children)
    )
    named_after = extreme.before == (extreme.variable.reference.id if extreme.variable.reference else "")
    if named_after:  # the extreme itself keeps the old value until the end
        return whole and declared < at_scale <= at_term < at_update
    return whole and declared < at_update < at_scale <= at_term


def _is_own(turn: Node, part: Node) -> bool:
    """Is it in a statement of the turn itself, not below a condition or a loop?"""
    for parent in part.ancestors():
        if parent is turn:
            return True
        if parent.kind.endswith("Stmt") or parent.kind == "ConditionalOperator" or parent.opcode in ("&&", "||"):
            return False
    return False
