"""The shadow versions of a module's functions, and what they need beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from intelliperf.emulator.ir.layout import Layout
from intelliperf.emulator.ir.module import Function, parse_module
from intelliperf.emulator.ir.shadow.calls import SHADOW_SUFFIX
from intelliperf.emulator.ir.shadow.constants import LiteralTable
from intelliperf.emulator.ir.shadow.functions import UNARY, need_exponents
from intelliperf.emulator.ir.shadow.rewriter import FunctionShader
from intelliperf.emulator.ir.shadow.state import Surroundings
from intelliperf.emulator.ir.shadow.values import Needs
from intelliperf.emulator.ir.text import suffixed
from intelliperf.errors import ToolchainError

_NUMBERS = re.compile(r"\b(?:half|bfloat|float|double)\b")
_DOUBLE = re.compile(r"= (?:[a-z]+ )*?(?:fadd|fsub|fmul|fdiv|load|call|sitofp|uitofp|fpext|phi)\b[^\n]*\bdouble\b")
_FORMATS = ("half", "bfloat", "float", "double")
_UNARY_ARGUMENTS = "ptr, i64, i64, double, double, i32"
_DECLARATIONS = {
    "miss_float": "ptr, i64",
    "miss_double": "ptr, double, i64",
    "miss_narrow": "ptr, i64, double",
    "copy": "ptr, ptr, i64",
    "clear": "ptr, i64",
    "lose": "i32",
    "argument": "ptr, i64, double, i32",
    "embed": "ptr, double",
    "give": "i32, i64, i64, double, double, double",
    "taken": "ptr, i32, double",
    "integer": "ptr, i64, i32",
    "known": "ptr, i64, i64, double, double, double",
    "divide": "ptr, ptr, ptr, double, i32",
    "atan2": "ptr, ptr, ptr, i32",
    "hypot": "ptr, ptr, ptr, i32",
    "fmod": "ptr, ptr, ptr, double, i32",
    "pow": "ptr, ptr, ptr, double, i32",
    "scale": "ptr, ptr, i32",
    "turns": "ptr, ptr, i32, i32",
    **dict.fromkeys(sorted(UNARY), _UNARY_ARGUMENTS),
}
_INTRINSICS = re.compile(
    r"@(llvm\.(?:fma|floor|ceil|trunc|rint|nearbyint|round|roundeven)\.f64|llvm\.fpto[su]i\.sat\.(i\d+)\.f64)\("
)


def formats(text: str) -> tuple[str, ...]:
    """The floating-point formats that a module's code has."""
    return tuple(name for name in _FORMATS if re.search(rf"\b{name}\b", text))


class Shader:
    """Collects shadow versions while a module is instrumented."""

    def __init__(self, text: str, layout: Layout, defined: Iterable[str]) -> None:
        """`text`: of the whole module, to see what its numbers need."""
        self._needs = Needs(exponents=need_exponents(text), wide=_DOUBLE.search(text) is not None)
        narrow = "bfloat" if set(formats(text)) & {"half", "bfloat"} == {"bfloat"} else "half"
        self._around = Surroundings(self._needs, LiteralTable(), frozenset(defined), layout, narrow=narrow)

    def shade(self, fast: list[str], is_kernel: bool) -> list[str]:
        """The shadow version of a function whose fast version is given. One that cannot be followed says so."""
        function = parse_module("\n".join(fast)).functions[0]
        try:
            return FunctionShader(function, self._around, is_kernel).rewrite()
        except (ToolchainError, ValueError, IndexError, KeyError, AttributeError) as error:
            return self._lost(function, f"{type(error).__name__}: {error}")

    def _lost(self, function: Function, why: str) -> list[str]:
        number = self._around.reasons.setdefault(f"unknown code in {function.name}: {why}", len(self._around.reasons))
        lines = [function.header.replace(f"@{function.name}(", f"@{suffixed(function.name, SHADOW_SUFFIX)}(", 1)]
        for index, block in enumerate(function.blocks):
            if block.label is not None:
                lines.append(f"{block.label}:")
            if index == 0:
                lines.append(f"  call void @__simt_shadow_lose(i32 {number})")
            lines += [instruction.text for instruction in block.instructions]
        return [*lines, "}"]

    def definitions(self, bodies: list[str], declared: Iterable[str]) -> list[str]:
        """Globals and declarations, once all functions are written."""
        known = set(declared)
        lines = [*self._around.literals.definitions(), "@__simt_shadow = external global [14 x i64], align 8"]
        lines += [f"declare void @__simt_shadow_{name}({types})" for name, types in _DECLARATIONS.items()]
        lines.append("declare i64 @__simt_shadow_collective(ptr, ptr, i32, i64, i64, i32, i32)")
        for name, integer in sorted(set(_INTRINSICS.findall("\n".join(bodies)))):
            if name not in known:
                arguments = "double, double, double" if name.startswith("llvm.fma") else "double"
                lines.append(f"declare {integer or 'double'} @{name}({arguments})")
        return lines

    @property
    def reasons(self) -> list[str]:
        """Why a shadow may be lost, by number."""
        return list(self._around.reasons)
