"""The device files of the emulator: one flat set of figures per chip, each with its source."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from intelliperf.devices.figures import ALIASES, NOT_MODELLED, chips, figures_of
from intelliperf.errors import UsageError
from intelliperf.records import Device, DeviceLimits

DEFAULT_TARGETS: Mapping[str, str] = {"hip": "mi300x", "cuda": "h100"}

# How amd-smi names the modes of compute units and of memory; SPX and NPS1 are the whole chip.
_PARTITION = re.compile(r"(?P<chip>mi3\w+?)(?P<modes>(?:[sdtqc]px|nps[1248])+)")
# As in `gfx942:sramecc+:xnack-`, see LLVM's AMDGPUUsage.
_FEATURES = re.compile(r"(?<=\w)(?::(?:xnack|sramecc)[+-])+$")
_MAKERS = re.compile(r"^(?:(?:amd|nvidia|instinct|geforce|tesla|radeon[ _-]*pro|radeon(?=[ _-]*rx))[ _-]*)+(?=\w)")

KEYS = (
    "name",
    "vendor",
    "architecture",
    "wave_size",
    "compute_units",
    "simds_per_compute_unit",
    "clock_hz",
    "max_waves_per_compute_unit",
    "max_blocks_per_compute_unit",
    "max_threads_per_block",
    "registers_per_compute_unit",
    "lds_bytes_per_compute_unit",
    "lds_bytes_per_block",
    "lds_bytes_per_block_optin",
    "lds_banks",
    "lds_bytes_per_cycle",
    "l1_bytes",
    "l1_line_bytes",
    "l1_bytes_per_cycle",
    "l2_bytes",
    "l2_slices",
    "l2_line_bytes",
    "l2_bytes_per_s",
    "dram_bytes_per_s",
    "dram_total_bytes",
    "fp32_flops_per_s",
    "fp64_flops_per_s",
    "issue_per_cycle",
    "l1_latency_cycles",
    "l2_latency_cycles",
    "dram_latency_cycles",
    "lds_latency_cycles",
    "atomic_same_address_ns",
    "atomic_lane_ns",
    "atomic_sector_ns",
    "atomic_queues",
    "block_start_ns",
    "wave_start_cycles",
    "l2_bytes_per_cycle_and_unit",
    "launch_overhead_ns",
    "warm_launch_ns",
    "pcie_bytes_per_s",
    "xcds",
    "compute_capability_major",
    "compute_capability_minor",
)


def target_names() -> tuple[str, ...]:
    """Every chip by its name; `resolve` takes architectures and other spellings, too."""
    return chips()


def resolve(target: str) -> str:
    """The name of the chip that `target` means: a name in any case and with separators, a data sheet's too, or an
    architecture, with or without the features of a target ID.

    Raises `UsageError` for any other word, with what may have been meant, for a chip that is known and not modelled,
    and for a part of a chip.
    """
    spelled = _bare(target)
    part = _PARTITION.fullmatch(spelled)
    if part and part["modes"].replace("spx", "").replace("nps1", ""):
        whole = resolve(part["chip"])
        raise UsageError(f"{target} is a partition, which is not modelled; --target {whole} models the whole chip")
    spelled = part["chip"] if part else spelled
    spelled = ALIASES.get(spelled, spelled)
    spelled = next((chip for chip in chips() if _bare(str(figures_of(chip)["name"][0])) == spelled), spelled)
    if spelled not in chips():
        for known, (why, nearest) in NOT_MODELLED.items():
            if re.fullmatch(known.replace("#", r"\d").replace("*", r"\w*"), spelled):
                raise UsageError(f"{target} is not modelled: {why}; the nearest that is modelled is {nearest}")
        near = get_close_matches(spelled, [*chips(), *ALIASES], 1, cutoff=0.5)
        meant = f"did you mean {near[0]}? It is one of" if near else "choose one of:"
        raise UsageError(f"unknown target {target!r}; {meant} {', '.join(chips())}; or an architecture such as gfx942")
    return spelled


def _bare(name: str) -> str:
    """Without separators, makers and families, and the features that a target ID names behind its architecture."""
    name = _FEATURES.sub("", name.strip().lower())
    return re.sub(r"[-_ ]", "", _MAKERS.sub("", name))


def device_file_values(target: str) -> dict[str, str | int | float]:
    """Every key of the device file, in the order of `KEYS`; units are in the names."""
    figures = figures_of(resolve(target))
    return {key: figures[key][0] for key in KEYS}


def sources(target: str) -> dict[str, str]:
    """Per key of the device file, where its figure comes from."""
    return {key: source for key, (_, source) in figures_of(resolve(target)).items()}


@cache
def device_file_text(target: str) -> str:
    """`key=value` lines for the runtime; integral figures without a decimal point."""
    return "".join(f"{key}={_plain(value)}\n" for key, value in device_file_values(target).items())


def write_device_file(target: str, path: Path) -> None:
    path.write_text(device_file_text(target), encoding="utf-8")


def _plain(value: str | int | float) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)


def record(target: str) -> Device:
    """The chip as the rest of the product sees it."""
    values = device_file_values(target)
    return device_from_values(values, sources(target))


def device_from_values(values: Mapping[str, str | int | float], origin: Mapping[str, str]) -> Device:
    """A `Device` from device-file values, e.g. those that a container carries."""
    return Device(
        vendor=str(values["vendor"]),
        architecture=str(values["architecture"]),
        name=short_name(str(values["name"])),
        wave_size=int(values["wave_size"]),
        emulated=True,
        limits=DeviceLimits(
            compute_units=int(values["compute_units"]),
            clock_hz=float(values["clock_hz"]),
            max_waves_per_compute_unit=int(values["max_waves_per_compute_unit"]),
            lds_bytes_per_compute_unit=int(values["lds_bytes_per_compute_unit"]),
            lds_bytes_per_block=int(values["lds_bytes_per_block"]),
            lds_banks=int(values["lds_banks"]),
            registers_per_compute_unit=int(values["registers_per_compute_unit"]),
            l1_bytes=int(values["l1_bytes"]),
            l2_bytes=int(values["l2_bytes"]),
            dram_bytes_per_s=float(values["dram_bytes_per_s"]),
            l2_bytes_per_s=float(values["l2_bytes_per_s"]),
            fp32_flops_per_s=float(values["fp32_flops_per_s"]),
            sources=dict(origin),
        ),
    )


def short_name(name: str) -> str:
    """The name that people use: "AMD Instinct MI300X" → "MI300X"."""
    for prefix in ("AMD Instinct ", "AMD Radeon ", "NVIDIA GeForce ", "NVIDIA "):
        if name.startswith(prefix):
            return name[len(prefix) :]
    return name
