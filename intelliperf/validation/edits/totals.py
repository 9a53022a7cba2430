"""Copies from the device of which the host needs the total alone: a sum, the smallest or the largest element.

How many partial results there are, and what each of them covers, is then the kernels' own matter. `totalled` takes
such copies out of the host's code, with the memory that they go to and the loop that walks over it; what is left names
the total. Nothing is taken out unless all that reads the copied elements is one loop over exactly these, or the only
element is read as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
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

_COPIES = frozenset(f"{api}Memcpy" for api in ("hip", "cuda"))
_FROM_DEVICE, _BY_POINTERS = "2", "4"  # hipMemcpyDeviceToHost, hipMemcpyDefault; CUDA's have the same numbers
_HEAP = frozenset(("malloc", "_Znwm", "_Znam", "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t"))
_FREES = frozenset(("free", "_ZdlPv", "_ZdlPvm", "_ZdaPv", "_ZdaPvm"))
# std::vector of a number as libstdc++ and libc++ mangle it: (n) and (n, value), and the destructor.
_VECTOR = r"_ZN(?:St6vectorI(?P<t>[fdijlmstxy])SaI(?P=t)EE|St3__16vectorI(?P<u>[fdijlmstxy])NS_9allocatorI(?P=u)EEEE)"
_MADE = re.compile(rf"{_VECTOR}C[12](?:B\w+?)?Em(?:RK\w+)*$")
_DESTROYED = re.compile(rf"{_VECTOR}D[12](?:B\w+?)?Ev$")
_VECTOR_CODE = re.compile(
    rf"^define (?:internal|linkonce_odr) [^\n]*@{_VECTOR}(?:C[12]\w*Em\w*|D[12]\w*)\([^\n]*$", re.MULTILINE
)
_OWN = re.compile(r"define (?:dso_local )?(?:internal|linkonce_odr) ")
_OF_LETTER = {"f": 4, "d": 8, "i": 4, "j": 4, "l": 8, "m": 8, "s": 2, "t": 2, "x": 8, "y": 8}  # bytes
_BYTES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "half": 2, "float": 4, "double": 8}
_ARRAY = re.compile(r"alloca (?:\[(\d+) x (\w+)\]|(\w+))(?:,|$)")
_PHI = re.compile(rf"\s+({VALUE}) = phi (?:[a-z]+ )*?(\w+) \[ (\S+), (\S+) \], \[ (\S+), (\S+) \]")
_BRANCH = re.compile(rf"\s+br i1 ({VALUE}), label ({VALUE}), label ({VALUE})")
_LOADED = re.compile(rf"\s+({VALUE}) = load (\w+), ptr ({VALUE})(?:,|$)")
_STORED = re.compile(rf"\s+store \w+ (?!%)\S+, ptr ({VALUE})(?:,|$)")
_ELEMENT = re.compile(rf"getelementptr (?:inbounds )?(?:nuw )?(\w+), ptr ({VALUE}), i64 ({VALUE}|\d+)(?:,|$)")
_CAST = re.compile(rf"(fpext|sext|zext|sitofp|uitofp) (?:[a-z]+ )*?(\w+) ({VALUE}) to (\w+)")
_TOTAL = re.compile(rf"(fadd|add) (?:[a-z]+ )*?(\w+) ({VALUE}), ({VALUE})(?:,|$)")
_EXTREME = re.compile(
    rf"(?:tail )?call (?:[a-z]+ )*?\w+ @llvm\.([us]m(?:in|ax)|m(?:in|ax)num)\.\w+\(\w+ (?:noundef )?({VALUE}), "
    rf"\w+ (?:noundef )?({VALUE})\)"
)
_COMPARED = re.compile(rf"([fi])cmp (?:[a-z]+ )*?([ous])([lg])[te] \w+ ({VALUE}), ({VALUE})(?:,|$)")
_CHOSEN = re.compile(rf"select (?:[a-z]+ )*?i1 ({VALUE}), \w+ ({VALUE}), \w+ ({VALUE})(?:,|$)")
_STEP = re.compile(rf"add (?:nuw |nsw )*i\d+ ({VALUE}), 1(?:,|$)")
_ENDS = re.compile(rf"icmp (?:samesign )?(eq|ne|[us]lt) \w+ ({VALUE}), ({VALUE}|\d+)(?:,|$)")
_CALCULATES = re.compile(
    r"\s+\S+ = (?:getelementptr|f?add|[fi]cmp|select|[sz]ext|fpext|[su]itofp|phi|"
    r"(?:tail )?call [^@]*@llvm\.[us]?m(?:in|ax))"
)
_NULL = re.compile(rf"\s+({VALUE}) = icmp (eq|ne) ptr ({VALUE}), null(?:,|$)")
_INVOKED = re.compile(rf"\s+(?:{VALUE} = )?invoke .*?(to label .*)$")
_NOTHING = "@intelliperf.nothing"
_ZEROS = frozenset(("0", "0.000000e+00", "-0.000000e+00"))
_SPELLED = {"maxnum": "fmax", "minnum": "fmin"}
# Loops keep their test in front, so that no condition beside them says when they are left out.
PLAIN_LOOPS = ("-mllvm", "-rotation-max-header-size=0", "-mllvm", "-unroll-full-max-count=0")
Place = tuple[str, int]  # file name and line


@dataclass(frozen=True)
class Total:
    """What the host does with one copy. `places`: lines of the call, the innermost function's first.

    `how`: add, fadd, or LLVM's name of the extreme; empty where the one element is read. `element` and `kept` are
    LLVM's types of the elements and of the total, `cast` is how one becomes the other, empty where they are one type.
    """

    element: str
    how: str
    cast: str
    kept: str
    places: tuple[Place, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class _Loop:
    """A walk over the elements, in blocks of these labels. `kept` is the total's phi, `first` what it starts from."""

    header: str
    body: str
    exit: str
    kept: str
    first: str
    total: Total
    flags: str  # of its arithmetic


@dataclass(frozen=True)
class _Target:
    """The host's memory of one copy: values that point to its first element, and behind its last."""

    begins: frozenset[str]
    made: int  # the line that allocates it; of an array, its declaration
    bytes: Linear
    ends: frozenset[str] = frozenset()
    gone: Mapping[int, list[str]] = field(default_factory=dict)  # lines that go with it, and what stands for them


def agree(mine: Total, its: Total) -> bool:
    """May one stand for the other? The only element of a copy is any total of it."""
    if mine.element != its.element:
        return False
    return not mine.how or not its.how or (mine.how, mine.cast, mine.kept) == (its.how, its.cast, its.kept)


class NotTotalled(Exception):
    """Something else becomes of the copied elements."""


def readable(ir: str) -> str:
    """The front end's module for the optimiser: vectors' own functions stay calls, wrappers of copies do not."""
    rows = []
    for function in lines_of(_VECTOR_CODE.sub(lambda match: _as(match[0], "noinline"), ir)):
        if _OWN.match(function[0]) and any(call_operands(line)[0] in _COPIES for line in function):
            function = [_as(function[0], "alwaysinline"), *function[1:]]
        rows += function
    return "\n".join(rows)


def _as(header: str, attribute: str) -> str:
    return re.sub(r" #\d+", f" {attribute}", header, count=1)


def totalled(ir: str) -> tuple[str, tuple[Total, ...]]:
    """The module without these copies, and what they are, in the order of the text.

    `ir`: optimised, loops not rotated. A copy is numbered by its place among those that are taken out.
    """
    rows: list[str] = []
    found: list[tuple[Total, str]] = []
    for function in lines_of(ir):
        changed = with_named_values(function) if function[0].startswith("define ") else function
        count, at = len(found), 0
        while at < len(changed):
            if call_operands(changed[at])[0].removesuffix("_ptsz") in _COPIES:
                call = changed[at]
                try:
                    total, changed = _without(changed, at, len(found))
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
    totals = tuple(replace(total, places=tuple(_places(call, notes))) for total, call in found)
    return "\n".join([*rows, *_declarations(totals)]), totals


def _declarations(totals: tuple[Total, ...]) -> list[str]:
    kinds = dict.fromkeys(total.element for total in totals)
    return [
        f"define internal void {_NOTHING}() alwaysinline nounwind {{\n  ret void\n}}",
        "declare i32 @intelliperf.brings(i32) nounwind",
        *(f"declare {kind} @intelliperf.total.{kind}(i32) nounwind" for kind in kinds),
        *dict.fromkeys(
            f"declare {kept} @intelliperf.{one.how}.{kept}({kept}, {kept}) nounwind willreturn memory(none)"
            for one, kept in ((total, total.kept) for total in totals)
            if one.how.endswith(("min", "max"))
        ),
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


def _without(lines: list[str], at: int, number: int) -> tuple[Total, list[str]]:
    """The function without the copy in this line. Raises `NotTotalled`."""
    body = FunctionBody(lines)
    values = _values(lines[at])
    if len(values) != 4 or values[3] not in (_FROM_DEVICE, _BY_POINTERS) or "invoke" in lines[at]:
        raise NotTotalled
    target = _target(body, values[0], at)
    copied = Sizes(body, target.begins, target.ends, target.bytes).of(values[2])
    array = _ARRAY.match(body.text(values[0])) is not None
    if copied != target.bytes and not (array and not copied.terms and copied.constant <= target.bytes.constant):
        raise NotTotalled
    gone = dict(target.gone)
    alone: list[tuple[str, str]] = []  # values that are the one element, with their type
    loops: list[_Loop] = []
    for begin in target.begins:
        for use in body.uses(begin):
            if use in gone or use == at:
                continue
            if (loaded := _LOADED.match(lines[use])) is not None and loaded[3] == begin:
                alone.append((loaded[1], loaded[2]))
                gone[use] = []
            elif (found := _harmless(body, use, begin, at)) is not None:
                gone[use] = found
            elif (step := re.match(rf"\s+({VALUE}) = (?:getelementptr|phi) ", lines[use])) is not None:
                reads = [_LOADED.match(lines[one]) for one in body.uses(step[1])]
                loops += [_loop(body, one[1], target, copied) for one in reads if one is not None and one[3] == step[1]]
    total = _total(loops, alone, copied)
    brought = f"%brought.{number}"
    gone[at] = [
        f"{lines[at].partition(' = ')[0]} = call i32 @intelliperf.brings(i32 {number})",
        f"  {brought} = call {total.element} @intelliperf.total.{total.element}(i32 {number})",
    ]
    rows = _rewritten(body, gone, loops, brought)
    for value, _ in alone:
        rows = [replaced(row, value, brought) for row in rows]
    rows = without_unused(rows)
    left = target.begins | target.ends if not array else frozenset()
    used = [row for row in rows if not row.lstrip().startswith((values[0], "call void @llvm.lifetime"))]
    if any(mentions(row, one) for row in used for one in left | {values[0]}):
        raise NotTotalled
    return total, rows


def _values(line: str) -> list[str]:
    return [one.split()[-1] for one in call_operands(line)[1]]


def _target(body: FunctionBody, pointer: str, copy: int) -> _Target:
    """Raises `NotTotalled`."""
    text = body.text(pointer)
    made = body.definitions.get(pointer, -1)
    array = _ARRAY.match(text)
    if array is not None:
        element = array[2] or array[3]
        if element not in _BYTES:
            raise NotTotalled
        return _Target(frozenset((pointer,)), made, Linear(Fraction(int(array[1] or 1) * _BYTES[element])))
    if made > 0 and call_operands(body.lines[made])[0] in _HEAP:
        size = Sizes(body).of(_values(body.lines[made])[0])
        return _Target(frozenset((pointer,)), made, size, gone={made: _not_called(body.lines[made])})
    loaded = _LOADED.match(body.lines[made]) if made > 0 else None
    if loaded is None:
        raise NotTotalled
    return _vector(body, loaded[3], copy)


def _vector(body: FunctionBody, variable: str, copy: int) -> _Target:
    """Raises `NotTotalled` where the object is anything but a vector that is made, read and destroyed."""
    made: list[int] = []
    begins: dict[str, int] = {}
    ends: dict[str, int] = {}
    gone: dict[int, list[str]] = {}
    if not body.text(variable).startswith("alloca "):
        raise NotTotalled
    for use in body.uses(variable):
        line = body.lines[use]
        called = call_operands(line)[0]
        if _MADE.match(called) and _values(line)[0] == variable:
            made.append(use)
        elif (loaded := _LOADED.match(line)) is not None and loaded[2] == "ptr":
            begins[loaded[1]] = use
        elif member := re.match(
            rf"\s+({VALUE}) = getelementptr [a-z ]*i8, ptr {re.escape(variable)}, i64 8(?:,|$)", line
        ):
            for read in body.uses(member[1]):
                found = _LOADED.match(body.lines[read])
                if found is None:
                    raise NotTotalled
                ends[found[1]] = read
        elif not (_DESTROYED.match(called) or "@llvm.lifetime." in line):
            raise NotTotalled
        if called:
            gone[use] = _not_called(line)
    if len(made) != 1 or not body.dominates(made[0], copy):
        raise NotTotalled
    name, operands = call_operands(body.lines[made[0]])
    letter = re.match(_VECTOR, name)
    each = _OF_LETTER[letter["t"] or letter["u"]] if letter is not None else 0
    size = Sizes(body).of(operands[1].split()[-1]).times(each)
    gone |= {at: [] for at in (*begins.values(), *ends.values())}
    return _Target(frozenset(begins), made[0], size, frozenset(ends), gone)


def _not_called(line: str) -> list[str]:
    invoked = _INVOKED.match(line)
    return [f"  invoke void {_NOTHING}() {invoked[1]}"] if invoked is not None else []


def _harmless(body: FunctionBody, use: int, pointer: str, copy: int) -> list[str] | None:
    """What stands for a use that reads nothing of what was copied; None for others."""
    line = body.lines[use]
    called = call_operands(line)[0]
    if called in _FREES and _values(line)[0] == pointer or "@llvm.lifetime." in line:
        return []
    written = called.startswith("llvm.memset.") and _values(line)[0] == pointer
    stored = _STORED.match(line)
    if written or stored is not None and stored[1] == pointer:
        return [] if body.dominates(use, copy) else None
    null = _NULL.match(line)
    return [f"  {null[1]} = icmp {'ne' if null[2] == 'eq' else 'eq'} i32 0, 0"] if null is not None else None


def _loop(body: FunctionBody, loaded: str, target: _Target, copied: Linear) -> _Loop:
    """The loop that reads this element in each round, if it reads all and does nothing else with them.

    Raises `NotTotalled`.
    """
    inside = body.block_of[body.definitions[loaded]]
    places = body.blocks[inside]
    jump = re.match(rf"\s+br label ({VALUE})", body.lines[places[-1]])
    header = jump[1][1:] if jump is not None else ""
    branch = _BRANCH.match(body.lines[body.blocks[header][-1]]) if header in body.blocks else None
    before = body.predecessors.get(header, set()) - {inside}
    if branch is None or len(before) != 1 or body.predecessors[inside] != {header}:
        raise NotTotalled
    into, out = (branch[2], branch[3]) if branch[2] == f"%{inside}" else (branch[3], branch[2])
    phis = {m[1]: m for at in body.blocks[header] if (m := _PHI.match(body.lines[at])) is not None}
    if into != f"%{inside}" or out == into or _others(body, header, places, loaded):
        raise NotTotalled
    walks = {name: _ends(name, one, inside) for name, one in phis.items()}
    element = _LOADED.match(body.lines[body.definitions[loaded]])
    assert element is not None
    step = _walked(body, element, target, walks)
    if _length(body, branch, into == branch[2], step, element[2], target, walks) != copied:
        raise NotTotalled
    totals = [name for name in phis if name != step]
    if len(totals) != 1:
        raise NotTotalled
    (kept,) = totals
    first, last = walks[kept]
    flags = re.match(r"f\w+ ((?:[a-z]+ )*)(?:half|float|double) ", body.text(_cast_of(body, last)))
    total = _kept(body, element, kept, last, phis[kept][2])
    return _Loop(header, inside, out, kept, first, total, flags[1] if flags is not None else "")


def _cast_of(body: FunctionBody, last: str) -> str:
    """The first part of a sum that is made of the element; the sum itself where it adds the element as it is."""
    parts = re.findall(VALUE, body.text(last))
    return next((part for part in parts if _CAST.match(body.text(part)) is not None), last)


def _ends(name: str, phi: re.Match[str], inside: str) -> tuple[str, str]:
    """What it is before the first round, and behind each."""
    (one, its), (other, _) = (phi[3], phi[4]), (phi[5], phi[6])
    return (other, one) if its == f"%{inside}" else (one, other)


def _others(body: FunctionBody, header: str, places: list[int], loaded: str) -> bool:
    """Does the loop do anything that others see, or read other memory?"""
    own = body.definitions[loaded]
    lines = [body.lines[at] for at in (*body.blocks[header][:-1], *places[:-1]) if at != own]
    return not all(_CALCULATES.match(line) for line in lines)


def _walked(body: FunctionBody, element: re.Match[str], target: _Target, walks: Mapping[str, tuple[str, str]]) -> str:
    """The phi that goes from the first element, one by one. Raises `NotTotalled`."""
    size = _BYTES.get(element[2], 0)
    pointer = element[3]
    if pointer in walks:
        first, last = walks[pointer]
        step = _ELEMENT.match(body.text(last))
        one_by_one = step is not None and step[2] == pointer and step[3].isdecimal()
        if first not in target.begins or step is None or not one_by_one or not size:
            raise NotTotalled
        if _BYTES.get(step[1], 0) * int(step[3]) != size:
            raise NotTotalled
        return pointer
    indexed = _ELEMENT.match(body.text(pointer))
    if indexed is None or indexed[2] not in target.begins or _BYTES.get(indexed[1]) != size or not size:
        raise NotTotalled
    index = indexed[3]
    widened = re.match(rf"[sz]ext (?:nneg )?i32 ({VALUE}) to i64", body.text(index))
    index = widened[1] if widened is not None else index
    first, last = walks.get(index, ("", ""))
    step = _STEP.match(body.text(last))
    if first != "0" or step is None or step[1] != index:
        raise NotTotalled
    return index


def _length(
    body: FunctionBody,
    branch: re.Match[str],
    enters: bool,
    step: str,
    element: str,
    target: _Target,
    walks: Mapping[str, tuple[str, str]],
) -> Linear:
    """How many bytes the rounds read together; `enters`: the branch is taken into the loop. Raises `NotTotalled`."""
    ends = _ENDS.match(body.text(branch[1]))
    if ends is None or (ends[1] == "eq") == enters or ends[2] != step:
        raise NotTotalled
    if not body.text(step).startswith("phi ptr"):
        return Sizes(body, target.begins, target.ends, target.bytes).of(ends[3]).times(_BYTES[element])
    if ends[3] in target.ends:
        return target.bytes
    end = _ELEMENT.match(body.text(ends[3]))
    if end is None or end[2] not in target.begins or end[1] not in _BYTES:
        raise NotTotalled
    return Sizes(body, target.begins, target.ends, target.bytes).of(end[3]).times(_BYTES[end[1]])


def _kept(body: FunctionBody, element: re.Match[str], kept: str, last: str, kind: str) -> Total:
    """How the total is made. Raises `NotTotalled`."""
    text = body.text(last)
    cast = how = ""
    parts: tuple[str, ...] = ()
    if (added := _TOTAL.match(text)) is not None:
        how, parts = added[1], (added[3], added[4])
    elif (extreme := _EXTREME.match(text)) is not None:
        how, parts = _SPELLED.get(extreme[1], extreme[1]), (extreme[2], extreme[3])
    elif (chosen := _CHOSEN.match(text)) is not None:
        compared = _COMPARED.match(body.text(chosen[1]))
        parts = chosen[2], chosen[3]
        if compared is None or {compared[4], compared[5]} != set(parts):
            raise NotTotalled
        largest = (compared[3] == "g") == (chosen[2] == compared[4])
        how = ("f" if compared[1] == "f" else compared[2]) + ("max" if largest else "min")
    if kept not in parts or len(set(parts)) != 2:
        raise NotTotalled
    (other,) = set(parts) - {kept}
    if other != element[1]:
        changed = _CAST.match(body.text(other))
        if changed is None or changed[3] != element[1] or changed[4] != kind:
            raise NotTotalled
        cast = changed[1]
    if {use for name in (element[1], last) for use in body.uses(name)} - _within(body, body.definitions[last], kept):
        raise NotTotalled
    return Total(element[2], how, cast, kind)


def _within(body: FunctionBody, last: int, kept: str) -> set[int]:
    """Lines of the block in which the total is made, and its phi."""
    inside = body.block_of[last]
    return {*body.blocks[inside], body.definitions[kept]}


def _total(loops: list[_Loop], alone: list[tuple[str, str]], copied: Linear) -> Total:
    """What all the reads have in common. Raises `NotTotalled`."""
    found = {loop.total for loop in loops}
    for _, kind in alone:
        if copied != Linear(Fraction(_BYTES.get(kind, 0))):
            raise NotTotalled
        found.add(Total(kind, "", "", kind))
    if len(found) != 1:
        raise NotTotalled
    return found.pop()


def _rewritten(body: FunctionBody, gone: Mapping[int, list[str]], loops: list[_Loop], brought: str) -> list[str]:
    """The lines with what stands for those that go, and without the loops."""
    headers = {loop.header: loop for loop in loops}
    bodies = {loop.body for loop in loops}
    by = {loop.kept: _result(loop, brought) for loop in loops}
    rows: list[str] = []
    for at, line in enumerate(body.lines):
        label = body.block_of[at]
        if label in bodies:
            continue
        if at in gone:
            rows += gone[at]
            continue
        loop = headers.get(label)
        phi = _PHI.match(line) if loop is not None else None
        if loop is not None and phi is not None:
            first, _ = _ends(phi[1], phi, loop.body)
            before = phi[6] if phi[4] == f"%{loop.body}" else phi[4]
            rows.append(f"{line[: line.index('[')]}[ {first}, {before} ]")
            continue
        if loop is not None and at in body.blocks[label] and at == body.blocks[label][-1]:
            rows += [*by[loop.kept][1], f"  br label {loop.exit}"]
            continue
        for kept, (name, _) in by.items():
            line = replaced(line, kept, name)
        rows.append(line)
    return rows


def _result(loop: _Loop, brought: str) -> tuple[str, list[str]]:
    """The value that the loop ends with, and the lines that make it of the total."""
    total, name = loop.total, f"{brought}.{loop.header}".replace('"', "")
    rows: list[str] = []
    value = brought
    if total.cast:
        rows.append(f"  {name}.as = {total.cast} {loop.flags}{total.element} {brought} to {total.kept}")
        value = f"{name}.as"
    if total.how in ("add", "fadd") and loop.first in _ZEROS:
        return value, rows
    if total.how in ("add", "fadd"):
        rows.append(f"  {name} = {total.how} {loop.flags}{total.kept} {loop.first}, {value}")
    else:
        call = (
            f"call {total.kept} @intelliperf.{total.how}.{total.kept}({total.kept} {loop.first}, {total.kept} {value})"
        )
        rows.append(f"  {name} = {call}")
    return name, rows
