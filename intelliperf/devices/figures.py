"""The chips of `chips.toml`, each with all that it takes from another, and the figures that follow from others."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Figure = str | int | float
Sourced = Mapping[str, tuple[Figure, str]]  # key → figure and its source

# What people type for a chip beside its name: architectures stand for their best-known chip.
ALIASES: Mapping[str, str] = {
    "gfx90a": "mi250x",
    "mi250": "mi250x",
    "gfx942": "mi300x",
    "gfx950": "mi350x",
    "gfx1100": "rx7900xtx",
    "radeonprow7900": "w7900",
    "gfx1151": "radeon8060s",
    "strixhalo": "radeon8060s",
    "gfx1200": "rx9060xt",
    "gfx1201": "rx9070xt",
    "sm80": "a100",
    "sm89": "rtx4090",
    "sm90": "h100",
}
# Chips that people have and of which too little is published for a model.
UNPUBLISHED: Mapping[str, str] = {"mi308x": "mi300x"}  # → the nearest chip that is modelled


@cache
def _document() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "chips.toml").read_text(encoding="utf-8"))


@cache
def chips() -> tuple[str, ...]:
    """Names of all chips, sorted."""
    return tuple(sorted(name for name in _document() if not name.startswith("_")))


@cache
def figures_of(chip: str) -> Sourced:
    """All figures of a chip, those that it takes from another and those that follow from others included."""
    stated = _stated(chip)
    return {**_following({key: figure for key, (figure, _) in stated.items()}), **stated}


def _stated(name: str) -> dict[str, tuple[Figure, str]]:
    table = _document()[name]
    found = dict(_stated(table["like"])) if "like" in table else {}
    for source, figures in table.items():
        if source != "like":
            found.update({key: (figure, source) for key, figure in figures.items()})
    return found


def _following(stated: Mapping[str, Any]) -> dict[str, tuple[Figure, str]]:
    """What no source states of a chip, from its clock, its slices of L2 and its dies.

    Empty kernels on an H200 start a block each 0.61 ns, and on each compute unit a wave each 10.5 cycles. One warp's
    atomics on one word take 0.74 ns for each lane, on neighbouring words 0.60 ns for each sector; spread out they go
    as fast as by 64 queues, two for three slices. A compute unit takes in 64 bytes per cycle.
    """
    nvidia = stated["vendor"] == "nvidia"
    measured = "measured on an H200 by benchmarks/hardware/rates.cu"
    like_h200 = "assumption: as many cycles as an H200 takes, measured by benchmarks/hardware/rates.cu"
    cycles = measured if stated["architecture"] == "sm_90" else like_h200
    clock, slices = stated["clock_hz"], stated["l2_slices"]
    scale = 1.98e9 / clock
    same = "assumption: as many cycles per lane on one address as measured on the H100 (3.465)"
    found: dict[str, tuple[Figure, str]] = {
        "atomic_lane_ns": (round(0.74 * scale, 3), cycles),
        "atomic_sector_ns": (round(0.60 * scale, 3), cycles),
        "atomic_queues": (slices * 2 // 3, cycles),
        "block_start_ns": (round(0.61 * scale / stated["xcds"], 3), cycles),
        "wave_start_cycles": (10.5, cycles),
        "l2_bytes_per_cycle_and_unit": (64, cycles),
        "atomic_same_address_ns": (round(1.75 * scale, 2), same),
    }
    if not nvidia:
        each = "AMD CDNA white papers and RDNA ISA guides: a slice of the L2 delivers a line per cycle"
        found["l2_bytes_per_s"] = (slices * stated["l2_line_bytes"] * clock, each)
    return found
