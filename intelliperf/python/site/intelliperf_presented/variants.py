"""What the JIT knows of a specialisation: a kernel's source, types, constants and options; kept for the run's log."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

from . import arguments, deriving, numbers

_OPTIONS = ("num_warps", "num_stages", "num_ctas", "waves_per_eu", "matrix_instr_nonkdim", "kpack")
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_LARGEST_TILE = 1 << 20  # Triton's own limit
_LARGEST_CONSTANT = 1 << 31
_HERE = os.path.dirname(os.path.abspath(__file__))


class Variant:
    """One specialisation of a kernel, from its `ASTSource` (or the source of an IR file) and its metadata."""

    def __init__(self, source: Any, metadata: Any) -> None:
        function = getattr(source, "fn", None)
        self.symbol = str(getattr(metadata, "name", ""))
        self.types = list(source.signature.values())
        names = list(getattr(function, "arg_names", [])) or [str(key) for key in source.signature]
        self.names = names
        self.options = {name: getattr(metadata, name) for name in _OPTIONS if hasattr(metadata, name)}
        self.constants = _constants(source, names)
        self.file, self.line, self.end_line = _place(function)
        self.name = str(getattr(function, "__name__", self.symbol))
        self.architecture = str(metadata.target.arch)

    def module(self, ttir: str = "") -> dict[str, object]:
        """The metadata that the code object itself lacks. `ttir`: the kernel's IR, where there is some."""
        function = numbers.Function(ttir, self.symbol)
        parameters = arguments.described(self.types, self.names)
        types = [str(one["type"]) for one in parameters[: -len(arguments.SCRATCH)]]
        known = numbers.quantities(function, types)
        if known:
            for index, multiple in numbers.multiples(function).items():
                parameters[index]["multiple"] = multiple
        return {
            "source": self.file,
            "language": "triton",
            "kernels": {
                self.symbol: {
                    "name": self.name,
                    "file": self.file,
                    "line": self.line,
                    "end_line": self.end_line,
                    "parameters": parameters,
                    "quantities": known,
                    "constants": sorted(one for one in function.compared if 1 < one < _LARGEST_CONSTANT),
                    "only_read": numbers.only_read(function, types),
                    "held": deriving.held(parameters),
                    "covered": numbers.covered(function, types),
                    "reads_grid": function.reads_grid,
                    "elements": numbers.largest_tensor(ttir),
                    "tiles": sorted({1, *(int(value) for value in self.constants.values() if _is_a_size(value))}),
                }
            },
        }

    def log(self, tuning: bool, files: Mapping[str, str]) -> None:
        """One line of the log of compilations that the run's environment names. `files`: what each stage made."""
        path = os.environ.get("INTELLIPERF_JIT_LOG")
        if not path:
            return
        entry = {
            "kernel": self.symbol,
            "file": self.file,
            "line": self.line,
            "end_line": self.end_line,
            "signature": {name: str(kind) for name, kind in zip(self.names, self.types)},
            "constants": self.constants,
            "options": self.options,
            "arch": self.architecture,
            "launched_from": launching_line(),
            "tuning": tuning,
            "files": {kind: os.path.relpath(place, os.path.dirname(path)) for kind, place in files.items()},
        }
        with open(path, "a", encoding="utf-8", errors="surrogateescape") as log:
            log.write(json.dumps(entry, default=str) + "\n")


def _constants(source: Any, names: list[str]) -> dict[str, str]:
    found = {}
    for key, value in getattr(source, "constants", {}).items():
        index = key[0] if isinstance(key, tuple) else key
        name = names[index] if isinstance(index, int) and index < len(names) else str(index)
        found[name] = str(getattr(value, "value", value))
    return found


def _is_a_size(constant: str) -> bool:
    return constant.isdigit() and 1 < int(constant) <= _LARGEST_TILE


def _place(function: Any) -> tuple[str, int, int]:
    """File, line of the `def`, and last line of a jit function; empty and 0 where it has none."""
    code = getattr(getattr(function, "fn", None), "__code__", None)
    if code is None:
        return "", 0, 0
    first = int(getattr(function, "starting_line_number", code.co_firstlineno))
    lines = getattr(function, "raw_src", None) or []
    text = lines.splitlines() if isinstance(lines, str) else list(lines)
    before = next((n for n, line in enumerate(text) if line.lstrip().startswith(("def ", "async def "))), 0)
    return os.path.abspath(code.co_filename), first + before, first + max(len(text) - 1, before)


def launching_line() -> str:
    """The innermost line on the stack that is the program's own, as file:line; empty if none is."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        file = frame.f_code.co_filename
        if is_programs_own(file):
            return f"{os.path.abspath(file)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def is_programs_own(file: str) -> bool:
    libraries = (_HERE, os.path.dirname(os.__file__))
    return os.path.isfile(file) and not file.startswith(libraries) and not any(part in file for part in _PACKAGES)
