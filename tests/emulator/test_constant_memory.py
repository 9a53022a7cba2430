"""Constant memory is read by its own cache, one address at a time, and never as sectors of global memory."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from profile_programs import Program, build

from intelliperf.formulas import find_formula
from intelliperf.records import AccessKind, MemorySpace, Metric

PROGRAMS = Path(__file__).parent / "programs"
# source line → space, requests, addresses
EXPECTED = {
    "sum += weights[shift];": (MemorySpace.CONSTANT, 1, 1),
    "sum += weights[lane / 4];": (MemorySpace.CONSTANT, 1, 8),
    "float element(const float* table, int at) { return table[at]; }": (MemorySpace.CONSTANT, 1, 32),
    "sum += steps[lane & 1];": (MemorySpace.CONSTANT, 1, 2),
    "sum += plain[lane];": (MemorySpace.GLOBAL, 1, None),
    "if (lane < 8) sum += weights[lane & 3];": (MemorySpace.CONSTANT, 1, 4),
    "out[lane] = sum;": (MemorySpace.GLOBAL, 1, None),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    directory = tmp_path_factory.mktemp("constants") / "project"
    directory.mkdir()
    shutil.copy(PROGRAMS / "constants.cu", directory)
    return build(directory, [["nvcc", "-O3", "-lineinfo", "constants.cu", "-o", "app"]], ["./app"], "h100")


def places(program: Program) -> dict[str, tuple[MemorySpace, float, float | None]]:
    found = {}
    for line in program.lines("reads"):
        if line.access not in (AccessKind.LOAD, AccessKind.STORE):
            continue
        constant = line.space is MemorySpace.CONSTANT
        assert constant != (Metric.SECTORS in line.quantities)
        requests = line.quantity(Metric.CONSTANT_REQUESTS if constant else Metric.REQUESTS).value
        addresses = line.quantity(Metric.CONSTANT_ADDRESSES).value if constant else None
        found[line.text.strip().removeprefix("__device__ ")] = (line.space, requests, addresses)
    return found


def test_loads_of_constant_memory_count_addresses_and_no_sectors(program: Program) -> None:
    assert places(program) == EXPECTED


def test_amd_loads_by_the_scalar_cache_what_all_lanes_share(tmp_path: Path) -> None:
    directory = tmp_path / "project"
    directory.mkdir()
    text = (PROGRAMS / "constants.cu").read_text()
    text = text.replace("<cuda_runtime.h>", "<hip/hip_runtime.h>").replace("cuda", "hip")
    text = text.replace("hipMemcpyToSymbol(", "hipMemcpyToSymbol(HIP_SYMBOL(").replace(", host,", "), host,")
    text = text.replace(", numbers,", "), numbers,")
    (directory / "constants.hip").write_text(text)
    found = places(build(directory, [["hipcc", "-O3", "-g", "constants.hip", "-o", "app"]], ["./app"], "mi300x"))
    scalar = {text for text, (space, _, _) in found.items() if space is MemorySpace.CONSTANT}
    assert scalar == {"sum += weights[shift];"}
    assert found.keys() == EXPECTED.keys()


def test_a_kernel_tells_constant_and_global_memory_apart(program: Program) -> None:
    profile = program.kernel("reads")
    assert profile.quantity(Metric.CONSTANT_REQUESTS).value == 5
    assert profile.quantity(Metric.CONSTANT_ADDRESSES).value == 47
    assert profile.quantity(Metric.REQUESTS).value == 2
    assert find_formula("constantAccess").symptom(profile, program.backend.probe()) is not None
