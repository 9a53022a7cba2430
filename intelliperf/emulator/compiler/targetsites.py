"""What the real target's compiler makes of each atomic of an instrumented module: its flags for the runtime.

Taken from the target's own machine code where that was compiled and can be read, by place in the source.
Elsewhere a table says what the vendor's compiler is known to do with an address that all lanes share.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from pathlib import PurePath
from typing import Any

from intelliperf.emulator.ir.memory import COMBINED, COUNTED, SPINS, UNIFORM, UNIFORM_VALUE

ATOMICS, COMPILER = "atomics", "compiler"  # keys of a function's facts; the compiler is said of all, under ""
_KINDS = ("atomic", "reduction")
_SUMS = frozenset(("add", "sub"))
_INTEGER = frozenset(("add", "sub", "and", "or", "xor", "min", "max", "umin", "umax"))
_FLOATING = frozenset(("fadd", "fsub", "fmin", "fmax"))
# NVIDIA: SASS of 28 kernels by nvcc 13.0 and by clang 22 with ptxas 12.8, the same in all, see benchmarks/RESULTS.md.
# AMD: llvm/lib/Target/AMDGPU/AMDGPUAtomicOptimizer.cpp, on by default since LLVM 17.
TABLES = {"nvidia": "ptxas 12.8 and 13.0 for sm_90", "amd": "LLVM 17 and later for AMDGPU"}


def mark_atomics(
    sites: Sequence[MutableMapping[str, Any]], facts: Mapping[str, Mapping[str, Any]], vendor: str
) -> None:
    """Sets the flags of the atomic sites; `by` of a site says whose code or which table it was taken from."""
    compiler = facts.get("", {}).get(COMPILER)
    for site in sites:
        operation = str(site["operation"]).removeprefix("atomicrmw ")
        if site["kind"] not in _KINDS or operation == "cmpxchg":
            continue
        made = _made_of(site, facts) if compiler else []
        if made:
            site["flags"] |= _flags_of(made)
            site["by"] = compiler
        elif not compiler:
            table = _nvidia if vendor == "nvidia" else _amd
            site["flags"] |= table(site, operation)
            site["by"] = TABLES[vendor]


def _made_of(site: Mapping[str, Any], facts: Mapping[str, Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The target's atomics at the place of the site: in its function, or wherever that was inlined to."""
    chain = [(frame["file"], frame["line"], frame["column"]) for frame in site["locations"]]
    if not chain:
        return []
    own = facts.get(site["function"], {}).get(ATOMICS)
    within = [own] if own else [fact[ATOMICS] for fact in facts.values() if ATOMICS in fact]
    found = [atomic for atomics in within for atomic in atomics]
    whole = [atomic for atomic in found if _same(atomic["chain"], chain, len(chain))]
    return whole or [atomic for atomic in found if _same(atomic["chain"], chain, 1)]


def _same(one: Sequence[Sequence[Any]], other: Sequence[Sequence[Any]], frames: int) -> bool:
    """Whether the inner frames are the same places; column 0 is any, and directories are spelled in many ways."""
    if len(one) < frames:
        return False
    pairs = list(zip(one, other, strict=False))[:frames]
    return all(
        PurePath(a[0]).name == PurePath(b[0]).name and a[1] == b[1] and (a[2] == b[2] or not a[2]) for a, b in pairs
    )


def _flags_of(made: Iterable[Mapping[str, Any]]) -> int:
    """Several instructions for one site are copies of a loop's body; some may be for waves that are not full."""
    atomics = list(made)
    flags = 0
    flags |= COMBINED if any(atomic["one_lane"] for atomic in atomics) else 0
    flags |= COUNTED if all(atomic["counts"] for atomic in atomics) else 0
    flags |= SPINS if all(atomic["spins"] for atomic in atomics) else 0
    return flags


def _nvidia(site: Mapping[str, Any], operation: str) -> int:
    """Shared memory's flags mean nothing elsewhere, so that one table serves both memories."""
    flags, size = site["flags"], site["bytes"]
    unused = site["kind"] == "reduction"
    if operation in _FLOATING or (size == 8 and operation in _INTEGER):
        alike = operation in _SUMS and flags & UNIFORM and flags & UNIFORM_VALUE
        return SPINS | (COMBINED if alike else 0)
    if operation == "uinc_wrap" and site.get("value") == "-1":  # atomicInc that never wraps
        return COUNTED if unused else 0
    if operation not in _INTEGER or size != 4:
        return 0
    counted = COUNTED if unused and operation == "add" and site.get("value") == "1" else 0
    combined = flags & UNIFORM and (unused or operation in _SUMS)  # a varying sum that is used: in full warps only
    return counted | (COMBINED if combined else 0)


def _amd(site: Mapping[str, Any], operation: str) -> int:
    combines = operation in _INTEGER | _FLOATING and site["bytes"] in (4, 8)
    return COMBINED if combines and site["flags"] & UNIFORM else 0
