"""Copies from the device of which the host needs the total alone.

How many partial results there are, and what each of them covers, is then the kernels' own matter. `totalled` takes
such copies out of the host's code, with the memory that they go to and the loop that walks over it; what is left names
the total. Nothing is taken out unless all that reads the copied elements is one loop over exactly these, or the only
element is read as it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import PurePath

from intelliperf.validation.edits.functionbody import (
    VALUE,
    FunctionBody,
    lines_of,
    mentions,
    replaced,
    with_named_values,
    without_unused,
)
from intelliperf.validation.edits.ir import parse
from intelliperf.validation.edits.launches import call_operands
from intelliperf.validation.edits.linear import Linear, Sizes
from intelliperf.validation.edits.total import NotTotalled, Place, Total
from intelliperf.validation.edits.totalloops import PHI, Loop, before_and_behind, loop_over
from intelliperf.validation.edits.totalmemory import (
    ARRAY,
    BYTES,
    FREES,
    LOADED,
    NOTHING,
    VECTOR,
    VECTOR_CODE,
    Target,
    stand_in,
    target_of,
    values_of,
)

_COPIES = frozenset(f"{api}Memcpy{how}" for api in ("hip", "cuda") for how in ("", "Async"))
_FROM_DEVICE, _BY_POINTERS = "2", "4"  # hipMemcpyDeviceToHost, hipMemcpyDefault; CUDA's have the same numbers
# What is inlined into its callers, so that copy, memory and loop stand together.
_KEPT_APART = re.compile(rf"@(?:main|_GLOBAL__|__cxx_global|__(?:hip|cuda)_|\w*__device_stub__|{VECTOR})")
_MOST_INLINED = 80  # lines
_ZEROS = frozenset(("0", "0.000000e+00", "-0.000000e+00"))
# Loops keep their test in front, so that no condition beside them says when they are left out.
PLAIN_LOOPS = ("-mllvm", "-rotation-max-header-size=0", "-mllvm", "-unroll-full-max-count=0")


def agree(mine: Total, its: Total) -> bool:
    """May one stand for the other? The only element of a copy is any total of it."""
    if mine.element != its.element or mine.room != its.room and mine.room * its.room:
        return False
    return not mine.how or not its.how or (mine.how, mine.cast, mine.kept) == (its.how, its.cast, its.kept)


def readable(ir: str) -> str:
    """The front end's module for the optimiser: vectors' own functions stay calls, small ones of the program do not."""
    rows = []
    for function in lines_of(VECTOR_CODE.sub(lambda match: _as(match[0], "noinline"), ir)):
        own = function[0].startswith("define ") and not _KEPT_APART.search(function[0])
        if own and len(function) <= _MOST_INLINED:
            function = [_as(function[0], "alwaysinline"), *function[1:]]
        rows += function
    return "\n".join(rows)


def _as(header: str, attribute: str) -> str:
    return re.sub(r" #\d+", f" {attribute}", header, count=1)


def totalled(ir: str, sourced: Collection[int] = ()) -> tuple[str, tuple[Total, ...]]:
    """The module without these copies, and what they are, in the order of the text.

    `ir`: optimised, loops not rotated. A copy is numbered by its place among those that are taken out. What is left of
    those in `sourced` names where they copy from.
    """
    rows: list[str] = []
    found: list[tuple[Total, str]] = []
    for function in lines_of(ir):
        copies = function[0].startswith("define ") and any("Memcpy" in line for line in function)
        changed = with_named_values(function) if copies else function
        count, at = len(found), 0
        while copies and at < len(changed):
            if call_operands(changed[at])[0].removesuffix("_ptsz") in _COPIES:
                call = changed[at]
                try:
                    total, changed = _without(changed, at, len(found), len(found) in sourced)
                except NotTotalled:
                    pass
                else:
                    found.append((total, call))
                    at = -1  # lines came and went
            at += 1
        rows += changed if len(found) > count else function
    if not found:
        return ir, ()
    notes = parse(ir).notes
    others = {tuple(_places(row, notes)) for row in rows if "Memcpy" in call_operands(row)[0]}
    sites = [tuple(_places(call, notes)) for _, call in found]
    totals = tuple(
        replace(total, places=site if site not in others else ())  # a run could not tell it from its neighbour
        for (total, _), site in zip(found, sites, strict=True)
    )
    return "\n".join([*rows, *_declarations(totals)]), totals


def _declarations(totals: tuple[Total, ...]) -> list[str]:
    kinds = dict.fromkeys(total.element for total in totals)
    return [
        f"define internal void {NOTHING}() alwaysinline nounwind {{\n  ret void\n}}",
        "declare i32 @intelliperf.brings(i32, ptr) nounwind",
        *(f"declare {kind} @intelliperf.total.{kind}(i32) nounwind" for kind in kinds),
    ]


def _places(call: str, notes: Mapping[str, str]) -> Iterator[Place]:
    """Of the line's !DILocation, and of the calls that it was inlined into."""
    place = re.search(r"!dbg !(\d+)", call)
    note = notes.get(place[1], "") if place else ""
    while note:
        line, scope = (re.search(rf"{what}: !?(\d+)", note) for what in ("line", "scope"))
        file = re.search(r"file: !(\d+)", notes.get(scope[1], "") if scope else "")
        named = re.search(r'filename: "([^"]*)"', notes.get(file[1], "") if file else "")
        yield PurePath(named[1]).name if named else "", int(line[1]) if line else 0
        outer = re.search(r"inlinedAt: !(\d+)", note)
        note = notes.get(outer[1], "") if outer else ""


def _without(lines: list[str], at: int, number: int, sourced: bool) -> tuple[Total, list[str]]:
    """The function without the copy in this line. Raises `NotTotalled`."""
    body = FunctionBody(lines)
    values = values_of(lines[at])
    if len(values) < 4 or values[3] not in (_FROM_DEVICE, _BY_POINTERS) or "invoke" in lines[at]:
        raise NotTotalled
    target = target_of(body, values[0], at)
    copied = Sizes(body, target.begins, target.ends, target.bytes).of(values[2])
    room = _room(target, copied)
    gone = dict(target.gone)
    alone: dict[str, str] = {}  # values that are the first element, with their type
    loops: list[Loop] = []
    freed: list[int] = []
    for begin in target.begins:
        for use in body.uses(begin):
            if use in gone or use == at:
                continue
            if (loaded := LOADED.match(lines[use])) is not None and loaded[3] == begin:
                alone[loaded[1]] = loaded[2]
                gone[use] = []
            elif (found := stand_in(body, use, begin, at)) is not None:
                gone[use] = found
                freed += [use] if call_operands(lines[use])[0] in FREES else []
            else:
                loops += [loop_over(body, read, target, copied) for read in _read_elsewhere(body, use)]
    seeds = {loop.seed for loop in loops if loop.seed}
    if any(body.dominates(use, body.definitions[read]) for use in freed for read in alone):
        raise NotTotalled
    if any(body.dominates(use, loop.reads[0]) for use in freed for loop in loops):
        raise NotTotalled
    total = replace(_total(loops, {one: kind for one, kind in alone.items() if one not in seeds}, copied), room=room)
    brought = f"%brought.{number}"
    source = values[1] if sourced else "null"
    gone[at] = [
        f"{lines[at].partition(' = ')[0]} = call i32 @intelliperf.brings(i32 {number}, ptr {source})",
        f"  {brought} = call {total.element} @intelliperf.total.{total.element}(i32 {number})",
    ]
    rows = _rewritten(body, gone, loops, brought)
    for value in alone:
        rows = [replaced(row, value, brought) for row in rows]
    rows = without_unused(rows)
    array = ARRAY.match(body.text(values[0])) is not None
    left = {values[0], *target.ends, *(() if array else target.begins)}
    used = [row for row in rows if not row.lstrip().startswith((f"{values[0]} = alloca", "call void @llvm.lifetime"))]
    if any(mentions(row, one) for row in used for one in left):
        raise NotTotalled
    return total, rows


def _room(target: Target, copied: Linear) -> int:
    """Bytes of an array that may be larger than what is copied; 0 elsewhere. Raises `NotTotalled`."""
    if copied == target.bytes:
        return 0
    if not target.array or not copied.terms and copied.constant > target.bytes.constant:
        raise NotTotalled
    return int(target.bytes.constant) if copied.terms else 0


def _read_elsewhere(body: FunctionBody, use: int) -> Iterator[str]:
    """What is loaded from an address that this line makes of that of the first element."""
    step = re.match(rf"\s+({VALUE}) = (?:getelementptr|phi) ", body.lines[use])
    if step is None:
        return
    for one in body.uses(step[1]):
        loaded = LOADED.match(body.lines[one])
        if loaded is not None and loaded[3] == step[1]:
            yield loaded[1]
        elif re.match(rf"\s+{VALUE} = phi ptr ", body.lines[one]) and "= getelementptr" in body.lines[use]:
            yield from _read_elsewhere(body, one)


def _total(loops: list[Loop], alone: Mapping[str, str], copied: Linear) -> Total:
    """What all the reads have in common. Raises `NotTotalled`."""
    found = {loop.total for loop in loops}
    for kind in alone.values():
        if copied != Linear(Fraction(BYTES.get(kind, 0))):
            raise NotTotalled
        found.add(Total(kind, "", "", kind))
    if len(found) != 1:
        raise NotTotalled
    return found.pop()


def _rewritten(body: FunctionBody, gone: Mapping[int, list[str]], loops: list[Loop], brought: str) -> list[str]:
    """The lines with what stands for those that go, and without the loops."""
    headers = {loop.header: [one for one in loops if one.header == loop.header] for loop in loops}
    bodies = {loop.body: loop for loop in loops if loop.whole}
    by = {loop.kept: _result(loop, brought) for loop in loops}
    gone = {**gone, **{at: [] for loop in loops if not loop.whole for at in loop.reads}}
    rows: list[str] = []
    for at, line in enumerate(body.lines):
        label = body.block_of[at]
        if label in bodies:
            continue
        if at in gone:
            rows += gone[at]
            continue
        here = headers.get(label, [])
        ended = here[0] if here and here[0].whole else None
        phi = PHI.match(line) if ended is not None else None
        if ended is not None and phi is not None:
            first, _ = before_and_behind(phi[1], phi, ended.body)
            before = phi[6] if phi[4] == f"%{ended.body}" else phi[4]
            rows.append(f"{line[: line.index('[')]}[ {first}, {before} ]")
            continue
        if here and at in body.blocks[label] and at == body.blocks[label][-1]:
            rows += [row for loop in here for row in by[loop.kept][1]]
            if ended is not None:
                rows.append(f"  br label {ended.exit}")
                continue
        for kept, (name, _) in by.items():
            line = replaced(line, kept, name)
        rows.append(line)
    return rows


def _result(loop: Loop, brought: str) -> tuple[str, list[str]]:
    """The value that the loop ends with, and the lines that make it of the total."""
    total, name = loop.total, f"{brought}.{loop.header}".replace('"', "")
    rows: list[str] = []
    value = brought
    if total.cast:
        rows.append(f"  {name}.as = {total.cast} {loop.flags}{total.element} {brought} to {total.kept}")
        value = f"{name}.as"
    if loop.seed or loop.first in _ZEROS:
        return value, rows
    rows.append(f"  {name} = {total.how} {loop.flags}{total.kept} {loop.first}, {value}")
    return name, rows
