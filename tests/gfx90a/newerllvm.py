"""Clangs newer than the LLVM 19 that the other tests use, with the headers of their LLVM.

Headers and device libraries of HIP 5.2 are older than these: two names that clang has dropped are given back.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import device
from programs_on_device import compiled

from intelliperf.errors import ToolchainError
from intelliperf.rocm.compilers import Compiler, clangs_for_hip
from intelliperf.rocm.passplugin import llvm_of

_OLDEST = 20
_GIVEN_BACK = """
#ifdef __HIP_DEVICE_COMPILE__
extern "C" __attribute__((device, weak)) void fence(unsigned, int, int) __asm__("__atomic_work_item_fence");
extern "C" __attribute__((device, weak)) void fence(unsigned, int, int) {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}
#endif
"""


def clangs() -> list[Compiler]:
    found = []
    for clang in clangs_for_hip(oldest=_OLDEST):
        try:
            llvm_of(clang)
        except ToolchainError:
            continue
        found.append(clang)
    return found


def missing() -> str | None:
    return device.missing() or (None if clangs() else f"no clang of LLVM {_OLDEST} or newer has its headers here")


def compile_by(clang: Compiler, header: Path, source: list[Path], binary: Path, *flags: str,
               environment: Mapping[str, str] | None = None) -> Path:  # fmt: skip
    header.write_text(_GIVEN_BACK)
    given_back = ("-D__AMDGCN_WAVEFRONT_SIZE=64", "-include", str(header))
    return compiled(clang.words[0], source, binary, *given_back, *flags, environment=environment)
