"""What the kernels of a code object need, from the AMDGPU note that the compiler writes (MessagePack).

Exact, and the same for every generation: rocprofv3 tells registers in the granules that hardware allocates, and no
spills at all. Keys as in LLVM's AMDGPU user guide, code object V3 to V6.
"""

from __future__ import annotations

import io
import math
import re
import struct
from dataclasses import dataclass
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.segments import NoteSegment

from intelliperf.errors import ToolchainError

_NOTE = ("32", "NT_AMDGPU_METADATA")
_DEEPEST = 32
_TARGET = re.compile(r"-(gfx\w+)")
_FIXED = {
    0xCA: ">f",
    0xCB: ">d",
    **{0xCC + power: f">{letter}" for power, letter in enumerate("BHIQ")},
    **{0xD0 + power: f">{letter}" for power, letter in enumerate("bhiq")},
}


@dataclass(frozen=True)
class KernelNeeds:
    """One kernel. Registers are per work-item and wave; sizes in bytes."""

    architecture: str
    vgprs: int  # where both kinds come out of one file (gfx90a and later CDNA), with the accumulation registers
    agprs: int
    sgprs: int
    vgpr_spills: int
    sgpr_spills: int
    lds_bytes: int  # static
    scratch_bytes: int  # of one work-item
    kernarg_bytes: int
    wave_size: int
    max_block: int
    dynamic_stack: bool  # then the scratch size is a lower bound

    def waves_per_simd(self) -> int | None:
        """As many as the vector registers allow, of those that a SIMD holds; None for an unknown architecture."""
        file = _file(self.architecture, self.wave_size)
        if file is None:
            return None
        needed = max(file.granule, math.ceil(self.vgprs / file.granule) * file.granule)
        return max(1, min(file.waves, file.registers // needed))


@dataclass(frozen=True)
class _File:
    """The vector registers of a SIMD, in registers of a wave."""

    registers: int
    granule: int
    waves: int  # that a SIMD holds

    def of_waves(self, lanes: int) -> _File:
        """On RDNA a wave of 64 takes two rows of each register."""
        return _File(self.registers // 2, self.granule // 2, self.waves) if lanes == 64 else self


# LLVM's AMDGPUBaseInfo (getTotalNumVGPRs, getVGPRAllocGranule, getMaxWavesPerEU) and GCNSubtarget, of waves of 32.
_LARGE_RDNA = ("gfx1100", "gfx1101", "gfx1151", "gfx1200", "gfx1201")


def _file(architecture: str, wave_size: int) -> _File | None:
    if architecture in ("gfx90a", "gfx942", "gfx950"):
        return _File(512, 8, 8)
    if architecture in ("gfx900", "gfx906", "gfx908"):
        return _File(256, 4, 10)
    if architecture.startswith("gfx11") or architecture in ("gfx1200", "gfx1201"):
        large = architecture in _LARGE_RDNA
        return _File(1536 if large else 1024, 24 if large else 16, 16).of_waves(wave_size)
    if architecture.startswith("gfx103"):
        return _File(1024, 16, 16).of_waves(wave_size)
    return None


def kernel_needs(code_object: bytes) -> dict[str, KernelNeeds]:
    """By mangled name. Raises `ToolchainError` where the bytes are not a code object with such a note."""
    try:
        elf = ELFFile(io.BytesIO(code_object))
        texts = [
            note["n_descdata"]
            for segment in elf.iter_segments("PT_NOTE")
            if isinstance(segment, NoteSegment)
            for note in segment.iter_notes()
            if note["n_name"] == "AMDGPU" and str(note["n_type"]) in _NOTE
        ]
    except (ELFError, UnicodeDecodeError) as error:
        raise ToolchainError(f"this is not a code object: {error}") from error
    if not texts:
        raise ToolchainError("the code object has no AMDGPU metadata of version 3 or later")
    found: dict[str, KernelNeeds] = {}
    for text in texts:
        data = text if isinstance(text, bytes) else text.encode("latin-1")
        found.update(_kernels(data))
    return found


def _kernels(data: bytes) -> dict[str, KernelNeeds]:
    try:
        whole: Any = _MessagePack(data).value()
        target = _TARGET.search(whole["amdhsa.target"])
        architecture = target[1] if target else ""
        return {entry[".name"]: _needs(entry, architecture) for entry in whole["amdhsa.kernels"]}
    except (KeyError, TypeError, IndexError, struct.error, UnicodeDecodeError) as error:
        raise ToolchainError(f"the AMDGPU metadata of a code object is malformed: {error!r}") from error


def _needs(entry: dict[str, object], architecture: str) -> KernelNeeds:
    def number(key: str, absent: int | None = None) -> int:
        value = entry[key] if absent is None else entry.get(key, absent)
        if not isinstance(value, int):
            raise TypeError(f"{key} is not a number")
        return value

    return KernelNeeds(
        architecture=architecture,
        vgprs=number(".vgpr_count"),
        agprs=number(".agpr_count", 0),  # only chips with accumulation registers have the key
        sgprs=number(".sgpr_count"),
        vgpr_spills=number(".vgpr_spill_count", 0),  # optional since version 3
        sgpr_spills=number(".sgpr_spill_count", 0),
        lds_bytes=number(".group_segment_fixed_size"),
        scratch_bytes=number(".private_segment_fixed_size"),
        kernarg_bytes=number(".kernarg_segment_size"),
        wave_size=number(".wavefront_size"),
        max_block=number(".max_flat_workgroup_size"),
        dynamic_stack=entry.get(".uses_dynamic_stack", False) is True,
    )


class _MessagePack:
    """A reader for what compilers write: no extensions."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def value(self, depth: int = 0) -> object:
        if depth > _DEEPEST:
            raise TypeError("too deep")
        tag = self._take(1)[0]
        if tag < 0x80:
            return tag
        if tag >= 0xE0:
            return tag - 0x100
        if tag < 0x90 or tag in (0xDE, 0xDF):
            size = tag & 0x0F if tag < 0x90 else self._unsigned(2 << (tag - 0xDE))
            return {self.value(depth + 1): self.value(depth + 1) for _ in range(size)}
        if tag < 0xA0 or tag in (0xDC, 0xDD):
            size = tag & 0x0F if tag < 0xA0 else self._unsigned(2 << (tag - 0xDC))
            return [self.value(depth + 1) for _ in range(size)]
        if tag < 0xC0 or tag in (0xD9, 0xDA, 0xDB):
            size = tag & 0x1F if tag < 0xC0 else self._unsigned(1 << (tag - 0xD9))
            return self._take(size).decode()
        if tag in (0xC4, 0xC5, 0xC6):
            return self._take(self._unsigned(1 << (tag - 0xC4)))
        if tag in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[tag]
        form = _FIXED[tag]
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _unsigned(self, size: int) -> int:
        return int.from_bytes(self._take(size), "big")

    def _take(self, size: int) -> bytes:
        if self._at + size > len(self._data):
            raise IndexError("it ends too early")
        self._at += size
        return self._data[self._at - size : self._at]
