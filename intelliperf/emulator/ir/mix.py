"""What kinds of operation a basic block holds: the static side of the instruction mix."""

from __future__ import annotations

import re
from collections.abc import Iterable

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
_FREE = ("llvm.lifetime.", "llvm.dbg.", "llvm.assume", "llvm.experimental.noalias", "llvm.invariant.", "llvm.expect")


class OperationCounter:
    """Counts the operations of one function's basic blocks, in the order of the function's text.

    Not counted are what costs a GPU nothing: reading a thread's or block's coordinates, which stand in
    registers, and widening or narrowing an integer without sign, which registers in pairs do not notice.
    A product that is added to something counts as one operation with the addition where the program allows
    the contraction.
    """

    def __init__(self) -> None:
        self._coordinates: set[str] = set()  # pointers to the running thread's own record
        self._products: set[str] = set()  # that an addition may still take in

    def count(self, instructions: Iterable[Instruction]) -> dict[str, int]:
        """All kinds in their fixed order. Raises `ToolchainError` for an opcode younger than this module."""
        counts = dict.fromkeys(KINDS, 0)
        for instruction in instructions:
            found = None if self._is_free(instruction) else _operation(instruction)
            if found is not None:
                kind, lanes = found
                counts[kind] += lanes
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
        elif opcode in ("fadd", "fsub") and _CONTRACTED.search(text):
            taken = next((name for name in _VALUE.findall(text) if name in self._products), None)
            if taken is not None:
                self._products.discard(taken)
                return True
        return False


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
    return kind, int(wide[1]) if wide else 1


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
