"""Per-line figures against what Nsight Compute showed on an H100: equality, but for three explained lines."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from profile_programs import Program, build

from intelliperf.records import AccessKind, MemorySpace, Metric

HARDWARE = Path(__file__).parents[2] / "benchmarks" / "hardware"
Place = tuple[str, int, str]  # kernel, line of micro.cu, machine instruction
Figures = tuple[int, int]  # sectors (global) or wavefronts (shared), and the ideal

INSTRUCTIONS = {
    (AccessKind.LOAD, MemorySpace.GLOBAL): "LDG",
    (AccessKind.STORE, MemorySpace.GLOBAL): "STG",
    (AccessKind.REDUCTION, MemorySpace.GLOBAL): "RED",
    (AccessKind.ATOMIC, MemorySpace.GLOBAL): "ATOMG",
    (AccessKind.LOAD, MemorySpace.SHARED): "LDS",
    (AccessKind.STORE, MemorySpace.SHARED): "STS",
    (AccessKind.REDUCTION, MemorySpace.SHARED): "ATOMS",
    (AccessKind.ATOMIC, MemorySpace.SHARED): "ATOMS",
}
METRICS = {
    MemorySpace.GLOBAL: (Metric.SECTORS, Metric.SECTORS_IDEAL),
    MemorySpace.SHARED: (Metric.LDS_PHASES, Metric.LDS_PHASES_IDEAL),
}

# Where nvcc makes something else of the line than the line says: what the emulator counts there.
EXPLAINED: dict[Place, Figures] = {
    # The divergent loop is unrolled: lanes that have left it do not wait where the source says.
    ("diverge", 111, "LDG"): (49153, 16384),
}


def measured() -> dict[Place, Figures]:
    """The recording; dispatches of one kernel are added up."""
    found: dict[Place, Figures] = {}
    for kernel in json.loads((HARDWARE / "h100-lines.json").read_text())["kernels"]:
        for line in kernel["lines"]:
            place = (kernel["kernel"], line["line"], line["instruction"])
            name = "sectors" if "sectors" in line else "wavefronts"
            before = found.get(place, (0, 0))
            found[place] = (before[0] + line[name], before[1] + line[f"{name}_ideal"])
    return found


@pytest.fixture(scope="module")
def emulated(tmp_path_factory: pytest.TempPathFactory) -> dict[Place, Figures]:
    directory = tmp_path_factory.mktemp("hardware") / "project"
    directory.mkdir()
    shutil.copy(HARDWARE / "micro.cu", directory)
    return _figures(build(directory, [["nvcc", "-O3", "micro.cu", "-o", "micro"]], ["./micro"], "h100"))


def _figures(program: Program) -> dict[Place, Figures]:
    actual: Counter[Place] = Counter()
    ideal: Counter[Place] = Counter()
    for profile in program.profile().kernels:
        for evidence in program.lines(profile.kernel.name):
            instruction = INSTRUCTIONS.get((evidence.access, evidence.space))
            if instruction is None:
                continue  # a barrier
            figures = [evidence.quantity(metric) for metric in METRICS[evidence.space]]
            assert all(quantity.error is None for quantity in figures), "traced whole, so without error"
            place = (profile.kernel.name, evidence.line, instruction)
            actual[place] += round(figures[0].value * profile.dispatches)  # of one dispatch, on average
            ideal[place] += round(figures[1].value * profile.dispatches)
    return {place: (actual[place], ideal[place]) for place in actual}


def test_every_line_of_the_recording_has_the_hardware_s_figures(emulated: dict[Place, Figures]) -> None:
    assert {place: emulated.get(place) for place in measured()} == measured() | EXPLAINED
    assert emulated.keys() == measured().keys()


def test_every_explained_line_differs() -> None:
    recorded = measured()
    assert all(recorded[place] != figures for place, figures in EXPLAINED.items())
