"""The recordings of AMD's profilers, see tests/data/rocprof/README.md."""

from __future__ import annotations

import json
from pathlib import Path

from intelliperf.profiling.rocprofv3 import CountedDispatch, parse_counters

DATA = Path(__file__).parents[1] / "data" / "rocprof"
VCOPY = {
    "MI100": "gfx908",
    "MI200": "gfx90a",
    "MI300A_A1": "gfx942",
    "MI300X_A1": "gfx942",
    "MI350": "gfx950",
}


def text_of(name: str) -> str:
    return (DATA / name).read_text()


def vcopy(gpu: str) -> tuple[CountedDispatch, ...]:
    name = f"vcopy_{gpu}.csv"
    return parse_counters(text_of(name), name)


def known_counters() -> dict[str, dict[str, list[str]]]:
    known: dict[str, dict[str, list[str]]] = json.loads(text_of("counters.json"))
    return known
