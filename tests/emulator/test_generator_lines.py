"""What generators of random numbers do to memory is of the lines that call them."""

from __future__ import annotations

from pathlib import Path

import pytest
from profile_programs import Program, build

from intelliperf.records import AccessKind, MemorySpace

SOURCE = """#include <curand_kernel.h>
#include <cstdio>
__global__ void begin(curandState* states) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(7, i, 3, &states[i]);
}
int main() {
  curandState* states;
  cudaMalloc(&states, 256 * sizeof(*states));
  begin<<<2, 128>>>(states);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    directory: Path = tmp_path_factory.mktemp("generators") / "project"
    directory.mkdir()
    (directory / "app.cu").write_text(SOURCE)
    return build(directory, [["nvcc", "-O2", "app.cu", "-o", "app"]], ["./app"], "h100")


def test_all_of_a_generators_accesses_are_of_the_line_that_starts_it(program: Program) -> None:
    lines = program.lines("begin")
    stores = [line for line in lines if line.access is AccessKind.STORE and line.space is MemorySpace.GLOBAL]
    assert stores and {line.line for line in stores} == {5}
    assert any(line.access is AccessKind.LOAD for line in lines), "jumps are looked up in a table"
    assert program.backend.line_notes() == ()
