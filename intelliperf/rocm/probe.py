"""What GPU an application will find: HIP asked in a process of its own, under the launcher if there is one."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from intelliperf.devices import models as devices
from intelliperf.errors import BackendUnavailable, ToolchainError
from intelliperf.processes.process import Child
from intelliperf.profiling.rocprofv3 import find_rocprof
from intelliperf.records import Device, DeviceLimits
from intelliperf.rocm import compilers, stack, surroundings
from intelliperf.rocm.surroundings import partition

_SCRIPT = Path(__file__).with_name("askhsa.py")
_DEADLINE_S = 60.0
_PATIENCE = 10.0  # a machine whose processors others use is slow, and its device has not failed
# PCI device ids of chips that share an architecture (libdrm's amdgpu.ids, the amdgpu driver); a virtual function has
# one of its own. The name is that of the table of chips.
_CHIPS = {
    **dict.fromkeys((0x740F,), "MI210"),
    **dict.fromkeys((0x7408, 0x740C, 0x7410), "MI250X"),
    **dict.fromkeys((0x74A0,), "MI300A"),
    **dict.fromkeys((0x74A1, 0x74A9, 0x74B5, 0x74BD), "MI300X"),
    **dict.fromkeys((0x74A5, 0x74B9), "MI325X"),
    **dict.fromkeys((0x75A0, 0x75B0), "MI350X"),
    **dict.fromkeys((0x75A3, 0x75B3), "MI355X"),
    **dict.fromkeys((0x744C,), "RX 7900 XTX"),
    **dict.fromkeys((0x7448,), "PRO W7900"),
    **dict.fromkeys((0x7550,), "RX 9070 XT"),
    **dict.fromkeys((0x7590,), "RX 9060 XT"),
}
_WITHOUT_TABLE = {0x74A2: "MI308X", 0x74A8: "MI308X", 0x74B6: "MI308X"}  # whose share of an MI300X is not published
# Transfers per clock that the runtime tells: HBM2 and HBM2E two, HBM3 four (MI300X: 1300 MHz x 8192 bits, 5.3 TB/s),
# GDDR6 sixteen (RX 7900 XTX: 1249 MHz x 384 bits, 960 GB/s), LPDDR5X eight.
_TRANSFERS = {"gfx94": 4, "gfx950": 4, "gfx103": 16, "gfx110": 16, "gfx120": 16, "gfx115": 8}
_HANGS = {  # by whether there is a launcher
    False: "the driver hangs; sudo dmesg | grep amdgpu tells why, and a reboot resets the device",
    True: "run the --launcher by itself with a small program, and see what it waits for",
}
_RATES = ("dram_bytes_per_s", "l2_bytes_per_s", "fp32_flops_per_s")
_DECLARES_ITSELF = re.compile(r"\b(software|emulat|simulat)", re.IGNORECASE)
# CDNA Architecture white papers: 4 SIMDs of 512 registers of 64 lanes; LDS of 32 banks.
_REGISTERS_PER_CU = 4 * 512 * 64
_LDS_BANKS = 32
_FALLBACK_LDS_BYTES = 64 * 1024


def device_record(told: Mapping[str, object], declared: str | None) -> Device:
    """The `Device` of what `askhsa.py` told; `declared` names the emulator that the user says is below.

    Rates that the runtime does not tell come from the table of chips; of an unknown chip, from its clocks alone.
    """
    architecture, marketing = str(told["architecture"]), str(told["name"])
    emulator = f"the {marketing[0].lower()}{marketing[1:]}" if _DECLARES_ITSELF.search(marketing) else declared
    units, clock = _number(told, "compute_units"), _number(told, "clock_mhz") * 1e6
    known = _known(architecture, units, marketing, told.get("chip_id"))
    share = units / known.limits.compute_units if known and partition(units, known.limits.compute_units) else 1.0
    sources = {
        name: "the HSA runtime"
        for name in ("compute_units", "clock_hz", "max_waves_per_compute_unit", "lds_bytes_per_block", "l2_bytes")
    }
    if known is not None:
        told_by = f"the table of chips, as {known.name}"
        for name in ("l1_bytes", "dram_bytes_per_s", "l2_bytes_per_s", "fp32_flops_per_s", "lds_banks"):
            sources[name] = known.limits.sources.get(name, told_by)
            if share < 1.0 and name in _RATES:
                sources[name] += f", of a partition with {units} of its {known.limits.compute_units} compute units"
    transfers = next((count for start, count in _TRANSFERS.items() if architecture.startswith(start)), 2)
    bandwidth = _number(told, "memory_clock_mhz") * 1e6 * _number(told, "memory_width_bits") / 8 * transfers
    if known is None:
        sources["dram_bytes_per_s"] = f"memory clock × bus width × {transfers} transfers per clock, by the HSA runtime"
    lds = _number(told, "lds_bytes") or _FALLBACK_LDS_BYTES
    return Device(
        vendor="amd",
        architecture=architecture,
        name=devices.short_name(marketing),
        wave_size=_number(told, "wave_size"),
        emulated=emulator is not None,
        runs_on=emulator or "",
        limits=DeviceLimits(
            compute_units=units,
            clock_hz=clock,
            max_waves_per_compute_unit=_number(told, "waves_per_unit"),
            lds_bytes_per_compute_unit=lds,
            lds_bytes_per_block=lds,
            lds_banks=known.limits.lds_banks if known else _LDS_BANKS,
            registers_per_compute_unit=known.limits.registers_per_compute_unit if known else _REGISTERS_PER_CU,
            l1_bytes=known.limits.l1_bytes if known else _number(told, "l1_bytes"),
            l2_bytes=_number(told, "l2_bytes"),
            dram_bytes_per_s=known.limits.dram_bytes_per_s * share if known else bandwidth,
            l2_bytes_per_s=_part(known.limits.l2_bytes_per_s, share) if known else None,
            fp32_flops_per_s=_part(known.limits.fp32_flops_per_s, share) if known else None,
            sources=sources,
        ),
    )


def _known(architecture: str, units: int, marketing: str, chip_id: object = None) -> Device | None:
    """The chip of the table: by its PCI id, by its name, else the one with this architecture and compute units."""
    if chip_id in _WITHOUT_TABLE:
        return None
    chips = [devices.record(name) for name in devices.target_names()]
    by_id = [chip for chip in chips if chip.architecture == architecture and chip.name == _CHIPS.get(_id(chip_id))]
    named = [chip for chip in chips if chip.name in marketing.replace("AMD Instinct ", "").split()]
    fitting = [c for c in chips if c.architecture == architecture and c.limits.compute_units == units]
    return next(iter(by_id or named or fitting), None)


def _id(told: object) -> int:
    return told if isinstance(told, int) else 0


def _part(rate: float | None, share: float) -> float | None:
    return rate * share if rate is not None else None


def _number(told: Mapping[str, object], key: str) -> int:
    value = told.get(key)
    if not isinstance(value, int):
        raise BackendUnavailable(f"the HSA runtime does not tell {key}")
    return value


def ask(
    launcher: Sequence[str], environment: Mapping[str, str], logs: Path, deadline_s: float = _DEADLINE_S
) -> Mapping[str, object]:
    """What the first GPU says of itself. Raises `BackendUnavailable` with the remedy."""
    argv = [*launcher, sys.executable, "-I", str(_SCRIPT)]
    with Child(argv, logs, environment, logs, "probe") as child:
        done = child.wait(deadline_s, patience=_PATIENCE)
    lines = done.tail("stdout").strip().splitlines()
    try:
        told = json.loads(lines[-1]) if done.ok and lines else None
    except json.JSONDecodeError:
        told = None
    if not isinstance(told, dict):
        said = (done.tail("stderr").strip().splitlines() or [done.describe()])[-1]
        # Under a launcher the device is the launcher's, and what the machine has says nothing.
        there = surroundings.System().gpus()
        why = "" if launcher else surroundings.driver_problem() or surroundings.hidden_gpus(os.environ, 0, there)
        if why:
            raise BackendUnavailable(f"no AMD GPU that the ROCm runtime can use: {why}")
        if done.timed_out:
            raise BackendUnavailable(
                f"the ROCm runtime did not answer within {done.seconds:.0f} s, the time without a free processor not "
                f"counted: {_HANGS[bool(launcher)]}"
            )
        raise BackendUnavailable(f"no AMD GPU that the ROCm runtime can use: {said}")
    return told


def hidden_or_parted(told: Mapping[str, object], launcher: Sequence[str], device: Device) -> tuple[str, ...]:
    """What of the machine's GPUs programs cannot use, known before one runs; `told` by `ask`."""
    count = _number(told, "gpus")
    there = count if launcher else max(count, surroundings.System().gpus() or 0)
    units = device.limits.compute_units
    known = _known(device.architecture, units, device.name, told.get("chip_id"))
    found = (
        surroundings.hidden_gpus(os.environ, _number(told, "visible"), there),
        partition(units, known.limits.compute_units if known is not None else None),
    )
    return tuple(text for text in found if text)


def mixed_releases(runtime: str, environment: Mapping[str, str]) -> str:
    """Of the compiler, the profiler, ROCm's headers and `runtime`, the library that programs load ("": not known)."""
    parts = [*compilers.behind("hipcc")[:1], *([Path(runtime)] if runtime else ())]
    with contextlib.suppress(ToolchainError):
        parts.append(stack.hsa_headers().directory)
    with contextlib.suppress(BackendUnavailable):
        parts.append(find_rocprof().program)
    return surroundings.mixed_releases(parts, environment)
