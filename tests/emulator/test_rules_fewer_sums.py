"""Blocks that add up one value of each thread made fewer by rule: run on the emulator before and after."""

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
typedef float real;
__global__ void reduce(const real* x, real* y, const int N) {  //@ reduce
  const int tid = threadIdx.x;
  const int bid = blockIdx.x;
  const int n = bid * blockDim.x + tid;
  extern __shared__ real s_y[];
  s_y[tid] = (n < N) ? x[n] : 0.0;
  __syncthreads();
  for (int offset = blockDim.x >> 1; offset > 0; offset >>= 1) {
    if (tid < offset) s_y[tid] += s_y[tid + offset];
    __syncthreads();
  }
  if (tid == 0) {
    atomicAdd(y, s_y[0]);
  }
}
__global__ void dot(const double* a, const double* b, double* out, int n) {  //@ dot
  __shared__ double sums[2];
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  int t = threadIdx.x;
  double v = i < n ? a[i] * b[i] : 0;
  for (int o = 16; o > 0; o /= 2) v += __shfl_down(v, o, 32);
  if (t % 32 == 0) sums[t / 32] = v;
  __syncthreads();
  if (t == 0) {
    double total = 0;
    for (int k = 0; k < 2; ++k) total += sums[k];
    atomicAdd(out, total);
  }
}
__global__ void count(const int* x, int* c, int n, int above) {  //@ count
  __shared__ int s[64];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g < n)
    s[threadIdx.x] = x[g] > above;
  else
    s[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 1; k < blockDim.x; k *= 2) {
    if (threadIdx.x % (2 * k) == 0) s[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(&c[1], s[0]);
}
int main() {
  const int n = 30001;
  static float f[n]; static double d[n]; static int v[n];
  for (int i = 0; i < n; ++i) { f[i] = i % 8; d[i] = i * 7 % 4; v[i] = i * 37 % 101; }
  float *df, *sum; double *dd, *dot_; int *dv, *c;
  hipMalloc(&df, sizeof f); hipMalloc(&dd, sizeof d); hipMalloc(&dv, sizeof v);
  hipMalloc(&sum, 4); hipMalloc(&dot_, 8); hipMalloc(&c, 8);
  hipMemcpy(df, f, sizeof f, hipMemcpyHostToDevice); hipMemcpy(dd, d, sizeof d, hipMemcpyHostToDevice);
  hipMemcpy(dv, v, sizeof v, hipMemcpyHostToDevice);
  hipMemset(sum, 0, 4); hipMemset(dot_, 0, 8); hipMemset(c, 0, 8);
  reduce<<<(n + 63) / 64, 64, 64 * sizeof(real)>>>(df, sum, n);
  dim3 threads(64), blocks((n + threads.x - 1) / threads.x);
  dot<<<blocks, threads>>>(dd, dd, dot_, n);
  const int many = (n - 1) / 64 + 1;
  dim3 grid(many, 1, 1);
  count<<<grid, 64>>>(dv, c, n, 50);
  float o; double p; int q;
  hipMemcpy(&o, sum, 4, hipMemcpyDeviceToHost); hipMemcpy(&p, dot_, 8, hipMemcpyDeviceToHost);
  hipMemcpy(&q, c + 1, 4, hipMemcpyDeviceToHost);
  printf("%g %g %d\\n", o, p, q);
}
"""


def propose(root: Path, text: str, kernel: str) -> Proposal:
    bench = Bench(root, {"app.hip": text}, block=(64, 1, 1))
    task = bench.task("fewer_sums", AccessKind.KERNEL, MemorySpace.GLOBAL, kernel)
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


def test_fewer_blocks_add_up_the_same(tmp_path: Path) -> None:
    text = PROGRAM
    for kernel in ("reduce", "dot", "count"):
        proposal = propose(tmp_path / kernel, text, kernel)
        assert proposal.candidate is not None, proposal.declined
        assert proposal.candidate.declares.geometry
        text = proposal.candidate.edits[0].text
    assert text.count("+= static_cast<long long>(gridDim.x)") == text.count(" < 16 ? ") == 3
    assert "dot<<<dim3(blocks.x < 16 ? blocks.x : 16, blocks.y, blocks.z), threads>>>" in text
    assert "s_y[tid] = thread_part;" in text and "double v = thread_part_2;" in text
    assert output(tmp_path / "after", {"app.hip": text}) == output(tmp_path / "before", {"app.hip": PROGRAM})


@pytest.mark.parametrize(
    ("kernel", "old", "new", "words"),
    [
        ("reduce", "atomicAdd(y, s_y[0]);", "atomicAdd(y, s_y[0] * s_y[0]);", "does more with what"),
        ("reduce", "atomicAdd(y, s_y[0]);", "atomicAdd(y, s_y[0]); y[1] = bid;", "uses the block's number"),
        ("reduce", "if (tid == 0) {", "if (tid == 0 && s_y[0] > 1) {", "depends on what the block's threads have"),
        ("reduce", "s_y[tid] += s_y[tid + offset]", "s_y[tid] += 1", "does more with what"),
        ("reduce", "x[n] : 0.0", "x[n] + y[0] : 0.0", "may read what the kernel writes"),
        ("reduce", "x[n] : 0.0", "x[n] : 1.0", "no statement gives a thread its element's value"),
        ("reduce", "  extern", "  if (tid > 7) return;\n  extern", "threads leave on line 8"),
        ("dot", "double total = 0", "int total = 0", "line 30 converts int to double"),
        ("dot", "i < n ?", "i < n / 2 ?", "is not a parameter"),
        ("dot", "sums[t / 32] = v", "out[t] = v", "stores what the block's threads have elsewhere"),
        ("count", "many = (n - 1) / 64 + 1", "many = n / 64", "the grid is not n divided by 64 and rounded up"),
    ],
)
def test_blocks_stay_where_they_do_more_than_to_add_up(
    kernel: str, old: str, new: str, words: str, tmp_path: Path
) -> None:
    assert old in PROGRAM
    declined = propose(tmp_path, PROGRAM.replace(old, new), kernel).declined
    assert declined is not None and words in declined.reason
