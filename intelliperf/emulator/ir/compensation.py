"""Where a function calculates its own rounding errors: compensated sums, and products in two parts.

As real numbers these are zero, so no shadow and few inputs tell whether a rewrite still has them.
"""

from __future__ import annotations

import re

from intelliperf.emulator.ir.module import Function
from intelliperf.emulator.ir.text import NAME, without_attachments

_FREE = re.compile(r"\b(?:fast|reassoc)\b")
_BINARY = re.compile(r"(fadd|fsub|fmul) (?:[a-z]+ )*(?:float|double) (\S+), (\S+)$")
_NEGATED = re.compile(rf"fneg (?:[a-z]+ )*(?:float|double) (%{NAME})$")
_FUSED = re.compile(rf"@llvm\.fma\.f\d+\(\w+ (\S+), \w+ (\S+), \w+ (%{NAME})\)")


def compensations(function: Function) -> int:
    """How many instructions take from a sum one of its addends, or from a product that very product."""
    sums: dict[str, set[str]] = {}
    products: dict[str, set[str]] = {}
    count = 0
    instructions = [(one, without_attachments(one.text)) for block in function.blocks for one in block.instructions]
    for one, text in instructions:
        binary = _BINARY.search(text)
        if one.result is None or _FREE.search(text):
            continue
        if binary and binary[1] == "fadd":
            sums[one.result] = {binary[2], binary[3]}
        elif binary and binary[1] == "fmul":
            products[one.result] = {binary[2], binary[3]}
    negated = {one.result: found[1] for one, text in instructions if (found := _NEGATED.search(text))}
    for _, text in instructions:
        binary, fused = _BINARY.search(text), _FUSED.search(text)
        if binary and binary[1] == "fsub" and not _FREE.search(text):
            count += binary[3] in sums.get(binary[2], ()) or binary[2] in sums.get(binary[3], ())
        elif fused:
            count += products.get(negated.get(fused[3], ""), set()) == {fused[1], fused[2]}
    return count
