"""Blocks with tables in LDS made fewer by rule: run on the emulator before and after."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from rulebench import Bench, output, parser

from intelliperf.codegen.rulebook import RuleRewriter
from intelliperf.protocols import Proposal
from intelliperf.records import AccessKind, Geometry, Kernel, MemorySpace

PROGRAM = """\
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void energies(const float* speed, const unsigned char* kind, float* sums, int count) {  //@ energies
  __shared__ float mine[4];
  if (threadIdx.x < 4) mine[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(&mine[kind[i]], 0.5f * speed[i] * speed[i]);
  __syncthreads();
  if (threadIdx.x < 4) atomicAdd(&sums[threadIdx.x], mine[threadIdx.x]);
}
__device__ int bin_of(unsigned char v) { return v / 2 % 8; }
__global__ void hist(const unsigned char* __restrict__ data, unsigned int* bins, const int N) {  //@ hist
  const int idx = threadIdx.x + blockIdx.x * blockDim.x;
  __shared__ unsigned int local[8], most;
  for (int b = threadIdx.x; b < 8; b += blockDim.x) local[b] = 0u;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  if (idx < N) {
    unsigned char v = data[idx];
    atomicAdd(local + bin_of(v), 1u);
    atomicMax(&most, (unsigned)v);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 8; b += blockDim.x)
    if (local[b] != 0) atomicAdd(&bins[b], local[b]);
  if (threadIdx.x == 0) atomicMax(bins + 8, most);
}
__global__ void crossed(const int* x, int* count, int n, int limit) {  //@ crossed
  __shared__ int passed;
  int t = threadIdx.x;
  if (t == 0) passed = 0;
  __syncthreads();
  int g = blockIdx.x * blockDim.x + t;
  if (g < n)
    if (x[g] > limit) atomicAdd(&passed, 1);
  __syncthreads();
  if (t == 0 && passed) atomicAdd(count, passed);
}
int main() {
  const int n = 30001;
  static float f[n]; static unsigned char k[n]; static int v[n];
  for (int i = 0; i < n; ++i) { f[i] = i % 8; k[i] = i * 7 % 4; v[i] = i * 37 % 101; }
  float *df, *sums; unsigned char* dk; int *dv, *c;
  hipMalloc(&df, sizeof f); hipMalloc(&dk, sizeof k); hipMalloc(&dv, sizeof v); hipMalloc(&sums, 64); hipMalloc(&c, 64);
  hipMemcpy(df, f, sizeof f, hipMemcpyHostToDevice); hipMemcpy(dk, k, sizeof k, hipMemcpyHostToDevice);
  hipMemcpy(dv, v, sizeof v, hipMemcpyHostToDevice); hipMemset(sums, 0, 64); hipMemset(c, 0, 64);
  energies<<<(n + 63) / 64, 64>>>(df, dk, sums, n);
  hist<<<(n + 64 - 1) / 64, 64>>>(dk, (unsigned*)c, n);
  crossed<<<dim3((n - 1) / 64 + 1), dim3(64)>>>(dv, c + 12, n, 50);
  float o[16]; int oc[16];
  hipMemcpy(o, sums, 64, hipMemcpyDeviceToHost); hipMemcpy(oc, c, 64, hipMemcpyDeviceToHost);
  for (int i = 0; i < 4; ++i) printf("%g ", o[i]);
  for (int i = 0; i < 16; ++i) printf("%d ", oc[i]);
}
"""


def propose(root: Path, text: str, kernel: str) -> Proposal:
    bench = Bench(root, {"app.hip": text}, block=(64, 1, 1))
    task = bench.task("fewer_tables", AccessKind.KERNEL, MemorySpace.GLOBAL, kernel)
    known = Kernel(kernel, kernel, root / "app.hip", task.evidence[0].line)
    profile = dataclasses.replace(
        task.finding.profile, kernel=known, geometries=(Geometry((1 << 20, 1, 1), (64, 1, 1)),)
    )
    units = dataclasses.replace(task.device.limits, compute_units=2)
    device = dataclasses.replace(task.device, limits=units)
    finding = dataclasses.replace(task.finding, profile=profile)
    proposal = RuleRewriter(parser()).propose(dataclasses.replace(task, finding=finding, device=device), ())
    assert proposal is not None
    return proposal


def test_fewer_blocks_with_tables_collect_the_same(tmp_path: Path) -> None:
    text = PROGRAM
    for kernel in ("energies", "hist", "crossed"):
        proposal = propose(tmp_path / kernel, text, kernel)
        assert proposal.candidate is not None, proposal.declined
        assert proposal.candidate.declares.geometry
        text = proposal.candidate.edits[0].text
    assert text.count("+= static_cast<long long>(gridDim.x)") == text.count(" < 16 ? ") == 3
    assert output(tmp_path / "after", {"app.hip": text}) == output(tmp_path / "before", {"app.hip": PROGRAM})


@pytest.mark.parametrize(
    ("kernel", "old", "new", "words"),
    [
        ("energies", "mine[threadIdx.x] = 0", "mine[threadIdx.x] = 1", "line 5 does not begin mine with 0"),
        ("energies", "atomicAdd(&sums[threadIdx.x]", "atomicMax(&sums[threadIdx.x]", "does not join what atomicAdd"),
        ("energies", "x], mine[threadIdx.x]", "x], 2 * mine[threadIdx.x]", "does not merely add mine"),
        (
            "energies",
            "if (i < count) ",
            "if (i < count / 2) ",
            "the limit of the elements on line 8 is not a parameter",
        ),
        ("energies", "0.5f * speed[i]", "0.5f * mine[0]", "reads what atomics change"),
        ("energies", "0.5f * speed[i]", "0.5f * blockIdx.x", "uses blockIdx.x other than for the element's number"),
        ("energies", "(n + 63) / 64", "n / 64", "the grid is not n divided by 64 and rounded up"),
        ("hist", "atomicMax(bins + 8, most)", "atomicAdd(bins + 9, 1), atomicMax(bins + 8, most)", "for each block"),
        ("hist", "unsigned char v = data[idx];", "unsigned char v = data[idx]; bins[9] = 1;", "stores to memory"),
        ("crossed", "&& passed", "&& passed > 20", "does not merely add passed to global memory"),
    ],
)
def test_blocks_stay_where_more_than_sums_depends_on_them(
    kernel: str, old: str, new: str, words: str, tmp_path: Path
) -> None:
    declined = propose(tmp_path, PROGRAM.replace(old, new, 1), kernel).declined
    assert declined is not None
    assert words in declined.reason
