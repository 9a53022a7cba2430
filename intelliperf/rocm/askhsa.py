"""Prints what the machine's first AMD GPU says of itself, as one line of JSON.

A program of its own, with the standard library alone, so that a runtime that crashes or hangs takes nothing with it
and so that it can be put under a launcher. Enumerators as in hsa.h and hsa_ext_amd.h.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import sys
from ctypes import byref, c_uint32, c_uint64, c_void_p
from pathlib import Path

_NAMES = ("libhsa-runtime64.so.1", "/opt/rocm/lib/libhsa-runtime64.so.1", "libhsa-runtime64.so")
_DEVICE, _WAVE_SIZE, _CACHE_SIZE, _GPU = 17, 6, 18, 1
_ISA, _ISA_NAME = 19, 1
_ARCHITECTURE, _PRODUCT = 0, 0xA009
_COMPUTE_UNITS, _CLOCK, _MEMORY_WIDTH, _MEMORY_CLOCK = 0xA002, 0xA003, 0xA007, 0xA008
_WAVES_PER_UNIT = 0xA00A
_CHIP_ID = 0xA000  # the PCI device id
_SEGMENT, _SEGMENT_GROUP, _POOL_SIZE = 0, 3, 2
_FOUND = 1  # ends an iteration
_ITERATE_AGENT = ctypes.CFUNCTYPE(c_uint32, c_uint64, c_void_p)
_REMEDIES = {
    0x1008: "the kernel driver is absent or closed to you: is there a /dev/kfd, and are you in the group render?",
}


def _runtime() -> ctypes.CDLL:
    for name in _NAMES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    sys.exit("libhsa-runtime64.so.1 is not installed: install ROCm, or libhsa-runtime64-1 of the distribution")


def _number(hsa: ctypes.CDLL, agent: int, attribute: int) -> int:
    value = c_uint32(0)
    hsa.hsa_agent_get_info(c_uint64(agent), attribute, byref(value))
    return value.value


def _text(hsa: ctypes.CDLL, agent: int, attribute: int) -> str:
    buffer = ctypes.create_string_buffer(64)
    hsa.hsa_agent_get_info(c_uint64(agent), attribute, buffer)
    return buffer.value.decode("utf-8", "replace").strip()


def _isa(hsa: ctypes.CDLL, agent: int) -> str:
    """With the settings that code may be compiled for: "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"."""
    isa = c_uint64(0)
    if hsa.hsa_agent_get_info(c_uint64(agent), _ISA, byref(isa)):
        return ""
    buffer = ctypes.create_string_buffer(256)
    hsa.hsa_isa_get_info_alt(isa, _ISA_NAME, buffer)
    return buffer.value.decode("utf-8", "replace")


def _lds_bytes(hsa: ctypes.CDLL, agent: int) -> int:
    """The size of the group segment's pool."""
    sizes: list[int] = []

    def each(pool: int, _: object) -> int:
        segment, size = c_uint32(), c_uint64()
        hsa.hsa_amd_memory_pool_get_info(c_uint64(pool), _SEGMENT, byref(segment))
        if segment.value == _SEGMENT_GROUP:
            hsa.hsa_amd_memory_pool_get_info(c_uint64(pool), _POOL_SIZE, byref(size))
            sizes.append(size.value)
        return 0

    hsa.hsa_amd_agent_iterate_memory_pools(c_uint64(agent), _ITERATE_AGENT(each), None)
    return max(sizes, default=0)


def _left_by_hip(count: int) -> list[int]:
    """HIP hides more than ROCr does: what it leaves to a program, which is what is named before a bad number."""
    for name in ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"):  # HIP heeds the second where the first is not set
        told = os.environ.get(name, "")
        words = [word.strip() for word in told.split(",")]
        known = "GPU 0" if count == 1 else f"one of GPUs 0 to {count - 1}"
        if words[0] and not words[0].lstrip("-").isdigit():
            sys.exit(f"{name}={told} is not a number, which HIP requires: unset it, or name {known} by number")
        left = list(itertools.takewhile(lambda word: word.isdigit() and int(word) < count, words))
        if words[0] and not left:
            sys.exit(f"{name}={told} hides all of them from HIP: unset it, or name {known}")
        if left:
            return [int(word) for word in left]
    return list(range(count))


def _loaded(name: str) -> str:
    """The file of the library that was loaded."""
    maps = Path("/proc/self/maps").read_text("utf-8", "replace")
    return next((line.split()[-1] for line in maps.splitlines() if name in line), "")


def main() -> None:
    hsa = _runtime()
    status = hsa.hsa_init()
    if status != 0:
        sys.exit(f"hsa_init fails with {status:#x}: {_REMEDIES.get(status, 'see rocminfo')}")
    gpus: list[int] = []

    def each(agent: int, _: object) -> int:
        if _number(hsa, agent, _DEVICE) == _GPU:
            gpus.append(agent)
        return 0

    hsa.hsa_iterate_agents(_ITERATE_AGENT(each), None)
    if not gpus:
        hiding = os.environ.get("ROCR_VISIBLE_DEVICES")
        why = f"ROCR_VISIBLE_DEVICES={hiding} hides all of them: unset it, or name one that is there"
        sys.exit(f"the HSA runtime finds no GPU: {why if hiding is not None else 'see rocminfo'}")
    left = _left_by_hip(len(gpus))
    gpu = gpus[left[0]]
    caches = (c_uint32 * 4)()
    hsa.hsa_agent_get_info(c_uint64(gpu), _CACHE_SIZE, caches)
    told = {
        "architecture": _text(hsa, gpu, _ARCHITECTURE),
        "name": _text(hsa, gpu, _PRODUCT) or _text(hsa, gpu, _ARCHITECTURE),
        "wave_size": _number(hsa, gpu, _WAVE_SIZE),
        "compute_units": _number(hsa, gpu, _COMPUTE_UNITS),
        "clock_mhz": _number(hsa, gpu, _CLOCK),
        "memory_clock_mhz": _number(hsa, gpu, _MEMORY_CLOCK),
        "memory_width_bits": _number(hsa, gpu, _MEMORY_WIDTH),
        "waves_per_unit": _number(hsa, gpu, _WAVES_PER_UNIT),
        "l1_bytes": caches[0],
        "l2_bytes": caches[1],
        "lds_bytes": _lds_bytes(hsa, gpu),
        "isa": _isa(hsa, gpu),
        "chip_id": _number(hsa, gpu, _CHIP_ID),
        "gpus": len(gpus),
        "visible": len(left),
        "runtime": _loaded("libhsa-runtime64"),
    }
    print(json.dumps(told))  # noqa: T201 (its answer)
    sys.stdout.flush()


main()
