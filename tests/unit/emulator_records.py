"""Writes record files as the emulator's runtime would, for tests of their readers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from intelliperf.devices import models as devices
from intelliperf.emulator.tracefiles import BLOCK_DTYPE, SHAPES, SITE_DTYPE

KERNEL = "_Z3sumPKfPfi"
STATIC = {
    "architecture": "gfx942",
    "vgprs": 12,
    "agprs": 0,
    "sgprs": 16,
    "lds_bytes": 1024,
    "scratch_bytes": 0,
    "vgpr_spills": 0,
    "sgpr_spills": 0,
    "instructions": 120,
    "local": [],
}


def site(kind: str, file: Path | str, line: int, column: int = 5, **other: Any) -> dict[str, Any]:
    """A site whose innermost frame is given; `outer` are further frames as (file, line)."""
    frames = [(str(file), line), *((str(name), number) for name, number in other.pop("outer", ()))]
    return {
        "kind": kind,
        "bytes": 4,
        "flags": 0,
        "function": KERNEL,
        "block": 0,
        "operation": kind,
        "type": "float",
        "locations": [{"file": name, "line": number, "column": column, "function": "sum"} for name, number in frames],
        **other,
    }


@dataclass
class Recording:
    """One process's records; fill it, then `write` it."""

    source: Path
    sites: list[dict[str, Any]] = field(default_factory=list)
    launches: list[dict[str, Any]] = field(default_factory=list)
    counts: list[dict[str, Any]] = field(default_factory=list)
    faults: list[dict[str, Any]] = field(default_factory=list)
    blocks: list[tuple[int, int, int, int]] = field(default_factory=list)  # launch, block, lanes, waves
    target: str = "mi300x"
    static: dict[str, Any] | None = field(default_factory=lambda: dict(STATIC))
    kernels: tuple[str, ...] = (KERNEL,)
    elements: int = 0

    def launch(self, **other: Any) -> int:
        """A dispatch of 100 blocks, wholly traced unless told otherwise; returns its index."""
        index = len(self.launches)
        self.launches.append(
            {
                "index": index,
                "operation": "kernel",
                "kernel": KERNEL,
                "module": 0,
                "grid": [100, 1, 1],
                "block": [256, 1, 1],
                "dynamic_lds": 0,
                "stream": 0,
                "blocks": 100,
                "traced_blocks": 100,
                "events": 25600,
                "all_events": 25600,
                "empty_blocks": 0,
                "lockstep": False,
                "time_ns": 10000.0,
                "time_from": "traced",
                "time_parts": {
                    "launch": 2000.0,
                    "issue": 100.0,
                    "lds": 0.0,
                    "l1": 500.0,
                    "l2": 500.0,
                    "dram": 900.0,
                    "atomic": 6000.0,
                    "latency": 0.0,
                },
                "host_ns_fast": 1,
                "host_ns_trace": 1,
                "repeated": False,
                "atomic_lanes": 0,
                "atomic_addresses": 0,
                "atomics_known": True,
                "atomic_hottest_lanes": 0,
                "atomic_hottest_site": -1,
                "atomic_hottest_by_site": [],
                "dram_read_bytes": 100000,
                "dram_write_bytes": 0,
                "dram_once_bytes": 60000,
                "barriers": 0,
                "divergent_barriers": 0,
                "occupancy_waves": 16,
                "occupancy_limit": "waves",
                "waves_by_registers": 32,
                "waves_by_lds": 24,
                "waves_by_blocks": 32,
                "local_requests": 0,
                "local_ns": 0,
                "spin_ns": 0,
                "status": 0,
                **other,
            }
        )
        return index

    def copy(self, time_ns: float, operation: str = "memcpy_htod", **more: str) -> None:
        row = {"index": len(self.launches), "operation": operation, "bytes": 1000, "time_ns": time_ns}
        self.launches.append({**row, **more})

    def count(self, launch: int, number: int, errors: Mapping[str, float] | None = None, **counts: Any) -> None:
        """Counts of one site in one launch, and half-widths of their errors; those not named are 0."""
        half_widths = [(errors or {}).get(name, 0.0) for name in SHAPES]
        self.counts.append({"launch": launch, "site": number, "error": half_widths, **counts})

    def metadata(self) -> dict[str, Any]:
        values = devices.device_file_values(self.target)
        facts = {
            "name": "sum(float const*, float*, int)",
            "file": str(self.source),
            "line": 3,
            "end_line": 9,
            "parameters": [],
            "static_lds": 0,
            "static": self.static,
            "elements": self.elements,
        }
        return {
            "abi": 5,
            "source": str(self.source),
            "language": "hip",
            "target": self.target,
            "wave_size": values["wave_size"],
            "device": values,
            "sites": self.sites,
            "locations": [[{"file": str(self.source), "line": 4, "column": 7, "function": "sum"}]],
            "blocks": [{"function": KERNEL, "mix": {"f32": 3, "int": 5, "memory": 2}, "site": None, "location": 0}],
            "kernels": {symbol: facts for symbol in self.kernels},
            "symbols": {},
        }

    def write(self, directory: Path) -> Path:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "module-0.json").write_text(json.dumps(self.metadata()))
        (directory / "launches.jsonl").write_text("".join(json.dumps(row) + "\n" for row in self.launches))
        (directory / "faults.jsonl").write_text("".join(json.dumps(row) + "\n" for row in self.faults))
        records = np.zeros(len(self.counts), dtype=SITE_DTYPE)
        for record, counts in zip(records, self.counts, strict=True):
            for name, value in counts.items():
                record[name] = value
        records.tofile(directory / "sites.bin")
        np.array(self.blocks, dtype=BLOCK_DTYPE).tofile(directory / "blocks.bin")
        (directory / "end.json").write_text('{"abi":5,"complete":true,"exit":0}')
        return directory
