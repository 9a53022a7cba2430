"""Recognises every instruction form that touches memory. An unknown form is an error, never a gap."""

from __future__ import annotations

import re
from dataclasses import dataclass

from intelliperf.emulator.ir.layout import Layout
from intelliperf.emulator.ir.module import Instruction
from intelliperf.emulator.ir.text import pointer_operand, split_top, type_of
from intelliperf.errors import ToolchainError

VOLATILE, FLOAT, COMPARE_EXCHANGE, UNIFORM = 1, 2, 4, 8
COMBINED, COUNTED, SPINS = 16, 32, 64  # how the real target does an atomic, see abi.h
UNIFORM_VALUE = 128  # of an atomic: all lanes of a wave have the same operand
WAITS, FOLLOWS, CONSTANT, INDEXED = 128, 256, 512, 1024  # of a load, see abi.h
JOINS = 4096  # of a load: it can be made together with the one before it in its basic block
CHAINED = 2048  # of a load, told in the metadata only: the address comes from a load in an earlier turn of its loop
# What an access orders and takes for granted; in the site's second word, see abi.h.
ATOMIC, BLOCK_SCOPE, WAVE_SCOPE, ACQUIRE, RELEASE, READ_ONLY, UPDATE, LOOP = (1 << bit for bit in range(16, 24))
DRAWS = 1 << 25
ALIGNMENT_SHIFT, _MOST_ALIGNED = 29, 7
ALIGNMENT_MASK = _MOST_ALIGNED << ALIGNMENT_SHIFT
MEMORY_OPCODES = frozenset({"load", "store", "atomicrmw", "cmpxchg"})
_LOAD = re.compile(r"load (atomic )?(volatile )?([a-z]\w*), ptr (%[-\w.$]+)(?=,|$|\n)")
_QUALIFIERS = re.compile(r"(load|store|atomicrmw|cmpxchg) ((?:atomic |volatile |weak |elementwise )*)")
_FLOATING = re.compile(r"(?:<\d+ x )?(?:half|bfloat|float|double|x86_fp80|fp128)\b")
_INTRINSIC_RANGE = re.compile(r"@(?:llvm\.(memcpy|memmove|memset)(?:\.\w+)*|(memcpy|memmove|memset))\(")
_ALIGNMENT = re.compile(r"\balign (\d+)")
_ORDER = re.compile(r" (acquire|release|acq_rel|seq_cst)\b")
_MASKED = re.compile(r"@llvm\.(masked|vp)\.(\w+)(?:\.[\w.]+)?\(")


@dataclass(frozen=True)
class Access:
    """One access of a lane: `pointer` is IR text.

    For ranges only: `length` (IR text of an i64) and the `alignment` in bytes that the call promises.
    """

    kind: str
    pointer: str
    type_name: str
    bytes: int
    flags: int
    operation: str
    length: str | None = None
    alignment: int = 1
    value: str = ""  # of an atomicrmw: the operand


def access_of(instruction: Instruction, layout: Layout, result_used: bool) -> Access:
    """The access that a load, store, atomicrmw or cmpxchg makes."""
    text = instruction.text.lstrip()
    if instruction.result is not None:  # its name may contain an opcode: %x.copyload
        text = text[len(instruction.result) :].lstrip(" =")
    if instruction.opcode == "load":
        quick = _LOAD.match(text)
        if quick:
            flags = VOLATILE if quick[1] or quick[2] else 0
            return _plain("load", quick[4], quick[3], flags | _promises(text, quick[1] is not None), layout)
    found = _QUALIFIERS.search(text)
    if not found:
        raise ToolchainError(f"unknown IR memory instruction: {text[:200]}")
    flags = VOLATILE if "atomic " in found[2] or "volatile " in found[2] else 0
    flags |= _promises(text, "atomic " in found[2] or instruction.opcode in ("atomicrmw", "cmpxchg"))
    parts = split_top(text[found.end() :])
    if len(parts) < 2:
        raise ToolchainError(f"unknown IR memory instruction: {text[:200]}")
    if instruction.opcode == "load":
        return _plain("load", pointer_operand(parts[1]), parts[0], flags, layout)
    if instruction.opcode == "store":
        return _plain("store", pointer_operand(parts[1]), type_of(parts[0]), flags, layout)
    return _atomic(instruction, parts, layout, result_used, flags)


def _promises(text: str, atomic: bool) -> int:
    """The flags of what an access orders, and of the alignment that it takes for granted."""
    found = _ALIGNMENT.search(text)
    exponent = min(int(found[1]).bit_length() - 1, _MOST_ALIGNED) if found else 0
    flags = exponent << ALIGNMENT_SHIFT
    if "!invariant.load" in text:
        flags |= READ_ONLY
    if not atomic:
        return flags
    flags |= ATOMIC
    if (order := _ORDER.search(text)) is not None:
        flags |= (ACQUIRE if order[1] != "release" else 0) | (RELEASE if order[1] != "acquire" else 0)
    return flags


def _plain(kind: str, pointer: str, type_name: str, flags: int, layout: Layout) -> Access:
    if _FLOATING.match(type_name):
        flags |= FLOAT
    return Access(kind, pointer, type_name, layout.size(type_name), flags, kind)


def _atomic(instruction: Instruction, parts: list[str], layout: Layout, result_used: bool, flags: int) -> Access:
    type_name = type_of(parts[1])
    flags |= VOLATILE | (FLOAT if _FLOATING.match(type_name) else 0)
    if instruction.opcode == "cmpxchg":
        pointer, operation, kind = pointer_operand(parts[0]), "cmpxchg", "atomic"
        flags |= COMPARE_EXCHANGE
    else:
        verb, _, rest = parts[0].partition(" ")
        pointer, operation = pointer_operand(rest), f"atomicrmw {verb}"
        kind = "atomic" if result_used else "reduction"
    value = parts[1].split(" monotonic", 1)[0].removeprefix(type_name).split()[:1] if operation != "cmpxchg" else []
    return Access(kind, pointer, type_name, layout.size(type_name), flags, operation, value="".join(value))


def ranges_of(call: Instruction) -> list[Access]:
    """The ranges that a memcpy, memmove or memset touches; sources come first. Empty for other calls."""
    found = _INTRINSIC_RANGE.search(call.text)
    if not found:
        return []
    operation = found[1] or found[2]
    arguments = call_arguments(call.text, found.end() - 1)
    if len(arguments) < 3:
        raise ToolchainError(f"unknown IR memory intrinsic: {call.text.strip()[:200]}")
    length = _length(arguments[2])
    if operation == "memset":
        return [_range("range_store", arguments[0], operation, length)]
    return [
        _range("range_load", arguments[1], operation, length),
        _range("range_store", arguments[0], operation, length),
    ]


def _range(kind: str, argument: str, operation: str, length: str) -> Access:
    size = int(length) if length.isdigit() else 0
    aligned = _ALIGNMENT.search(argument)
    alignment = int(aligned[1]) if aligned else 1
    return Access(kind, pointer_operand(argument), "i8", size, 0, operation, length, alignment)


def _length(argument: str) -> str:
    words = argument.split()
    if words[0] != "i64":
        raise ToolchainError(f"unknown length of a memory intrinsic: {argument[:200]}")
    return words[-1] if not argument.endswith(")") else argument[argument.index(" ") + 1 :]


def masked_of(call: Instruction, layout: Layout) -> Access | None:
    """The access of a masked load or store (all of the vector is named); None for other calls."""
    found = _MASKED.search(call.text)
    if not found:
        return None
    arguments = call_arguments(call.text, found.end() - 1)
    if found[1] == "masked" and found[2] == "load":
        vector = type_of(call.text[call.text.index("call ") + 5 :].lstrip("abcdefghijklmnopqrstuvwxyz "))
        return _plain("load", pointer_operand(arguments[0]), vector, 0, layout)
    if found[1] == "masked" and found[2] == "store":
        return _plain("store", pointer_operand(arguments[1]), type_of(arguments[0]), 0, layout)
    raise ToolchainError(f"device code uses {found[0][1:-1]}, which cannot be traced: {call.text.strip()[:200]}")


def call_arguments(text: str, bracket: int) -> list[str]:
    """The arguments of a call whose opening bracket is at `bracket`."""
    depth_end = _matching(text, bracket)
    return split_top(text[bracket + 1 : depth_end])


def _matching(text: str, start: int) -> int:
    depth = 0
    quoted = False
    for index in range(start, len(text)):
        mark = text[index]
        if mark == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif mark == "(":
            depth += 1
        elif mark == ")":
            depth -= 1
            if depth == 0:
                return index
    raise ToolchainError(f"unbalanced brackets in IR: {text.strip()[:200]}")
