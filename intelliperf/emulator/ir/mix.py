"""What kinds of operation a basic block holds: the static side of the instruction mix."""

from __future__ import annotations

import re
from collections.abc import Sequence

from intelliperf.emulator.ir.module import Instruction
from intelliperf.errors import ToolchainError

KINDS = ("f32", "f64", "int", "idiv", "special", "convert", "select", "branch", "memory", "call")
_TABLE = {
    "float": "fadd fsub fmul fneg fcmp",
    "special": "fdiv frem",
    "int": "add sub mul shl lshr ashr and or xor icmp",
    "idiv": "sdiv udiv srem urem",
    "convert": "trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp",
    "select": "select",
    "branch": "br switch indirectbr",
    "memory": "load store atomicrmw cmpxchg",
    "call": "call invoke callbr",
    "": "alloca getelementptr phi ret unreachable fence bitcast ptrtoint ptrtoaddr inttoptr addrspacecast freeze "
    "extractelement insertelement shufflevector extractvalue insertvalue landingpad resume va_arg "
    "cleanupret catchret catchswitch catchpad cleanuppad",
}
_KIND_OF = {opcode: kind for kind, opcodes in _TABLE.items() for opcode in opcodes.split()}
_VECTOR = re.compile(r"<(\d+) x (\w+)>")
_CONTRACTED = re.compile(r"\bf(?:mul|add|sub) (?:\w+ )*(?:contract|fast) ")
_POINTER = re.compile(r"\bptr ([%@][-\w.$]+)")
_VALUE = re.compile(r"%[-\w.$]+")
_CALLED = re.compile(r"@([\w.]+)\(")
_ROOT = re.compile(r"@(?:llvm\.sqrt\.f32|sqrtf)\(")
_INVERSE = re.compile(r"\bfdiv (?:\w+ )*float 1\.000000e\+00, (%[-\w.$]+)")
_DIVISION = re.compile(r"\b[su](?:div|rem) (?:exact )?(i\d+ [-\w.$%]+, [-\w.$%]+)")
_FUSED = ("llvm.fma.", "llvm.fmuladd.")
_FLOAT_INTRINSIC = re.compile(r"llvm\.(?:fabs|copysign|minnum|maxnum|minimum|maximum|canonicalize|is\.fpclass)")
_INT_INTRINSIC = re.compile(
    r"llvm\.(?:[us](?:min|max)|abs|ctpop|ctlz|cttz|bswap|bitreverse|fsh[lr]|[us](?:add|sub|mul|shl)\.|[us]cmp)"
)
_ROUNDING = re.compile(r"llvm\.(?:floor|ceil|trunc|rint|nearbyint|round|roundeven|l?lrint|l?lround|fpto[us]i\.sat)")
_SPECIAL = re.compile(
    r"(?:llvm\.|__)?(?:sqrt|rsqrt|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|exp|exp2|exp10|expm1|log|log2|log10|"
    r"log1p|pow|powi|erf|erfc|cbrt|hypot|fmod|sincos|tgamma|lgamma)(?:f|l|_finite)?(?:\.|$)"
)
# LLVM unrolls a loop at least twice where that makes no more than 75 instructions, ptxas small ones further still.
_UNROLLED = 37
_STEP = re.compile(r"\b(?:add|sub) (?:\w+ )*i\d+ (%[-\w.$]+), -?\d+(?:,|$)")
# Operations that an accurate function takes besides the chip's approximation, such that their issue slots are what
# benchmarks/hardware/functions.cu needs on an H200; some of float, and of double.
_ACCURATE = {
    "f32": {
        "exp": 1, "exp2": 0, "exp10": 1, "log": 21, "log2": 23, "log10": 21, "sin": 21, "cos": 22, "tan": 21,
        "tanh": 11, "pow": 74, "sqrt": 3, "fdiv": 7, "erf": 25, "erfc": 46, "atan": 12, "cbrt": 11, "fmod": 16,
    },
    "f64": {"exp": 23, "log": 47, "sin": 25, "cos": 25, "tanh": 20, "pow": 123, "sqrt": 10, "fdiv": 9, "erfc": 90},
}  # fmt: skip
_OTHERWISE_ACCURATE = {"f32": 20, "f64": 40}
_WIDE_DIVISION = 5  # of 64 bits, in divisions of 32
_APPROXIMATE = re.compile(r"\b(?:arcp|afn|fast)\b")
_NAME = re.compile(r"@(?:llvm\.|__)?([a-z]+?(?:2|10)?)f?(?:_finite)?(?:\.[\w.]+)?\(")
_WIDE = re.compile(r"\bi64\b")
_DOUBLE = re.compile(r"\bdouble\b")
_TURN = re.compile(r"\bbr i1 (%[-\w.$]+),")
_FREE = ("llvm.lifetime.", "llvm.dbg.", "llvm.assume", "llvm.experimental.noalias", "llvm.invariant.", "llvm.expect")


class OperationCounter:
    """Counts the operations of one function's basic blocks, in the order of the function's text.

    Not counted are what costs a GPU nothing: reading a thread's or block's coordinates, which stand in
    registers, and widening or narrowing an integer without sign, which registers in pairs do not notice.
    A product that is added to something counts as one operation with the addition where the program allows
    the contraction; so do a root and its inverse, and a quotient and the remainder of the same division. A loop of
    one block that compilers unroll is counted without what only counts its turns.
    """

    def __init__(self) -> None:
        self._coordinates: set[str] = set()  # pointers to the running thread's own record
        self._products: set[str] = set()  # that an addition may still take in
        self._roots: set[str] = set()
        self._divisions: set[str] = set()

    def count(self, instructions: Sequence[Instruction], repeats: bool = False) -> dict[str, int]:
        """All kinds in their fixed order. Raises `ToolchainError` for an opcode younger than this module.

        `repeats`: the block is a loop by itself.
        """
        counts = dict.fromkeys(KINDS, 0)
        for instruction in instructions:
            found = None if self._is_free(instruction) else _operation(instruction)
            if found is not None:
                kind, lanes = found
                counts[kind] += lanes
                if kind == "special":
                    wide = "f64" if _DOUBLE.search(instruction.text) else "f32"
                    counts[wide] += lanes * _more_than_approximate(instruction.text, wide)
        if repeats and sum(counts.values()) <= _UNROLLED and _counts_turns(instructions):
            counts["int"] -= 2
            counts["branch"] -= 1
        return counts

    def _is_free(self, instruction: Instruction) -> bool:
        opcode, text, result = instruction.opcode, instruction.text, instruction.result
        if opcode in ("zext", "trunc"):
            return True
        if opcode == "call" and "@__simt_thread(" in text and result:
            self._coordinates.add(result)
        elif opcode in ("getelementptr", "load"):
            base = _POINTER.search(text)
            if base is None or not (base[1] in self._coordinates or base[1] == "@__simt_grid"):
                return opcode == "load" and "@__simt_grid" in text
            if opcode == "getelementptr" and result:
                self._coordinates.add(result)
            return True
        elif opcode == "fmul" and result and _CONTRACTED.search(text):
            self._products.add(result)
        elif opcode in ("extractelement", "shufflevector") and result:
            if self._products & set(_VALUE.findall(text)):
                self._products.add(result)
        else:
            return self._is_taken_in(opcode, text, result)
        return False

    def _is_taken_in(self, opcode: str, text: str, result: str | None) -> bool:
        """Whether an operation is part of another one that is counted."""
        if opcode in ("fadd", "fsub") and _CONTRACTED.search(text):
            taken = next((name for name in _VALUE.findall(text) if name in self._products), None)
            self._products.discard(taken or "")
            return taken is not None
        if opcode == "call" and result and _ROOT.search(text):
            self._roots.add(result)
        elif (inverse := _INVERSE.search(text)) is not None:
            return inverse[1] in self._roots
        elif (division := _DIVISION.search(text)) is not None:
            known = division[1] in self._divisions
            self._divisions.add(division[1])
            return known
        return False


def _more_than_approximate(text: str, kind: str) -> int:
    """Operations of an accurate function beyond those of the fast one."""
    if kind == "f32" and _APPROXIMATE.search(text):
        return 0
    found = _NAME.search(text)
    name = found[1] if found else "fdiv"
    return _ACCURATE[kind].get(name, _OTHERWISE_ACCURATE[kind])


def _counts_turns(instructions: Sequence[Instruction]) -> bool:
    """Whether the block's branch compares a number that a turn changes by a constant."""
    made = {instruction.result: instruction for instruction in instructions if instruction.result is not None}
    branch = _TURN.search(instructions[-1].text) if instructions else None
    compared = made.get(branch[1]) if branch is not None else None
    if compared is None or compared.opcode != "icmp":
        return False
    operands = set(_VALUE.findall(compared.text))
    steps = [(name, step[1]) for name, one in made.items() if (step := _STEP.search(one.text)) is not None]
    return any(made[old].opcode == "phi" and operands & {old, new} for new, old in steps if old in made)


def kind_of(instruction: Instruction) -> str | None:
    found = _operation(instruction)
    return found[0] if found is not None else None


def _operation(instruction: Instruction) -> tuple[str, int] | None:
    """Its kind and how many of it; None where no machine instruction stands behind it."""
    opcode, text = instruction.opcode, instruction.text
    kind = _KIND_OF.get(opcode)
    if kind is None:
        raise ToolchainError(f"unknown IR instruction: {text.strip()[:200]}")
    if kind == "call":
        kind = _kind_of_call(text)
    if not kind or (kind == "branch" and opcode == "br" and "br i1" not in text):
        return None
    wide = _VECTOR.search(text) if kind in ("float", "int", "convert", "special", "idiv") else None
    if kind == "float":
        kind = "f64" if (wide and wide[2] == "double") or " double " in text else "f32"
    each = _WIDE_DIVISION if kind == "idiv" and _WIDE.search(text) else 1
    return kind, each * (int(wide[1]) if wide else 1)


def _kind_of_call(text: str) -> str:
    found = _CALLED.search(text)
    if not found:
        return "call"
    name = found[1]
    if name.startswith(_FREE):
        return ""
    if name.startswith("llvm.mem"):
        return "memory"
    if name.startswith(_FUSED) or _FLOAT_INTRINSIC.match(name):
        return "float"
    if _INT_INTRINSIC.match(name):
        return "int"
    if _ROUNDING.match(name):
        return "convert"
    if _SPECIAL.match(name):
        return "special"
    if name in ("__simt_thread", "__simt_at", "__simt_fence", "__simt_scope"):
        return ""
    return "call"
