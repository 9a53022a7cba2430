"""Inline chains of machine instructions, from `nvdisasm -gi`.

ncu gives each instruction the innermost source line, which for an atomic or a library call is in a header.
The disassembler prints, before each group of instructions,

    //## File "header.hpp", line 84 inlined at "app.cu", line 25
    //## File "app.cu", line 25

innermost first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from intelliperf.processes.process import output_of

_DEADLINE_S = 120.0
_SECTION = re.compile(r"^\.text\.(\S+):$")
_PLACE = re.compile(r'//## File "(.*?)", line (\d+)')
_INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(?:@!?\w+\s+)?([A-Z0-9_.]+)")

FrameLine = tuple[str, int]


@dataclass(frozen=True)
class Located:
    """One instruction on disk: its opcode, and its places, innermost first."""

    opcode: str
    places: tuple[FrameLine, ...]


Chains = Mapping[str, Mapping[int, Located]]  # kernel → offset in bytes


def parse_disassembly(lines: Iterable[str]) -> Chains:
    """Chains of all kernels of one disassembled binary; offsets in bytes."""
    chains: dict[str, dict[int, Located]] = {}
    current: dict[int, Located] | None = None
    chain: list[FrameLine] = []
    fresh = False
    for line in lines:
        if section := _SECTION.match(line.strip()):
            current = chains.setdefault(section[1], {})
            chain = []
        elif place := _PLACE.search(line):
            if not fresh:
                chain = []
            chain.append((place[1], int(place[2])))
            fresh = True
        elif current is not None and (instruction := _INSTRUCTION.match(line)):
            current[int(instruction[1], 16)] = Located(instruction[2], tuple(chain))
            fresh = False
    return chains


def chains_of(program: Path, architecture: str, cuobjdump: Path, nvdisasm: Path, scratch: Path) -> Chains:
    """Chains of all kernels in an executable, as compiled for `architecture` ("sm_90"); empty where there are none."""
    scratch.mkdir(parents=True, exist_ok=True)
    done, _, _ = output_of([str(cuobjdump), "-xelf", "all", str(program)], _DEADLINE_S, directory=scratch)
    found: dict[str, Mapping[int, Located]] = {}
    if not done.ok:
        return found
    for cubin in sorted(scratch.glob(f"*{architecture}*.cubin")):
        done, out, _ = output_of([str(nvdisasm), "-gi", str(cubin)], _DEADLINE_S)
        if done.ok:
            found.update(parse_disassembly(out.splitlines()))
    return found
