"""Loops that one thread, one block or a small grid walks, shared out over a grid: run before and after."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from rulebench import Bench, output, parser

from intelliperf.codegen.rulebook import RuleRewriter
from intelliperf.protocols import Proposal
from intelliperf.records import AccessKind, Kernel, MemorySpace

SPREAD = "spread_over_grid"

PROGRAM = """
#include <hip/hip_runtime.h>
#include <cstdio>
#define T 128
__global__ void serial(int n, const float* x, float* y) {
  for (int i = 0; i < n; i++) y[i] = x[i] + y[i];  //@ serial
}
template <typename N> __global__ void block(N* v, int n, N f) {
  int index = threadIdx.x;
  const int stride = blockDim.x;
  for (int i = index; i < n; i += stride)
    if (v[i] > 3) v[i] = v[i] * f + 1;  //@ block
}
#define TID (threadIdx.x + blockIdx.x * blockDim.x)
__global__ void grid(const float* a, const float* b, float* c, int n) {
  unsigned tid = TID;
  while (tid < n) {
    float t = a[tid];
    c[tid] = t - b[(tid + 1) % n];  //@ grid
    tid += blockDim.x * gridDim.x;
  }
}
int main() {
  const int n = 5000;
  static float h[n];
  for (int i = 0; i < n; ++i) h[i] = i % 17;
  float *x, *y, *z;
  hipMalloc(&x, sizeof h); hipMalloc(&y, sizeof h); hipMalloc(&z, sizeof h);
  hipMemcpy(x, h, sizeof h, hipMemcpyHostToDevice); hipMemcpy(y, h, sizeof h, hipMemcpyHostToDevice);
  serial<<<1, 1>>>(n, x, y);
  dim3 one(1), many(T);
  block<float><<<one, many>>>(y, n, 1.5f);
  grid<<<8, T>>>(x, y, z, n);
  hipMemcpy(h, z, sizeof h, hipMemcpyDeviceToHost);
  double s = 0; for (int i = 0; i < n; ++i) s += h[i] * (i % 7);
  printf("%.3f\\n", s);
}
"""


def proposed(root: Path, program: str, kernel: str) -> Proposal:
    task = Bench(root, {"app.hip": program}).task(SPREAD, AccessKind.LOAD, MemorySpace.GLOBAL, kernel)
    line = next(n for n, text in enumerate(program.splitlines(), 1) if f" {kernel}(" in text)
    named = dataclasses.replace(task.finding.profile, kernel=Kernel(kernel, kernel, root / "app.hip", line))
    finding = dataclasses.replace(task.finding, profile=named)
    proposal = RuleRewriter(parser()).propose(dataclasses.replace(task, finding=finding), ())
    assert proposal is not None
    return proposal


def test_a_grid_shares_what_a_thread_a_block_or_a_few_blocks_did(tmp_path: Path) -> None:
    text = PROGRAM
    for kernel in ("serial", "block", "grid"):
        proposal = proposed(tmp_path / kernel, text, kernel)
        assert proposal.candidate is not None, proposal.declined
        (edit,) = proposal.candidate.edits
        text = edit.text
    # A counter of 32 bits could be taken past the largest number by the stride of the new grid.
    walk = "for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i]"
    assert walk in text
    assert "for (long long i = index; i < n; i += stride)" in text
    assert "unsigned long long tid = TID;" in text
    assert "c[tid] = t - b[(static_cast<unsigned>(tid) + 1) % n];" in text
    assert "serial<<<2432, 256>>>" in text
    assert "int index = blockIdx.x * blockDim.x + threadIdx.x;\n  const int stride = gridDim.x * blockDim.x;" in text
    assert "block<float><<<4864, many>>>" in text
    assert "grid<<<4864, T>>>" in text
    assert output(tmp_path / "a", {"app.hip": text}) == output(tmp_path / "b", {"app.hip": PROGRAM})


@pytest.mark.parametrize(
    ("mark", "old", "new", "reason"),
    [
        ("serial", "x[i] + y[i]", "x[n - 1 - i] + y[i]", "touches another element than the turn's own"),
        ("serial", "x[i] + y[i]", "x[i] + y[i - 1]", "reads another element of an array that the loop writes"),
        ("serial", "<<<1, 1>>>", "<<<1, 2>>>", "2 threads would each do the work of all"),
        ("serial", "void serial", "void __launch_bounds__(64) serial", "has bounds for its blocks"),
        ("serial", "  //@ serial", "  //@ serial\n  y[0] = 1;", "line 7 does something besides the one loop"),
        ("block", "dim3 one(1)", "dim3 one(2)", "2 blocks would each do the work of all"),
        ("block", "* f + 1", "* f + index", "line 12 uses index"),
        ("block", "* f + 1", "* f + threadIdx.x", "the kernel uses threadIdx.x by itself on line 12"),
        ("block", "i < n; i += stride", "i < n - blockIdx.x; i += stride", "the kernel uses blockIdx.x by itself"),
        ("grid", "float t = a[tid];", "float t = a[tid]; --n;", "is not the end of a thread's chunk"),
        ("grid", "<<<8, T>>>", '<<<atoi("8"), T>>>', "is not a constant"),
    ],
)
def test_a_walk_that_others_depend_on_stays(mark: str, old: str, new: str, reason: str, tmp_path: Path) -> None:
    assert old in PROGRAM
    proposal = proposed(tmp_path, PROGRAM.replace(old, new, 1), mark)
    assert proposal.declined is not None, proposal.candidate
    assert reason in proposal.declined.reason
