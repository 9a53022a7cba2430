"""A loop of the host over all elements of a copy that makes their total: recognised in LLVM assembly."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from intelliperf.validation.edits.functionbody import VALUE, FunctionBody
from intelliperf.validation.edits.linear import Linear, Sizes
from intelliperf.validation.edits.total import NotTotalled, Total
from intelliperf.validation.edits.totalmemory import BYTES, LOADED, Target

PHI = re.compile(rf"\s+({VALUE}) = phi (?:[a-z]+ )*?(\w+) \[ (\S+), (\S+) \], \[ (\S+), (\S+) \]")
_BRANCH = re.compile(rf"\s+br i1 ({VALUE}), label ({VALUE}), label ({VALUE})")
ELEMENT = re.compile(rf"getelementptr (?:inbounds )?(?:nuw )?(\w+), ptr ({VALUE}), i64 ({VALUE}|\d+)(?:,|$)")
_CAST = re.compile(rf"(fpext|sext|zext|sitofp|uitofp) (?:[a-z]+ )*?(\w+) ({VALUE}) to (\w+)")
_SUM = re.compile(rf"(fadd|add) (?:[a-z]+ )*?(\w+) ({VALUE}), ({VALUE})(?:,|$)")
_STEP = re.compile(rf"add (?:nuw |nsw )*i\d+ ({VALUE}), 1(?:,|$)")
_ENDS = re.compile(rf"icmp (?:samesign )?(eq|ne|[us]lt) \w+ ({VALUE}), ({VALUE}|\d+)(?:,|$)")
_CALCULATES = re.compile(r"\s+\S+ = (?:getelementptr|f?add|[fi]cmp|[sz]ext|fpext|[su]itofp|phi)\b")


@dataclass(frozen=True)
class Loop:
    """A walk over the elements, in blocks of these labels. `kept` is the total's phi, `first` what it starts from."""

    header: str
    body: str
    exit: str
    kept: str
    first: str
    total: Total
    flags: str  # of its arithmetic
    whole: bool  # it does nothing else
    reads: tuple[int, ...]  # the lines of the load, of the phi and of what it gets in each round
    seed: str  # the element that it starts from, where it reads the others only


def loop_over(body: FunctionBody, loaded: str, target: Target, copied: Linear) -> Loop:
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
    phis = {m[1]: m for at in body.blocks[header] if (m := PHI.match(body.lines[at])) is not None}
    if into != f"%{inside}" or out == into:
        raise NotTotalled
    walks = {name: before_and_behind(name, one, inside) for name, one in phis.items()}
    element = LOADED.match(body.lines[body.definitions[loaded]])
    assert element is not None
    step, others = _walked(body, element, target, walks)
    if _length(body, branch, into == branch[2], step, element[2], target, walks) != copied:
        raise NotTotalled
    mine = {body.definitions[loaded], *body.uses(loaded)}
    kept = next((name for name in phis if body.definitions.get(walks[name][1], -1) in _closure(body, mine, places)), "")
    if not kept:
        raise NotTotalled
    first, last = walks[kept]
    total = _kept(body, element, kept, last, phis[kept][2])
    around = {*body.blocks[header], *places}
    whole = not _others(body, header, places, loaded) and set(phis) == {step, kept}
    counted = _closure(body, {body.definitions[step]}, body.blocks[header])
    if whole and counted - around or not whole and step == element[3]:
        raise NotTotalled
    seed = _seed(body, first, total, target) if others else ""
    flags = re.match(r"f\w+ ((?:[a-z]+ )*)(?:half|float|double) ", body.text(_cast_of(body, last)))
    reads = body.definitions[loaded], body.definitions[kept], body.definitions[last]
    return Loop(header, inside, out, kept, first, total, flags[1] if flags is not None else "", whole, reads, seed)


def _closure(body: FunctionBody, lines: set[int], places: list[int]) -> set[int]:
    """These lines and all in `places` that use what they define."""
    found = set(lines)
    while True:
        more = {
            use
            for at in found
            if (result := re.match(rf"\s+({VALUE}) = ", body.lines[at])) is not None and at in places
            for use in body.uses(result[1])
        } - found
        if not more:
            return found
        found |= more


def _seed(body: FunctionBody, first: str, total: Total, target: Target) -> str:
    """The load of the first element, where the total begins with it. Raises `NotTotalled`."""
    cast = _CAST.match(body.text(first))
    seed = cast[3] if cast is not None and cast[1] == total.cast else first
    loaded = LOADED.match(body.lines[body.definitions[seed]]) if seed in body.definitions else None
    if loaded is None or loaded[3] not in target.begins or bool(total.cast) != (seed != first):
        raise NotTotalled
    if not all(
        re.match(rf"\s+{VALUE} = phi ", body.lines[use]) or body.lines[use].lstrip().startswith(f"{first} =")
        for use in (*body.uses(seed), *body.uses(first))
    ):
        raise NotTotalled
    return seed


def _cast_of(body: FunctionBody, last: str) -> str:
    """The first part of a sum that is made of the element; the sum itself where it adds the element as it is."""
    parts = re.findall(VALUE, body.text(last))
    return next((part for part in parts if _CAST.match(body.text(part)) is not None), last)


def before_and_behind(name: str, phi: re.Match[str], inside: str) -> tuple[str, str]:
    """What it is before the first round, and behind each."""
    (one, its), (other, _) = (phi[3], phi[4]), (phi[5], phi[6])
    return (other, one) if its == f"%{inside}" else (one, other)


def _others(body: FunctionBody, header: str, places: list[int], loaded: str) -> bool:
    """Does the loop do anything that others see, or read other memory?"""
    own = body.definitions[loaded]
    lines = [body.lines[at] for at in (*body.blocks[header][:-1], *places[:-1]) if at != own]
    return not all(_CALCULATES.match(line) for line in lines)


def _walked(
    body: FunctionBody, element: re.Match[str], target: Target, walks: Mapping[str, tuple[str, str]]
) -> tuple[str, bool]:
    """The phi that goes from element to element, and whether it begins with the second. Raises `NotTotalled`."""
    size = BYTES.get(element[2], 0)
    pointer = element[3]
    if pointer in walks:
        first, last = walks[pointer]
        step = ELEMENT.match(body.text(last))
        one_by_one = step is not None and step[2] == pointer and step[3].isdecimal()
        if step is None or not one_by_one or not size or BYTES.get(step[1], 0) * int(step[3]) != size:
            raise NotTotalled
        second = ELEMENT.match(body.text(first))
        beside = second is not None and second[2] in target.begins and second[3].isdecimal()
        if second is not None and beside and BYTES.get(second[1], 0) * int(second[3]) == size:
            return pointer, True
        if first not in target.begins:
            raise NotTotalled
        return pointer, False
    indexed = ELEMENT.match(body.text(pointer))
    if indexed is None or indexed[2] not in target.begins or BYTES.get(indexed[1]) != size or not size:
        raise NotTotalled
    index = indexed[3]
    widened = re.match(rf"[sz]ext (?:nneg )?i32 ({VALUE}) to i64", body.text(index))
    index = widened[1] if widened is not None else index
    first, last = walks.get(index, ("", ""))
    step = _STEP.match(body.text(last))
    if first not in ("0", "1") or step is None or step[1] != index:
        raise NotTotalled
    return index, first == "1"


def _length(
    body: FunctionBody,
    branch: re.Match[str],
    enters: bool,
    step: str,
    element: str,
    target: Target,
    walks: Mapping[str, tuple[str, str]],
) -> Linear:
    """How many bytes the rounds read together; `enters`: the branch is taken into the loop. Raises `NotTotalled`."""
    ends = _ENDS.match(body.text(branch[1]))
    if ends is None or (ends[1] == "eq") == enters or ends[2] != step:
        raise NotTotalled
    if not body.text(step).startswith("phi ptr"):
        return Sizes(body, target.begins, target.ends, target.bytes).of(ends[3]).times(BYTES[element])
    if ends[3] in target.ends:
        return target.bytes
    end = ELEMENT.match(body.text(ends[3]))
    if end is None or end[2] not in target.begins or end[1] not in BYTES:
        raise NotTotalled
    return Sizes(body, target.begins, target.ends, target.bytes).of(end[3]).times(BYTES[end[1]])


def _kept(body: FunctionBody, element: re.Match[str], kept: str, last: str, kind: str) -> Total:
    """How the sum is made. Raises `NotTotalled`.

    A smallest or largest element is none: hardly any of the elements shows in it, so that it proves too little.
    """
    added = _SUM.match(body.text(last))
    if added is None or kept not in added.groups() or added[3] == added[4]:
        raise NotTotalled
    other = added[4] if added[3] == kept else added[3]
    cast = ""
    if other != element[1]:
        changed = _CAST.match(body.text(other))
        if changed is None or changed[3] != element[1] or changed[4] != kind:
            raise NotTotalled
        cast = changed[1]
    phi, sum_ = body.definitions[kept], body.definitions[last]
    around = {*body.blocks[body.block_of[sum_]], *body.blocks[body.block_of[phi]]}
    if set(body.uses(kept)) & around - {phi, sum_} or set(body.uses(last)) - {phi}:
        raise NotTotalled
    if {use for name in (element[1], other) for use in body.uses(name)} - {sum_, body.definitions[other]}:
        raise NotTotalled
    return Total(element[2], added[1], cast, kind)
