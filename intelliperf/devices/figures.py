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
# What people have and no model is made of: what it is, or why there is none, and the nearest chip that is modelled. A
# key that ends in a star stands for all names that begin so; "#" is a digit.
NOT_MODELLED: Mapping[str, tuple[str, str]] = {
    "mi308x": ("too little is published of it", "mi300x"),
    "gfx940": ("an early stepping of the MI300A", "mi300a"),
    "gfx941": ("an early stepping of the MI300X", "mi300x"),
    "gfx900": ("it is of GCN 5", "mi210"),
    "gfx906": ("it is of GCN 5", "mi210"),
    "gfx908": ("it is of CDNA", "mi210"),
    "gfx90c": ("it is of GCN 5", "mi210"),
    "mi25": ("it is of GCN 5", "mi210"),
    "mi50": ("it is of GCN 5", "mi210"),
    "mi60": ("it is of GCN 5", "mi210"),
    "radeonvii": ("it is of GCN 5", "mi210"),
    "mi100": ("it is of CDNA", "mi210"),
    "mi200": ("it is a series", "mi250x"),
    "mi300": ("it is a series", "mi300x"),
    "gfx7*": ("it is older than GCN 5", "mi210"),
    "gfx8*": ("it is older than GCN 5", "mi210"),
    "gfx101#": ("it is of RDNA", "rx7900xtx"),
    "gfx103#": ("it is of RDNA 2", "rx7900xtx"),
    "gfx110#": ("it is of RDNA 3, with fewer compute units", "rx7900xtx"),
    "gfx115#": ("it is of RDNA 3.5, with fewer compute units", "radeon8060s"),
    "rx5###*": ("it is of RDNA", "rx7900xtx"),
    "rx6###*": ("it is of RDNA 2", "rx7900xtx"),
    "rx7###*": ("it is of RDNA 3, with fewer compute units", "rx7900xtx"),
    "rx9###*": ("it is of RDNA 4", "rx9070xt"),
    "w6###*": ("it is of RDNA 2", "w7900"),
    "w7###*": ("it is of RDNA 3, with fewer compute units", "w7900"),
    "sm60": ("it is of Pascal", "a100"),
    "sm61": ("it is of Pascal", "a100"),
    "sm70": ("it is of Volta", "a100"),
    "sm75": ("it is of Turing", "a100"),
    "sm86": ("it is of Ampere, for graphics", "rtx4090"),
    "sm87": ("it is of Ampere, for embedded systems", "rtx4090"),
    "sm1##": ("it is of Blackwell", "h200"),
    "p100": ("it is of Pascal", "a100"),
    "v100": ("it is of Volta", "a100"),
    "t4": ("it is of Turing", "a100"),
    "a10": ("it is of Ampere, for graphics", "rtx4090"),
    "a40": ("it is of Ampere, for graphics", "rtx4090"),
    "l4": ("it is of Ada, with fewer multiprocessors", "rtx4090"),
    "l40*": ("it is of Ada", "rtx4090"),
    "h20": ("it is of Hopper, with fewer multiprocessors", "h200"),
    "h800": ("it is of Hopper", "h100"),
    "a800": ("it is of Ampere", "a100"),
    "gh200": ("its memory is shared with a processor", "h200"),
    "b200": ("it is of Blackwell", "h200"),
    "b300": ("it is of Blackwell", "h200"),
    "gb200": ("it is of Blackwell", "h200"),
    "rtx20##*": ("it is of Turing", "rtx4090"),
    "rtx30##*": ("it is of Ampere, for graphics", "rtx4090"),
    "rtx40##*": ("it is of Ada, with fewer multiprocessors", "rtx4090"),
    "rtx50##*": ("it is of Blackwell", "rtx4090"),
}


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
