"""Device variables that no kernel can write: they hold what the module says until the host writes them."""

from __future__ import annotations

import re

from intelliperf.emulator.ir.module import Function, Module
from intelliperf.emulator.ir.privacy import pointers_to
from intelliperf.emulator.ir.text import NAME

_OF_THE_COMPILER = ("@llvm.", "@__hip_cuid")
_WORD = re.compile(rf"[@%]{NAME}")


def is_only_read(name: str, module: Module, constant: bool) -> bool:
    """Of a variable (its name with the @): in constant memory, or it is loaded from and nothing else."""
    if constant:
        return True
    elsewhere = (line for line in module.globals if not line.startswith((f"{name} ", *_OF_THE_COMPILER)))
    return not any(name in _WORD.findall(line) for line in elsewhere) and all(
        _only_loads(function, name) for function in module.functions
    )


def _only_loads(function: Function, name: str) -> bool:
    naming = [
        one
        for block in function.blocks
        for one in block.instructions
        if name in one.text  # before what takes long
    ]
    if not naming:
        return True
    leading = {name, *pointers_to(function, frozenset((name,)))}
    return all(
        one.opcode == "load" or one.result in leading or leading.isdisjoint(_WORD.findall(one.text))
        for block in function.blocks
        for one in block.instructions
    )
