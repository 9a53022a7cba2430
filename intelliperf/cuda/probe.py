"""The limits and peak rates of an NVIDIA GPU, from the driver's attributes and the published tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from intelliperf.records import Device, DeviceLimits


class Attribute(IntEnum):
    """`CUdevice_attribute` of cuda.h; sizes in bytes, clocks in kHz, the bus width in bits."""

    MAX_SHARED_MEMORY_PER_BLOCK = 8
    WARP_SIZE = 10
    CLOCK_RATE = 13
    MULTIPROCESSOR_COUNT = 16
    MEMORY_CLOCK_RATE = 36
    GLOBAL_MEMORY_BUS_WIDTH = 37
    L2_CACHE_SIZE = 38
    MAX_THREADS_PER_MULTIPROCESSOR = 39
    COMPUTE_CAPABILITY_MAJOR = 75
    COMPUTE_CAPABILITY_MINOR = 76
    MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81
    MAX_REGISTERS_PER_MULTIPROCESSOR = 82
    MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97


@dataclass(frozen=True)
class _Generation:
    """What the driver does not tell: per multiprocessor, by compute capability."""

    l1_bytes: int  # unified with shared memory
    fp32_lanes: int  # fused multiply-adds per clock


# CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" (unified data cache) and
# "Throughput of Native Arithmetic Instructions" (32-bit floating-point multiply-add).
_GENERATIONS: Mapping[tuple[int, int], _Generation] = {
    (7, 0): _Generation(128 * 1024, 64),
    (7, 5): _Generation(96 * 1024, 64),
    (8, 0): _Generation(192 * 1024, 64),
    (8, 6): _Generation(128 * 1024, 128),
    (8, 7): _Generation(192 * 1024, 128),
    (8, 9): _Generation(128 * 1024, 128),
    (9, 0): _Generation(256 * 1024, 128),
    (10, 0): _Generation(256 * 1024, 128),
    (12, 0): _Generation(128 * 1024, 128),
}
_GUIDE = "CUDA C++ Programming Guide, tables by compute capability"
_BANKS = 32  # of 4 bytes, on every compute capability since 5.0


def device_record(name: str, attributes: Mapping[Attribute, int]) -> Device:
    """The `Device` of one GPU. `attributes` as the driver gives them, all of `Attribute`."""
    capability = (attributes[Attribute.COMPUTE_CAPABILITY_MAJOR], attributes[Attribute.COMPUTE_CAPABILITY_MINOR])
    generation = _GENERATIONS.get(capability)
    units = attributes[Attribute.MULTIPROCESSOR_COUNT]
    clock = attributes[Attribute.CLOCK_RATE] * 1e3
    shared = attributes[Attribute.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR]
    told = "the driver's device attributes"
    sources = {
        field: told
        for field in (
            "compute_units",
            "clock_hz",
            "max_waves_per_compute_unit",
            "lds_bytes_per_compute_unit",
            "lds_bytes_per_block",
            "registers_per_compute_unit",
            "l2_bytes",
        )
    }
    sources["dram_bytes_per_s"] = "memory clock × bus width × 2 transfers per clock, by the driver's device attributes"
    sources["lds_banks"] = _GUIDE
    sources["l1_bytes"] = _GUIDE if generation else "at least the shared memory of a multiprocessor, by the driver"
    if generation:
        sources["fp32_flops_per_s"] = f"multiprocessors × lanes × 2 × clock; lanes by {_GUIDE}"
    return Device(
        vendor="nvidia",
        architecture=f"sm_{capability[0]}{capability[1]}",
        name=name.removeprefix("NVIDIA "),
        wave_size=attributes[Attribute.WARP_SIZE],
        emulated=False,
        limits=DeviceLimits(
            compute_units=units,
            clock_hz=clock,
            max_waves_per_compute_unit=attributes[Attribute.MAX_THREADS_PER_MULTIPROCESSOR]
            // attributes[Attribute.WARP_SIZE],
            lds_bytes_per_compute_unit=shared,
            lds_bytes_per_block=attributes[Attribute.MAX_SHARED_MEMORY_PER_BLOCK],
            lds_banks=_BANKS,
            registers_per_compute_unit=attributes[Attribute.MAX_REGISTERS_PER_MULTIPROCESSOR],
            l1_bytes=generation.l1_bytes if generation else shared,
            l2_bytes=attributes[Attribute.L2_CACHE_SIZE],
            dram_bytes_per_s=attributes[Attribute.MEMORY_CLOCK_RATE]
            * 1e3
            * attributes[Attribute.GLOBAL_MEMORY_BUS_WIDTH]
            / 8
            * 2,
            l2_bytes_per_s=None,
            fp32_flops_per_s=units * generation.fp32_lanes * 2 * clock if generation else None,
            sources=sources,
        ),
    )
