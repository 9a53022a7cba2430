"""What kinds of operation a basic block holds: the static side of the instruction mix."""

from __future__ import annotations

import re

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


def count_instruction(instruction: Instruction, counts: dict[str, int]) -> None:
    """Add one instruction. Raises `ToolchainError` for an opcode that LLVM did not have when this was written."""
    opcode, text = instruction.opcode, instruction.text
    kind = _KIND_OF.get(opcode)
    if kind is None:
        raise ToolchainError(f"unknown IR instruction: {text.strip()[:200]}")
    if not kind:
        return
    if kind == "call":
        kind = _kind_of_call(text)
        if not kind:
            return
    if kind == "branch" and opcode == "br" and "br i1" not in text:
        return
    wide = _VECTOR.search(text) if kind in ("float", "int", "convert", "special", "idiv") else None
    if kind == "float":
        kind = "f64" if (wide and wide[2] == "double") or " double " in text else "f32"
    counts[kind] = counts.get(kind, 0) + (int(wide[1]) if wide else 1)


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
    if name in ("__simt_thread", "__simt_at"):
        return ""
    return "call"


def complete(counts: dict[str, int]) -> dict[str, int]:
    """All kinds in their fixed order, absent ones as the zero that they are."""
    return {kind: counts.get(kind, 0) for kind in KINDS}
