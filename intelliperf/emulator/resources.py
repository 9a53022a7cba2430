"""What the real target's compiler says that a kernel takes: registers, memory, instructions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Resources:
    """Of one kernel. On NVIDIA `vgprs` are registers per thread; spills are counted in registers."""

    architecture: str
    vgprs: int
    agprs: int
    sgprs: int
    lds_bytes: int
    scratch_bytes: int  # of one thread
    vgpr_spills: int
    sgpr_spills: int
    instructions: int


@dataclass(frozen=True)
class LocalCounts:
    """Instructions of one source position that load or store memory private to a thread."""

    loads: int
    stores: int
    load_bytes: int  # of one thread, all loads together
    store_bytes: int
    spills: int  # how many of both hold a register's value, as opposed to an array's element
