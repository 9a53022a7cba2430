"""Atomics as the real target's compiler issues them: which lanes of a wave take part, and how.

LLVM for AMD (AMDGPUAtomicOptimizer) and ptxas combine the lanes of a wave that would add to one address and
let one lane do it. In AMD's assembly the atomic then runs under an execution mask that was set where the
lane's number among the active ones (`v_mbcnt`) is 0; in SASS it has a predicate that compares `SR_LANEID`
with the first active lane. Where the chip has no such atomic, a compare-and-swap loop stands for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

Chain = tuple[tuple[str, int, int], ...]  # file, line, column (0: not told), innermost first

_AMD_FUNCTION = re.compile(r"^([\w.$]+):\s+; @")
_AMD_ATOMIC = re.compile(r"(?:(?:global|flat|buffer)_atomic_(?P<what>\w+)|ds_(?P<lds>\w+))$")
_LDS_ATOMIC = re.compile(
    r"(?:(?:add|sub|rsub|inc|dec|and|or|xor|m(?:in|ax)|pk_add)(?:_rtn)?_|cmpst|cmpstore|wrxchg|storexchg|mskor)"
)
_SWAPS = re.compile(r"cmpswap|cmpst")
_POSITION = re.compile(r"([^\s@\[\];][^@\[\];]*?):(\d+):(\d+)")
_SASS_FUNCTION = re.compile(r"^\.text\.([\w.$]+):")
_SASS_PLACE = re.compile(r'//## File "([^"]*)", line (\d+)(?: inlined at "([^"]*)", line (\d+))?')
_SASS_INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@(!?U?P\d+)\s+)?([A-Z][\w.]*)\s*([^;]*);")
_SASS_ATOMIC = re.compile(r"(?:RED|REDG|ATOM|ATOMG|ATOMS)\.")


@dataclass(frozen=True)
class TargetAtomic:
    """One atomic instruction of the target's code.

    `one_lane`: one lane of a wave acts for all. `spins`: a compare-and-swap, perhaps in place of another
    operation. `counts`: the lanes on one address are one access (ATOMS.POPC.INC).
    """

    function: str
    chain: Chain
    one_lane: bool = False
    spins: bool = False
    counts: bool = False


def amd_atomics(assembly: str) -> Iterator[TargetAtomic]:
    """The atomics of all functions in clang's assembly for AMDGPU."""
    function, mask = "", _LaneMask()
    chain: Chain = ()
    for line in assembly.splitlines():
        if found := _AMD_FUNCTION.match(line):
            function, chain, mask = found[1], (), _LaneMask()
        elif line.startswith("\t.loc"):
            chain = _amd_position(line) or chain
        elif line.startswith("\t") and line[1:2].isalpha():
            opcode, _, rest = line[1:].partition(" ")
            operands = [operand.strip() for operand in rest.partition(";")[0].split(",")]
            if _is_amd_atomic(opcode):
                yield TargetAtomic(function, chain, mask.one_lane, bool(_SWAPS.search(opcode)))
            mask.see(opcode, operands)


def _is_amd_atomic(opcode: str) -> bool:
    found = _AMD_ATOMIC.match(opcode)
    return found is not None and bool(found["what"] or _LDS_ATOMIC.match(found["lds"]))


def _amd_position(line: str) -> Chain:
    """Empty where the line is 0: the compiler's own code, which belongs to what stands before it."""
    chain = tuple((file, int(at), int(column)) for file, at, column in _POSITION.findall(line.partition(";")[2]))
    return chain if chain and chain[0][1] > 0 else ()


class _LaneMask:
    """Follows, in the order of the text, whether only the first active lane runs."""

    def __init__(self) -> None:
        self.one_lane = False
        self._numbers: set[str] = set()  # registers with the lane's number among the active ones
        self._first: set[str] = set()  # masks of the lanes whose number is 0

    def see(self, opcode: str, operands: list[str]) -> None:
        target = operands[0]
        if opcode.startswith("v_mbcnt_"):
            self._numbers.add(target)
        elif opcode.startswith(("v_cmp_eq_u32", "v_cmpx_eq_u32")) and self._is_first(operands):
            if opcode.startswith("v_cmpx"):
                self.one_lane = True
            else:
                self._first.add(target)
        elif opcode.startswith("s_and_saveexec"):
            self.one_lane = self.one_lane or operands[1] in self._first
            self._forget(target)
        elif opcode.startswith(("s_or_b", "s_or_saveexec", "s_mov_b")) and target in ("exec", "exec_lo"):
            self.one_lane = opcode.startswith("s_mov_b") and operands[1] in self._first
        elif opcode.startswith("s_and_b") and {"exec", "exec_lo"} & set(operands[1:]):
            # Narrows the mask, or keeps what it would be.
            narrowed = bool(self._first & set(operands[1:]))
            if target in ("exec", "exec_lo"):
                self.one_lane = self.one_lane or narrowed
            else:
                (self._first.add if narrowed else self._first.discard)(target)
        elif not opcode.startswith(("s_cbranch", "s_branch", "s_waitcnt", "s_delay")):
            self._forget(target)

    def _is_first(self, operands: list[str]) -> bool:
        return "0" in operands and bool(self._numbers & set(operands))

    def _forget(self, register: str) -> None:
        self._numbers.discard(register)
        self._first.discard(register)


def nvidia_atomics(sass: str) -> Iterator[TargetAtomic]:
    """The atomics in the output of `nvdisasm -g -c`; places have lines only."""
    function, fresh = "", False
    frames: list[tuple[str, int, int]] = []
    lanes: set[str] = set()  # registers with the lane's number
    first: set[str] = set()  # predicates that hold in the first active lane only
    for line in sass.splitlines():
        if found := _SASS_FUNCTION.match(line):
            function, frames, lanes, first = found[1], [], set(), set()
        elif found := _SASS_PLACE.search(line):
            if not fresh:
                frames = []
            frames.append((found[1], int(found[2]), 0))
            if found[3]:
                frames.append((found[3], int(found[4]), 0))
            fresh = True
        elif found := _SASS_INSTRUCTION.match(line):
            fresh = False
            predicate, opcode, operands = found[1], found[2], [word.strip() for word in found[3].split(",")]
            if _SASS_ATOMIC.match(opcode):
                swaps = ".CAS" in opcode
                counts = opcode.startswith("ATOMS.POPC")
                chain = tuple(dict.fromkeys(frames))
                yield TargetAtomic(function, chain, predicate in first, swaps, counts)
            _follow_sass(opcode, operands, lanes, first)


def _follow_sass(opcode: str, operands: list[str], lanes: set[str], first: set[str]) -> None:
    target = operands[0]
    if opcode.startswith("S2R") and "SR_LANEID" in operands:
        lanes.add(target)
    elif opcode.startswith("ISETP.EQ.U32") and lanes & set(operands[2:]):
        first.add(target)
    else:
        lanes.discard(target)
        first.discard(target)
