"""Rules on block sizes: bounds that the compiler is told."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from rulebench import Bench, output, parser

from intelliperf.codegen.rulebook import RuleRewriter
from intelliperf.protocols import Proposal
from intelliperf.records import (
    AccessKind,
    Geometry,
    Kernel,
    MemorySpace,
    Metric,
    Provenance,
    Quantity,
)

BOUND = "bound_block_size"
PROGRAM = """
#include <hip/hip_runtime.h>
#include <cstdio>
constexpr int kThreads = 256;
template <int N>
__global__ void sums(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float part[N];
  for (int k = 0; k < N; ++k) part[k] = i * k;
  float sum = 0;
  for (int k = 0; k < N; ++k) sum += part[(k * 7 + 1) % N];  //@
  if (i < n) out[i] = sum;
}
int main() {
  float* out;
  hipMalloc(&out, 4096);
  sums<8><<<4, kThreads>>>(out, 1000);
  sums<16><<<8, 128>>>(out, 1000);
  float host[1000];
  hipMemcpy(host, out, 4000, hipMemcpyDeviceToHost);
  for (int i = 0; i < 1000; i += 111) printf("%g\\n", host[i]);
}
"""


def propose(root: Path, program: str, threads: int = 256, spilled: float = 40, vendor: str = "amd") -> Proposal:
    bench = Bench(root, {"app.hip": program})
    task = bench.task(BOUND, AccessKind.LOAD, MemorySpace.LOCAL)
    line = next(n for n, text in enumerate(program.splitlines(), 1) if text.startswith("__global__"))
    profile = dataclasses.replace(
        task.finding.profile,
        kernel=Kernel("k", "sums<8>", root / "app.hip", line),
        geometries=(Geometry((4, 1, 1), (threads, 1, 1)),),
        quantities={Metric.SPILLED_REGISTERS: Quantity(spilled, Provenance.STATIC)},
    )
    finding = dataclasses.replace(task.finding, profile=profile)
    device = dataclasses.replace(task.device, vendor=vendor)
    proposal = RuleRewriter(parser()).propose(dataclasses.replace(task, finding=finding, device=device), ())
    assert proposal is not None
    return proposal


def declined(root: Path, program: str, **known: object) -> str:
    proposal = propose(root, program, **known)  # type: ignore[arg-type]
    assert proposal.declined is not None, proposal.candidate
    return proposal.declined.reason


def test_the_largest_block_of_all_launches_is_the_bound(tmp_path: Path) -> None:
    proposal = propose(tmp_path / "a", PROGRAM)
    assert proposal.candidate is not None, proposal.declined
    (edit,) = proposal.candidate.edits
    assert "__global__ void __launch_bounds__(256) sums(float* out, int n) {" in edit.text
    assert edit.text.replace("__launch_bounds__(256) ", "") == PROGRAM
    assert output(tmp_path / "b", {"app.hip": edit.text}) == output(tmp_path / "c", {"app.hip": PROGRAM})


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("sums<16><<<8, 128>>>", "sums<16><<<8, dim3(printf(\"\"))>>>", "is not a constant"),
        ("sums<16><<<8, 128>>>", "sums<16><<<1, 1024>>>", "1024 threads, which the compiler reckons with anyway"),
        ("__global__ void sums", "__global__ void __launch_bounds__(512) sums", "has bounds already"),
        ("  float host", "  hipFuncAttributes a; hipFuncGetAttributes(&a, (const void*)sums<8>);\n  float host",
         "otherwise than in a launch"),
    ],
)  # fmt: skip
def test_a_bound_that_might_be_exceeded_or_helps_nothing_is_not_set(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    assert old in PROGRAM
    assert reason in declined(tmp_path, PROGRAM.replace(old, new))


def test_a_bound_below_what_was_seen_is_not_set(tmp_path: Path) -> None:
    assert "ran with blocks of 512 threads" in declined(tmp_path, PROGRAM, threads=512)


def test_an_array_that_is_indexed_freely_is_not_helped_by_registers(tmp_path: Path) -> None:
    assert "indices are not constants" in declined(tmp_path, PROGRAM, spilled=0)


def test_nvcc_needs_no_bound_to_give_all_registers(tmp_path: Path) -> None:
    assert "all registers that there are" in declined(tmp_path, PROGRAM, vendor="nvidia")
