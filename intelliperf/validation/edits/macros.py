"""The project's own macros, as far as a function's qualifiers and name may hide in them.

`KERNEL(scale)(float* x)` with `#define KERNEL(name) extern "C" __global__ void name` defines the kernel `scale`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\(([^)\n]*)\))?[ \t]*(.*)$", re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*")
_DEPTH = 4  # macros over macros


@dataclass(frozen=True)
class Macro:
    """`parameters` is None for one that takes none and no parentheses."""

    parameters: tuple[str, ...] | None
    value: str


def macros_of(texts: Iterable[str]) -> dict[str, Macro]:
    """Every definition in the texts. Of several under one name, in branches of an #if, the values are joined."""
    found: dict[str, Macro] = {}
    for text in texts:
        spliced = _COMMENT.sub(" ", re.sub(r"\\[ \t]*\r?\n", " ", text))
        for name, parameters, value in _DEFINE.findall(spliced):
            taken = tuple(p.strip() for p in parameters.split(",")) if parameters else None
            before = found[name].value if name in found and found[name].parameters == taken else ""
            found[name] = Macro(taken, f"{before} {value}".strip())
    return found


def expanded(word: str, macros: Mapping[str, Macro]) -> str:
    """A word with the macros that it names replaced, arguments left as they stand."""
    for _ in range(_DEPTH):
        replaced = _WORD.sub(lambda m: macros[m[0]].value if m[0] in macros else m[0], word)
        if replaced == word:
            break
        word = replaced
    return word


def defined_name(macro: Macro, arguments: str) -> str | None:
    """The function that `MACRO(arguments)` stands before the parameter list of; None where it names none."""
    if macro.parameters is None:
        return None
    given = dict(zip(macro.parameters, (a.strip() for a in arguments.split(",")), strict=False))
    value = _WORD.sub(lambda m: given.get(m[0], m[0]), macro.value)
    words = _WORD.findall(re.sub(r"\s*##\s*", "", value))
    return words[-1] if words else None
