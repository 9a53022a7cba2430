"""Lanes that part in a loop meet again before its next turn: figures against Nsight Compute's on an H100.

`loops.cu` with nvcc 13.0 -O3 -arch=sm_90, Nsight Compute 2025.3.1, `--section SourceCounters`: per machine
instruction the times a wave executed it, its active lanes (of those whose predicate was true), its sectors and the
ideal ones. There is one wave, in whole.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from profile_programs import RUN_DEADLINE_S, Program, build

from intelliperf.records import AccessKind, Metric

PROGRAMS = Path(__file__).parent / "programs"
INNER = "for (int j = first[row]; j < end; ++j) sum += a[j];"
ENDS = "const int from = first[row], to = first[row + 1];"
# kernel, source line, kind → (waves, lanes, sectors, ideal sectors) per access on the line, sorted
MEASURED = {
    ("some_store", "const int v = a[i];", AccessKind.LOAD): [(8, 256, 32, 32)],
    ("some_store", "if (v > 0) b[i] = v * 2;", AccessKind.STORE): [(8, 116, 32, 16)],
    ("some_skip", "sum += a[i];", AccessKind.LOAD): [(8, 205, 32, 32)],
    ("some_skip", "b[i] = sum;", AccessKind.STORE): [(8, 205, 32, 32)],
    ("rows", "const int end = first[row + 1];", AccessKind.LOAD): [(8, 256, 40, 32)],
    ("rows", INNER, AccessKind.LOAD): [(8, 256, 32, 32), (56, 896, 624, 128)],
    ("rows", "b[row] = sum;", AccessKind.STORE): [(8, 256, 32, 32)],
    ("rows_called", ENDS, AccessKind.LOAD): [(8, 256, 32, 32), (8, 256, 40, 32)],
    ("rows_called", "if (a[j] < 0) continue;", AccessKind.LOAD): [(56, 800, 624, 120)],
    ("rows_called", "sum += a[j + 1];", AccessKind.LOAD): [(56, 435, 376, 82)],
    ("rows_called", "if (to - from > 2) b[row] = total(a, from, to);", AccessKind.STORE): [(8, 160, 32, 24)],
}  # fmt: skip
METRICS = (Metric.REQUESTS, Metric.LANES, Metric.SECTORS, Metric.SECTORS_IDEAL)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    directory = tmp_path_factory.mktemp("loops") / "project"
    directory.mkdir()
    shutil.copy(PROGRAMS / "loops.cu", directory)
    return build(directory, [["nvcc", "-O3", "loops.cu", "-o", "app"]], ["./app"], "h100")


@pytest.mark.parametrize("kernel", sorted({kernel for kernel, _, _ in MEASURED}))
def test_waves_come_together_as_often_as_on_hardware(program: Program, kernel: str) -> None:
    found: dict[tuple[str, str, AccessKind], list[tuple[float, ...]]] = {}
    for line in program.lines(kernel):
        if line.access in (AccessKind.LOAD, AccessKind.STORE):
            figures = tuple(line.quantity(metric).value for metric in METRICS)
            found.setdefault((kernel, line.text.strip(), line.access), []).append(figures)
    assert {place: sorted(figures) for place, figures in found.items()} == {
        place: figures for place, figures in MEASURED.items() if place[0] == kernel
    }


def test_lanes_that_work_for_long_are_counted_once(tmp_path: Path) -> None:
    """Two blocks of two lanes, all of which the watchdog could take for waiting ones."""
    shutil.copy(PROGRAMS / "long_turns.cu", tmp_path)
    made = build(tmp_path, [["nvcc", "-O2", "long_turns.cu", "-o", "app"]], ["./app"], "h100")
    sampled = replace(made.application, environment=())
    (kernel,) = made.backend.profile(sampled, RUN_DEADLINE_S).kernels
    assert kernel.quantity(Metric.REQUESTS).value == 2 * 16_000_000 + 2
    assert kernel.quantity(Metric.LANES).value == 4 * 16_000_000 + 4
