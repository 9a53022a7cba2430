"""Where a function keeps integers in few bits: cut, stored, counted in, masked or cut to them, or summed in floats.

What a rewrite has of these beyond the original is where its indices and totals may be too narrow; larger launches and
larger numbers then show whether they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from intelliperf.emulator.ir.module import Function, Instruction
from intelliperf.emulator.ir.text import NAME, without_attachments

_LEAST, _MOST = 8, 30  # bits; what is narrower is a flag or a lane
_MOST_SHIFTED = 18  # what is wider takes part of a hash, or of a float
_WORD, _DOUBLE = 32, 64  # of these what is stored, and what of the larger is cut to the smaller: totals, perhaps
_KEPT = frozenset(("store", "atomicrmw", "cmpxchg"))
_TRUNCATED = re.compile(r" to (?:<\d+ x )?i(\d+)>?$")
_MOVED = re.compile(r"(?:load|store|atomicrmw|cmpxchg) .*?(?:<\d+ x )?\bi(\d+)\b")
_COUNTED = re.compile(r"(?:add|sub|mul|phi) (?:n[us]w )*(?:<\d+ x )?i(\d+)\b")
_MASKED = re.compile(r", (\d+)$")
_SHIFTED = re.compile(rf"[la]shr (?:exact )?(?:<\d+ x )?i(\d+)>? (%{NAME}), (?:splat \(i\d+ )?(\d+)\)?$")
_CUT = re.compile(r"@llvm\.[su]min\..*, (?:<\d+ x )?i\d+>? (?:splat \(i\d+ )?(\d+)\)*$")
_SUM = frozenset(("add", "sub", "mul", "phi"))
_EXTENSIONS = frozenset(("zext", "sext"))
_EXTENDED = re.compile(rf"[sz]ext (?:nneg )?i{_WORD} (%{NAME}) to i{_DOUBLE}$")
_USED = re.compile(rf"%{NAME}")
_STORED = re.compile(rf"(?:store (?:atomic )?(?:volatile )?|atomicrmw .*, )i{_DOUBLE} (%{NAME})")
_RAISED = re.compile(rf"shl (?:n[us]w )*(?:<\d+ x )?i(\d+)>? %{NAME}, (?:splat \(i\d+ )?(\d+)\)?$")
_DIGITS = {"half": 11, "bfloat": 8, "float": 24}  # binary ones; a double has as many as any sum that is tried
_CONVERSIONS = frozenset(("sitofp", "uitofp"))
_CARRIERS = frozenset(
    ("fadd", "fsub", "fmul", "fneg", "phi", "select", "insertelement", "extractelement", "shufflevector")
)
_OF_FLOATS = _CARRIERS | _CONVERSIONS | {"fptosi", "fptoui", "call", "atomicrmw"}
_FUSED = re.compile(r"@llvm\.fm(?:a|uladd)\.")
_MERGED = re.compile(r"= phi (?:[a-z]+ )*(?:<\d+ x )?(half|bfloat|float)\b")
_ADDED = re.compile(rf"atomicrmw (?:volatile )?fadd .*, (half|bfloat|float) (%{NAME})")
_BACK = re.compile(r"(?:fpto[su]i (?:<\d+ x )?|@llvm\.fpto[su]i\.sat\.\S*\((?:<\d+ x )?)(half|bfloat|float)\b")


def widths(function: Function) -> Counter[int]:
    """How many instructions narrow a number to how many bits."""
    raised = {
        one.result: int(found[2])
        for block in function.blocks
        for one in block.instructions
        if one.opcode == "shl" and (found := _RAISED.search(without_attachments(one.text)))
    }
    every = ((one, bits) for block in function.blocks for one in block.instructions for bits in _bits(one, raised))
    counted = Counter(bits for one, bits in every if _LEAST <= bits <= _MOST or _is_total(one, bits))
    if late := _extended_late(function):
        counted[_WORD] += late
    return counted + _digits(function)


def _digits(function: Function) -> Counter[int]:
    """How many sums of what were integers are floats of so many digits, and how many floats become integers."""
    every = [
        (one, without_attachments(one.text))
        for block in function.blocks
        for one in block.instructions
        if one.opcode in _OF_FLOATS
    ]
    counted = Counter(found[1] for _, text in every if (found := _BACK.search(text)))
    integers = {one.result for one, _ in every if one.opcode in _CONVERSIONS}
    fused = {one.result for one, text in every if one.opcode == "call" and _FUSED.search(text)}
    carriers = [(one, set(_USED.findall(text))) for one, text in every if _carries(one, fused)] if integers else []
    before = 0
    while before < len(integers):
        before = len(integers)
        integers |= {one.result for one, used in carriers if used & integers}
    sums = {one.result for one, _ in carriers if one.opcode in ("fadd", "fsub") or one.result in fused} & integers
    for _, text in every if integers else ():
        if (merged := _MERGED.search(text)) and sums.intersection(_USED.findall(text)):
            counted[merged[1]] += 1
        if (added := _ADDED.search(text)) and added[2] in integers:
            counted[added[1]] += 1
    return Counter({_DIGITS[kind]: count for kind, count in counted.items()})


def _carries(instruction: Instruction, fused: set[str | None]) -> bool:
    return instruction.opcode in _CARRIERS or instruction.result in fused


def _extended_late(function: Function) -> int:
    """How many sums of words become twice as wide only where they are stored, or added to larger ones."""
    every = [
        (one, without_attachments(one.text))
        for block in function.blocks
        for one in block.instructions
        if one.opcode in _SUM | _KEPT | _EXTENSIONS
    ]
    added = {one.result for one, text in every if one.opcode in _SUM and _counts(text, _WORD)}
    wide = {one.result for one, text in every if (found := _EXTENDED.search(text)) and found[1] in added}
    into = set[str]()
    for one, text in every:
        if one.opcode in _KEPT:
            into |= {found[1] for found in [_STORED.search(text)] if found}
        elif one.opcode in _SUM and _counts(text, _DOUBLE):
            into |= set(_USED.findall(text))
    return len(wide & into)


def _counts(text: str, bits: int) -> bool:
    found = _COUNTED.search(text)
    return found is not None and int(found[1]) == bits


def _is_total(instruction: Instruction, bits: int) -> bool:
    cut = instruction.opcode == "trunc" and bits == _WORD
    return cut or (instruction.opcode in _KEPT and bits in (_WORD, _DOUBLE))


def _bits(instruction: Instruction, raised: dict[str | None, int]) -> Iterator[int]:
    text, opcode = without_attachments(instruction.text), instruction.opcode
    if opcode == "trunc":
        yield from (int(found[1]) for found in [_TRUNCATED.search(text)] if found)
    elif opcode in ("load", "store", "atomicrmw", "cmpxchg"):
        yield from (int(found[1]) for found in [_MOVED.search(text)] if found)
    elif opcode in ("add", "sub", "mul", "phi"):
        yield from (int(found[1]) for found in [_COUNTED.search(text)] if found)
    elif opcode == "and":
        mask = int(found[1]) if (found := _MASKED.search(text)) else 0
        whole = mask.bit_length() == _WORD
        mask //= mask & -mask or 1  # an index times the size of an element
        if mask & (mask + 1) == 0 and not whole:
            yield mask.bit_length()
    elif opcode == "call":
        yield from (int(found[1]).bit_length() for found in [_CUT.search(text)] if found)
    elif opcode in ("lshr", "ashr") and (found := _SHIFTED.search(text)):
        # Shifted up before, it keeps the lower bits; else it takes two numbers apart that share a word.
        bits = int(found[1]) - raised[found[2]] if found[2] in raised else int(found[3])
        yield from (bits,) if bits <= _MOST_SHIFTED else ()
