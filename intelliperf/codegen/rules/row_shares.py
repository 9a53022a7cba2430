"""The text of loops along a row whose turns the lanes of a group share out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from intelliperf.codegen.rules import groups
from intelliperf.codegen.rules.guards import line_starts, statement_end
from intelliperf.codegen.rules.lanes import initializer, written
from intelliperf.codegen.rules.memory_scans import first_value
from intelliperf.codegen.rules.problem import NotApplicable, Place
from intelliperf.codegen.rules.reductions import Reduction, is_one_step, steps_of
from intelliperf.codegen.rules.row_loops import RowLoop
from intelliperf.codegen.rules.row_walks import write_walk
from intelliperf.codegen.rules.wave_aggregate_atomics import FLOATS, INTEGERS
from intelliperf.codegen.syntax.source import Source
from intelliperf.codegen.syntax.tree import Node


@dataclass(frozen=True)
class Words:
    """Names that the rewritten text uses."""

    lane: str
    sharing: groups.Sharing
    part: str
    meet: str  # a call with its semicolon that makes the lanes' stores known to each other, or ""


def renders(reduction: Reduction, cuda: bool, sharing: groups.Sharing, name: str) -> str:
    """The helper that puts the lanes' parts together."""
    if reduction.place is not None:
        return groups.first_extreme(name, ">" if reduction.kind.startswith("greatest") else "<", cuda, sharing)
    if reduction.whole:
        return groups.object_sum(name, reduction.combine, reduction.members, cuda, sharing)
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


def share_out(
    source: Source, place: Place, row: RowLoop, words: Words, helpers: dict[str, str], plain: set[str]
) -> None:
    """Write the loop for the lanes. `helpers`: by the variable carried; `plain`: variables that begin neutral."""
    loop = row.loop
    before: list[str] = [words.meet] if words.meet else []
    before += write_walk(source, place, loop, row.walk, words.lane, str(words.sharing.lanes))
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
        if item.scaled is not None:
            after += _scaled(source, item, words, helpers)
        elif item.place is not None:
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


def _scaled(source: Source, item: Reduction, words: Words, helpers: dict[str, str]) -> list[str]:
    """Each lane's sum as it would be with the extreme of all of them; one that has this already keeps its sum."""
    assert item.scaled is not None
    most, exponential = item.scaled[0].name, item.scaled[1]
    own = _new(source, f"{words.part}_most")
    return [
        f"const {item.type} {own} = {most};",
        f"{most} = {helpers[item.scaled[0].variable]}({most});",
        f"{item.name} = {helpers[item.variable]}({own} == {most} ? {item.name} : {item.name} * "
        f"{exponential}({own} - {most}));",
    ]


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
    first = _values_before(place, row, item)
    condition = loop.children[2]
    text = source.slice(condition.start_offset, condition.end_offset)
    if any(name.in_macro for name in condition.walk() if _counts(name, counter)) or update.in_macro:
        raise NotApplicable(f"{place}: the condition of the loop on line {loop.line} is written by a macro")
    indent = source.indentation(update.start_offset)
    for name in condition.walk():
        if _counts(name, counter):
            source.replace(name.start_offset, name.end_offset, f"({counter.name} - {words.lane})")
    own, total, store = f"{words.part}_here", item.name, []
    steps: tuple[Node, ...] = ()
    if item.neutral is not None and item.through is None and not is_one_step(loop, item):
        steps = steps_of(loop, item)
    if item.through is not None:
        total = _new(source, f"{words.part}_sum")
        stored, read, _ = item.through
        store = [f"  {source.slice(stored.start_offset, stored.end_offset)} = {total};"]
    kind = f"decltype({total})"
    lines = [f"const bool {own} = {text};"]
    if first:
        at = first[0].start_offset
        source.insert(at, f"{lines.pop()}\n{source.indentation(at)}")
    for statement in first:
        for variable in statement.children:
            _only_of_own(source, place, variable, own)
    if steps:
        return _scan_steps(source, row, item, (lines, own, helpers[item.variable], helpers["last"]), steps)
    if item.neutral is None:
        changed = source.slice(update.start_offset, statement_end(source, update))
        lines += [f"if ({own}) {{ {changed} }}", f"{total} = {helpers[item.variable]}({total});"]
    else:
        operand = item.through[2] if item.through else update.children[1]
        value = source.slice(operand.start_offset, operand.end_offset)
        lines.append(f"{total} += {helpers[item.variable]}({own} ? static_cast<{kind}>({value}) : {kind}(0));")
    lines += [f"if ({own}) {{", *store]
    last = f"{total} = {helpers['last']}({total});"
    end = statement_end(source, update)
    if alone:
        lines = ["{", *(f"  {line}" for line in (*lines, "}", last)), "}"]
        source.replace(update.start_offset, end, f"\n{indent}".join(lines))
    else:
        source.replace(update.start_offset, end, f"\n{indent}".join(lines))
        _close_own(source, turn, end, indent, last)
    return total


def _scan_steps(
    source: Source, row: RowLoop, item: Reduction, words: tuple[list[str], str, str, str], steps: tuple[Node, ...]
) -> str:
    """With several changes in a turn, or one that not every turn makes: what they come to is added up."""
    lines, own, helper, last = words
    step, start, end = _new(source, f"{own}_step"), steps[0].start_offset, statement_end(source, steps[-1])
    indent = source.indentation(start)
    taken = {id(each.children[0].bare()): each for each in _taken_off(item)}
    less = _new(source, f"{own}_less") if taken else ""
    declared = [f"decltype({item.name}) {each} = 0;" for each in (step, less) if each]
    head = [*lines, *declared, f"if ({own}) {{"]
    source.insert(start, "".join(f"{line}\n{indent}" for line in head) + "  ")
    for offset in line_starts(source, start, end):
        source.insert(offset, "  ")
    for statement in steps:
        for name in statement.walk():
            if name.kind == "DeclRefExpr" and name.reference is not None and name.reference.id == item.variable:
                source.replace(name.start_offset, name.end_offset, less if id(name) in taken else step)
    for each in taken.values():
        at = source.data.find(b"-=", each.children[0].end_offset, each.children[1].start_offset)
        source.replace(at, at + 2, "+=")
    off = [f"{item.name} -= {helper}({less});"] if taken else []
    tail = ["}", f"{item.name} += {helper}({step});", *off, f"if ({own}) {{"]
    source.insert(end, "".join(f"\n{indent}{line}" for line in tail))
    _close_own(source, row.loop.children[-1], end, indent, f"{item.name} = {last}({item.name});")
    return item.name


def _taken_off(item: Reduction) -> list[Node]:
    """Updates by which floating-point numbers are taken off, to be added up apart from what comes to the sum.

    So nothing is rounded that the original knows nothing of, as the differences of a window's ends would be.
    """
    updates = (item.update, *item.also)
    return [each for each in updates if each.opcode == "-=" and item.type in FLOATS]


def _values_before(place: Place, row: RowLoop, item: Reduction) -> list[Node]:
    """Declarations of numbers that stand before what is carried along: all that may, as each turn has its own."""
    turn = row.loop.children[-1]
    if item.update is turn:
        return []
    statements = turn.children if turn.kind == "CompoundStmt" else []
    first = next(iter(steps_of(row.loop, item)), item.update)
    at = next((n for n, statement in enumerate(statements) if statement is first), None)
    before = statements[:at] if at is not None else []
    plain = all(
        statement.kind == "DeclStmt"
        and all(
            node.kind == "VarDecl"
            and initializer(node) is not None
            and node.canonical.removeprefix("const ") in INTEGERS | FLOATS
            for node in statement.children
        )
        for statement in before
    )
    if at is None or not plain or any(statement.in_macro for statement in before):
        raise NotApplicable(
            f"{place}: the loop on line {row.loop.line} does more than declare numbers before what it carries along"
        )
    return before


def _only_of_own(source: Source, place: Place, variable: Node, own: str) -> None:
    """A value that lanes beyond the end do not compute, since they may not read what it is made of."""
    initial = initializer(variable)
    assert initial is not None
    declared = source.code(variable.start_offset, initial.start_offset)
    if initial.in_macro or re.search(r"\bauto\b", declared) or not declared.rstrip().endswith("="):
        raise NotApplicable(f"{place}: {variable.name} on line {variable.line} is not declared as a number")
    kind = f"static_cast<decltype({variable.name})>"
    source.insert(initial.start_offset, f"{own} ? {kind}(")
    source.insert(initial.end_offset, f") : {kind}(0)")


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
