"""Which accesses of a basic block are one access on a GPU: the parts of a vector or an aligned structure.

For the processor the optimiser takes `float4 v = in[i]` apart into its members; every GPU compiler loads it
with one instruction of 16 bytes, and so it does with neighbours that the program names one by one. Joined here
are accesses that start from one pointer, lie side by side within one unit of at most 16 bytes, and have nothing
between them that the order could matter to. Units are what the instruction sets have: 2, 4, 8 and 16 bytes, and
on AMD 12. They are aligned to their size, except in AMD's global memory, where no alignment is needed. Of a vector
that the program copies whole (one place in the source) NVIDIA's compiler also loads the members that nobody uses, if
most of it is used or its members are smaller than a register.

Held against SASS by nvcc 13.0 and gfx942 code by clang 22, see benchmarks/RESULTS.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from intelliperf.emulator.ir.addresses import Addresses
from intelliperf.emulator.ir.layout import Layout
from intelliperf.emulator.ir.memory import ALIGNMENT_MASK, VOLATILE, Access, access_of, ranges_of
from intelliperf.emulator.ir.module import Function, Instruction
from intelliperf.emulator.ir.text import CALLEE, DEBUG_LOCATION

_WIDTHS = (16, 8, 4, 2)
_WORD = 4
COPY_WIDTH_SHIFT = 8  # where a range's site has its width among the flags
_SMALL_COPY = 128  # bytes; longer copies become loops
_ALIGNMENT = re.compile(r", align (\d+)(?=,|$)")
_SCALAR = re.compile(r"(?:<\d+ x )?(\w+)>?$")
_MEMORY_INTRINSIC = re.compile(r"llvm\.(?:mem|masked|vp)")


@dataclass(frozen=True)
class Joined:
    """One access that several instructions make together; its hook stands before the first of them."""

    access: Access  # the pointer is the first instruction's
    place: int  # its debug location: of a store that of the last part, where compilers put the whole
    back: int  # bytes from that pointer down to where the access begins
    others: tuple[int, ...]  # debug locations of parts that stand elsewhere


JoinPlan = Mapping[int, "Joined | None"]  # by index in the block; None: part of an access that is hooked before


@dataclass(frozen=True)
class _Part:
    index: int
    access: Access
    root: str
    offset: int
    alignment: int
    place: str  # in the source

    @property
    def end(self) -> int:
        return self.offset + self.access.bytes


class VectorFinder:
    """Finds the joined accesses of one function. `fills`: loads take in what lies between their parts."""

    def __init__(
        self,
        function: Function,
        layout: Layout,
        is_private: Callable[[str], bool],
        fills: bool,
        variables: Mapping[str, int],  # bytes, by name with @
        shared: Collection[str],  # of these those in LDS
        is_kernel: bool = False,
    ) -> None:
        self._layout = layout
        self._variables = variables
        self._is_private = is_private
        self._fills = fills
        self._addresses = Addresses(function, layout)
        names = {part: part[part.rindex(" ") + 1 :] for part in function.parameters if " " in part}
        self._parameters = set(names.values())
        self._unaliased = {name for part, name in names.items() if " noalias " in part}
        self._shared = shared
        self._global = (self._parameters if is_kernel else set()) | (variables.keys() - set(shared))
        self._plan: dict[int, Joined | None] = {}
        self._loads: dict[str, list[_Part]] = {}
        self._stores: dict[str, list[_Part]] = {}  # of one pointer at a time

    def plan(self, instructions: Sequence[Instruction]) -> JoinPlan:
        """What to do at the instructions that are parts of joined accesses; the others are not in it."""
        self._plan = {}
        if not _may_join(instructions):
            return self._plan
        for index, instruction in enumerate(instructions):
            self._see(index, instruction)
        self._close_loads()
        self._close_stores()
        return self._plan

    def _see(self, index: int, instruction: Instruction) -> None:
        opcode = instruction.opcode
        if opcode in ("load", "store"):
            accesses = [access_of(instruction, self._layout, True)]
        elif opcode == "call" and (accesses := ranges_of(instruction)):
            pass
        else:
            if opcode in ("call", "invoke", "callbr", "atomicrmw", "cmpxchg", "fence") and not _is_pure(instruction):
                self._close_loads()
                self._close_stores()
            return
        visible = [access for access in accesses if not self._is_private(access.pointer)]
        if visible:
            self._add(self._part(index, instruction, visible))

    def _part(self, index: int, instruction: Instruction, accesses: list[Access]) -> _Part | None:
        """The access of an instruction that may be part of a vector; None for one that may not."""
        access = accesses[0]
        if len(accesses) > 1 or access.flags & VOLATILE or not 0 < access.bytes <= _WIDTHS[0]:
            return None
        location = DEBUG_LOCATION.search(instruction.text)
        if location is None:
            return None
        root, offset = self._addresses.resolve(access.pointer)
        return _Part(index, access, root, offset, _alignment(instruction, access), location[1])

    def _add(self, part: _Part | None) -> None:
        if part is None:
            self._close_loads()
            self._close_stores()
            return
        key = part.root
        if part.access.kind in ("load", "range_load"):
            self._close_aliases(self._stores, key)
            group = self._loads.setdefault(key, [])
        else:
            self._close_aliases(self._loads, key)
            if key not in self._stores:
                self._close_stores()
            group = self._stores.setdefault(key, [])
        if any(part.offset < other.end and other.offset < part.end for other in group):
            self._join(group)
            group.clear()
        group.append(part)

    # -- joining ----------------------------------------------------------------------------------

    def _close_aliases(self, groups: dict[str, list[_Part]], root: str) -> None:
        """Closes the groups that an access to `root` may touch: not those behind other `noalias` parameters, nor those
        in the other memory, where no kernel's argument leads to LDS."""
        base = self._addresses.base(root)
        for other in list(groups):
            below = self._addresses.base(other)
            apart = below != base and {below, base} <= self._parameters and {below, base} & self._unaliased
            if not apart and not self._in_other_memory(below, base):
                self._join(groups.pop(other))

    def _in_other_memory(self, one: str, other: str) -> bool:
        return (one in self._shared and other in self._global) or (one in self._global and other in self._shared)

    def _close_loads(self) -> None:
        for group in self._loads.values():
            self._join(group)
        self._loads.clear()

    def _close_stores(self) -> None:
        for group in self._stores.values():
            self._join(group)
        self._stores.clear()

    def _join(self, group: list[_Part]) -> None:
        waiting = sorted(group, key=lambda part: part.offset)
        while waiting:
            taken, size, begin = self._filled_below(waiting) or (*self._widest(waiting), waiting[0].offset)
            if len(taken) > 1:
                self._note(taken, size, begin)
            waiting = waiting[len(taken) :]

    def _filled_below(self, waiting: list[_Part]) -> tuple[list[_Part], int, int] | None:
        """Loads of most of a variable's aligned 16 bytes, but not of the first of them: NVIDIA loads all of these."""
        first, width = waiting[0], _WIDTHS[0]
        begin = first.offset // width * width
        end = begin + width
        if not self._fills or begin == first.offset or end > self._variables.get(first.root, 0):
            return None
        taken = [part for part in waiting if part.end <= end]
        loads = all(part.access.kind == "load" and part.place == first.place for part in taken)
        used = sum(part.access.bytes for part in taken)
        return (taken, width, begin) if loads and 2 * used > width and first.root in self._shared else None

    def _widest(self, waiting: list[_Part]) -> tuple[list[_Part], int]:
        """The parts at the front that one instruction accesses, and its bytes."""
        first = waiting[0]
        needs_alignment = self._fills or self._addresses.base(first.root) in self._shared
        for width in _WIDTHS:
            if first.alignment < width and needs_alignment:
                continue
            within = first.offset + width <= self._variables.get(first.root, first.offset + width)
            taken = [first]
            fills = self._fills and first.access.kind in ("load", "range_load")
            for part in waiting[1:]:
                fills = fills and part.place == first.place
                if part.end > first.offset + width or not (fills or part.offset == taken[-1].end):
                    break
                taken.append(part)
            span = taken[-1].end - first.offset
            used = sum(part.access.bytes for part in taken)
            most = 2 * used > width or all(part.access.bytes < _WORD for part in taken)
            if used == span == width or (span > width // 2 and fills and within and most):
                return taken, width
            if span == 12 and not self._fills:
                return taken, span
        return [first], first.access.bytes

    def _note(self, taken: list[_Part], size: int, begin: int) -> None:
        first = min(taken, key=lambda part: part.index)
        kind = "load" if first.access.kind in ("load", "range_load") else "store"
        flags = 0
        for part in taken:
            flags |= part.access.flags & ~ALIGNMENT_MASK
            self._plan[part.index] = None
        if first is taken[0] and begin == first.offset:
            flags |= first.access.flags & ALIGNMENT_MASK
        access = Access(kind, first.access.pointer, _vector_type(taken, size, self._layout), size, flags, kind)
        place = first.place if kind == "load" else max(taken, key=lambda part: part.index).place
        others = dict.fromkeys(int(part.place) for part in taken if part.place != place)
        self._plan[first.index] = Joined(access, int(place), first.offset - begin, tuple(others))


def _may_join(instructions: Sequence[Instruction]) -> bool:
    """Whether the block has two accesses of one kind that could be side by side."""
    seen: set[str] = set()
    for instruction in instructions:
        opcode = instruction.opcode
        if opcode in ("load", "store") or (opcode == "call" and "mem" in instruction.text):
            if opcode in seen or "call" in seen:
                return True
            seen.add(opcode)
    return False


def _is_pure(instruction: Instruction) -> bool:
    """Calls that neither wait nor touch memory that others see."""
    found = CALLEE.search(instruction.text)
    if instruction.opcode != "call" or found is None or found[1] is None:
        return False
    name = found[1]
    return name == "__simt_thread" or (name.startswith("llvm.") and not _MEMORY_INTRINSIC.match(name))


def _alignment(instruction: Instruction, access: Access) -> int:
    """What the instruction promises of its address, in bytes."""
    if access.length is not None:
        return access.alignment
    found = _ALIGNMENT.search(instruction.text)
    return int(found[1]) if found else 1


def copy_width(access: Access, nvidia: bool, shared: bool) -> int:
    """Bytes of each access that a compiler makes of a small copy, 0 for copies of other lengths.

    An access must be aligned to its size on NVIDIA, and in AMD's LDS; in AMD's global memory four bytes do.
    """
    if not 0 < access.bytes <= _SMALL_COPY:
        return 0
    enough = _WIDTHS[0] if nvidia or shared else 4
    return access.alignment if access.alignment < enough else _WIDTHS[0]


def _vector_type(parts: list[_Part], size: int, layout: Layout) -> str:
    """The type of the whole: a vector of the parts' scalar if they have one, bits otherwise."""
    scalars = set()
    for part in parts:
        found = _SCALAR.match(part.access.type_name)
        if part.access.length is None:
            scalars.add(found[1] if found else "")
    scalar = scalars.pop() if len(scalars) == 1 else ""
    if scalar and size % layout.size(scalar) == 0:
        return f"<{size // layout.size(scalar)} x {scalar}>"
    return f"i{size * 8}"
