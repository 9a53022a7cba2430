"""Inline assembly of another maker's GPU, refused by line before a back end makes something else of it.

Triton hands it to LLVM as it stands. LLVM reports a register class that the target lacks on stderr, and continues with
code in which the value is undefined; the assembler's refusal names neither the kernel nor its line.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

_OPERATION = re.compile(r'tt\.elementwise_inline_asm "((?:[^"\\]|\\.)*)".*?constraints = "([^"]*)".*')
_REFERENCE = re.compile(r"loc\((#loc\d*)\)\s*$")
_DEFINED = re.compile(r"^(#loc\d*) = loc\((.*)\)$", re.MULTILINE)
_PLACE = re.compile(r'"([^"]+)":(\d+)')
# LLVM's documentation of AMDGPU's constraints, and the general ones that it takes; a digit names another operand.
_AMD = re.compile(r"[=+&%*]*(?:[rsvanimX]|VA|[IJABC]|D[AB]|\d+|\{[^}]*\})")
_LONGEST = 60


class ForeignAssembly(RuntimeError):
    """The text of inline assembly, where it stands, and why it means nothing to the GPU at hand."""


def follow(backend: Any) -> None:
    """`backend`: Triton's class of AMD's back end, whose stages are told apart by name."""
    add_stages = backend.add_stages

    def added(self: Any, stages: dict[str, Callable[..., Any]], *rest: Any, **named: Any) -> None:
        add_stages(self, stages, *rest, **named)
        seen: list[str] = []
        if "llir" in stages and "hsaco" in stages:
            stages["llir"] = functools.partial(_checked, stages["llir"], seen, self.target.arch)
            stages["hsaco"] = functools.partial(_located, stages["hsaco"], seen, self.target.arch)

    backend.add_stages = added


def _checked(stage: Callable[..., Any], seen: list[str], chip: str, source: Any, metadata: Any) -> Any:
    text = str(source)
    for operation in _OPERATION.finditer(text) if "elementwise_inline_asm" in text else ():
        told = f"{_place(text, operation[0])}: inline assembly {_short(operation[1])}"
        seen.append(told)
        for constraint in _operands(operation[2]):
            if not _AMD.fullmatch(constraint):
                raise ForeignAssembly(f"{told}: {chip} has no registers of constraint {constraint.lstrip('=+&')!r}")
    return stage(source, metadata)


def _located(stage: Callable[..., Any], seen: list[str], chip: str, source: Any, metadata: Any) -> Any:
    try:
        return stage(source, metadata)
    except RuntimeError as error:
        if not seen:
            raise
        raise ForeignAssembly(f"{'; '.join(seen)}: {chip}'s assembler does not accept the kernel") from error


def _operands(constraints: str) -> list[str]:
    return [one for one in re.findall(r"(?:\{[^}]*\}|[^,{])+", constraints) if not one.startswith("~")]


def _short(assembly: str) -> str:
    words = " ".join(assembly.replace("\\0A", " ").replace("\\09", " ").split())
    return f"'{words[:_LONGEST]}{'...' if len(words) > _LONGEST else ''}'"


def _place(text: str, operation: str) -> str:
    """File and line of the operation: the innermost, as the text of the assembly stands there."""
    known = dict(_DEFINED.findall(text))
    named = _REFERENCE.search(operation)
    at = str(named[1]) if named else operation
    for _ in range(len(known) + 1):
        found = _PLACE.search(known.get(at, at))
        if found:
            return f"{found[1].rpartition('/')[2]}:{found[2]}"
        inner = re.search(r"#loc\d*", known.get(at, ""))
        if inner is None:
            break
        at = inner[0]
    return "a kernel"
