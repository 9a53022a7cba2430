"""Two independent instruments on the examples: machine code counted on the software gfx90a, and the product's emulator.

They share no code. `EXPLAINED` says where the compiler for gfx90a makes something else of a line than the line says.
What the compiler plugin records on each example has to be what the device counts.
"""

from __future__ import annotations

import shutil
import sys
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path

import pytest
from instruments import Figures, Place
from recorded_on_device import EXAMPLES, NO_LINE, PARTICLES, REDUCTION, TRANSPOSE, TRIAD, Program, Twice, equal

from intelliperf.records import AccessKind, MemorySpace, Metric

sys.path.append(str(Path(__file__).parents[1] / "emulator"))

pytestmark = pytest.mark.gfx90a
# Lines that differ, and why.
EXPLAINED: dict[str, dict[tuple[str, str, str], str]] = {
    "particles": {  # neighbouring members of a structure are loaded and stored by two or three at a time
        ("integrator.hip:26", "global", "load"): "position and velocity: three members each are one access",
        ("integrator.hip:26", "global", "store"): "three members are one access",
        ("integrator.hip:27", "global", "load"): "loaded with what line 26 loads",
        ("integrator.hip:27", "global", "store"): "three members are one access",
    },
}
# The emulator's evidence has these for accesses to global memory and for atomics only.
_NOT_TOLD = {"lanes", "bytes"}
_TARGET = "mi250x"  # waves of 64, as on gfx90a
IN_BOTH = (REDUCTION, TRANSPOSE, PARTICLES, TRIAD)
_KINDS = {
    AccessKind.LOAD: "load",
    AccessKind.STORE: "store",
    AccessKind.ATOMIC: "atomic",
    AccessKind.REDUCTION: "atomic",
}


@pytest.fixture(scope="module", params=IN_BOTH, ids=lambda example: example.name)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Program, Twice]:
    return request.param, request.param.twice(tmp_path_factory.mktemp(request.param.name))


def on_the_emulator(example: Program, project: Path) -> dict[Place, Figures]:
    from profile_programs import build

    command = ["hipcc", "-O3", "-std=c++17", "-Iinclude", *example.sources, "-o", "on-emulator"]
    program = build(project, [command], ["./on-emulator", *example.arguments], _TARGET)
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
            requests = Metric.ATOMIC_REQUESTS if atomic else Metric.LDS_REQUESTS if shared else Metric.REQUESTS
            found[place].add(
                Figures(
                    total(requests),
                    lanes,
                    lanes * evidence.element_bytes,
                    0 if shared else total(Metric.LINES_64B),
                    total(Metric.LDS_PHASES) if shared else 0,
                    total(Metric.LDS_PHASES_IDEAL) if shared else 0,
                    total(Metric.ATOMIC_SERIALIZATION) if atomic else 0,
                )
            )
    return dict(found)


def test_both_instruments_count_the_same_on_every_line(built: tuple[Program, Twice], tmp_path: Path) -> None:
    example, twice = built
    project = tmp_path / "project"
    shutil.copytree(EXAMPLES / example.name, project)
    device, emulator = twice.lines_on_device(), on_the_emulator(example, project)
    assert device, "no line was counted"
    different = {
        place: f"{place}\n  gfx90a   {_shown(device, place)}\n  emulator {_shown(emulator, place)}"
        for place in sorted({*device, *emulator})
        if not _agree(device.get(place), emulator.get(place))
    }
    assert {(place.line, place.space, place.kind) for place in different} == set(EXPLAINED.get(example.name, {})), (
        "\n".join(different.values())
    )


def test_what_the_compiler_plugin_records_is_the_same_too(built: tuple[Program, Twice]) -> None:
    _, twice = built
    assert any(place.line != NO_LINE for place in equal(twice))


def _shown(found: dict[Place, Figures], place: Place) -> str:
    return str(asdict(found[place])) if place in found else "nothing"


def _agree(device: Figures | None, emulator: Figures | None) -> bool:
    if device is None or emulator is None:
        return False
    told = asdict(emulator)
    return all(asdict(device)[name] == value for name, value in told.items() if name not in _NOT_TOLD or value)
