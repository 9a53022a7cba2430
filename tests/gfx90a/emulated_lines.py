"""The product's emulator as an instrument: its figures per line, in the terms of the software gfx90a's."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from instruments import Figures, Place

from intelliperf.records import AccessKind, MemorySpace, Metric

sys.path.append(str(Path(__file__).parents[1] / "emulator"))

# The emulator's evidence has these for accesses to global memory and for atomics only.
_NOT_TOLD = {"lanes", "bytes"}
_TARGET = "mi250x"  # waves of 64, as on gfx90a
_KINDS = {
    AccessKind.LOAD: "load",
    AccessKind.STORE: "store",
    AccessKind.ATOMIC: "atomic",
    AccessKind.REDUCTION: "atomic",
}


def on_the_emulator(sources: Sequence[str], project: Path, arguments: Sequence[str] = ()) -> dict[Place, Figures]:
    """Per line, summed over the launches; `sources` are relative to the project."""
    from profile_programs import build

    command = ["hipcc", "-O3", "-std=c++17", "-Iinclude", *sources, "-o", "on-emulator"]
    program = build(project, [command], ["./on-emulator", *arguments], _TARGET)
    found: dict[Place, Figures] = defaultdict(Figures)
    for profile in program.profile().kernels:
        for evidence in program.lines(profile.kernel.name):
            kind = _KINDS.get(evidence.access)
            if kind is None:
                continue  # barriers and the like
            shared = evidence.space is MemorySpace.SHARED

            def total(metric: Metric, of: object = evidence, times: int = profile.dispatches) -> int:
                quantities = of.quantities  # type: ignore[attr-defined]
                return round(quantities[metric].value * times) if metric in quantities else 0

            atomic = kind == "atomic"
            lanes = total(Metric.ATOMIC_LANES) if atomic else total(Metric.LANES)
            place = Place(
                profile.kernel.symbol, f"{evidence.file.name}:{evidence.line}", "lds" if shared else "global", kind
            )
            requests = total(Metric.ATOMIC_REQUESTS if atomic else Metric.LDS_REQUESTS if shared else Metric.REQUESTS)
            if not requests:
                continue  # by the scalar cache, or never run
            found[place].add(
                Figures(
                    requests,
                    lanes,
                    lanes * evidence.element_bytes,
                    0 if shared else total(Metric.LINES_64B),
                    total(Metric.LDS_PHASES) if shared else 0,
                    total(Metric.LDS_PHASES_IDEAL) if shared else 0,
                    total(Metric.ATOMIC_SERIALIZATION) if atomic else 0,
                )
            )
    return dict(found)


def shown(found: dict[Place, Figures], place: Place) -> str:
    return str(asdict(found[place])) if place in found else "nothing"


def agree(device: Figures | None, emulator: Figures | None) -> bool:
    if device is None or emulator is None:
        return False
    told = asdict(emulator)
    return all(asdict(device)[name] == value for name, value in told.items() if name not in _NOT_TOLD or value)
