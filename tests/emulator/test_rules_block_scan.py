"""Running sums over a block by rule, run on the emulator before and after."""

from __future__ import annotations

from pathlib import Path

import pytest
from rulebench import Bench, output

from intelliperf.records import AccessKind, MemorySpace

PROGRAM = """\
#include <hip/hip_runtime.h>
#include <cstdio>
constexpr int kBlock = 128;
__global__ void offsets(const int* counts, int* starts, int* totals) {
  __shared__ int held[kBlock];
  int i = blockIdx.x * kBlock + threadIdx.x;
  held[threadIdx.x] = counts[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int k = 0; k < kBlock; ++k) {
      int count = held[k];  //@ a
      held[k] = sum;
      sum += count;
    }
    totals[blockIdx.x] = sum;
  }
  __syncthreads();
  starts[i] = held[threadIdx.x];
}
__global__ void inclusive(const float* in, float* out) {
  extern __shared__ float s[];
  const unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  if (!t)
    for (unsigned j = 1; j < blockDim.x; j++) s[j] += s[j - 1];  //@ b
  __syncthreads();
  out[blockIdx.x * blockDim.x + t] = s[t];
}
__global__ void two(const unsigned* flags, unsigned* where, unsigned* n) {
  __shared__ unsigned flag[128], place[128];
  int me = threadIdx.x;
  flag[me] = flags[blockIdx.x * 128 + me] & 1u;
  __syncthreads();
  if (me == 0) {
    unsigned total = 0u;
    for (int q = 0; q < 128; q++) {
      place[q] = total;  //@ c
      total += flag[q];
    }
    n[blockIdx.x] = total + place[127];
  }
  __syncthreads();
  where[blockIdx.x * 128 + me] = flag[me] ? place[me] : 999u;
}
__global__ void weights(const float* w, float* cdf) {
  __shared__ float p[128];
  const int x = threadIdx.x;
  p[x] = w[x + 128 * blockIdx.x];
  __syncthreads();
  if (x == 0) {
    float acc = 0.0f;
    for (int z = 0; z < 128; ++z) {
      acc = acc + p[z];  //@ d
      p[z] = acc;
    }
  }
  __syncthreads();
  cdf[x + 128 * blockIdx.x] = p[x] / p[127];
}
int main() {
  static int h[1024], o[1024]; static float f[1024];
  for (int i = 0; i < 1024; ++i) { h[i] = i * 37 % 50; f[i] = i * 7 % 16 + 1; }
  int *a, *b; float* c;
  hipMalloc(&a, 4096); hipMalloc(&b, 4096 * 2); hipMalloc(&c, 4096);
  hipMemcpy(a, h, 4096, hipMemcpyHostToDevice); hipMemset(b, 0, 4096 * 2);
  hipMemcpy(c, f, 4096, hipMemcpyHostToDevice);
  auto show = [&](int* p) {
    hipMemcpy(o, p, 4096, hipMemcpyDeviceToHost);
    long s = 0;
    for (int v : o) s = s * 31 + v;
    printf("%ld ", s);
  };
  offsets<<<8, kBlock>>>(a, b, b + 1024); show(b); show(b + 1024);
  two<<<8, 128>>>((unsigned*)a, (unsigned*)b, (unsigned*)b + 1024); show(b); show(b + 1024);
  inclusive<<<8, 128, 512>>>(c, (float*)b); show(b);
  weights<<<8, 128>>>(c, (float*)b); show(b);
}
"""


def test_scans_by_all_threads_leave_the_same_memory(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "a", {"app.hip": PROGRAM}, block=(128, 1, 1))

    changed = bench.rewritten("block_scan", AccessKind.CODE, MemorySpace.SHARED)["app.hip"]

    assert changed.count("= block_running_sum(") == 4
    assert "place[threadIdx.x] = running_sum_3 - own_element_3;\n  __syncthreads();" in changed
    assert output(tmp_path / "b", {"app.hip": changed}) == output(tmp_path / "a", bench.files)


@pytest.mark.parametrize(
    ("mark", "old", "new", "words"),
    [
        ("a", "int sum = 0;", "int sum = 1;", "sum does not begin with 0"),
        ("a", "sum += count;", "sum += 2 * count;", "more than to form running sums"),
        ("a", "  __syncthreads();\n  if (thr", "  if (thr", "no barrier stands right before"),
        (
            "a",
            "k < kBlock; ++k) {\n      int",
            "k < kBlock - 1; ++k) {\n      int",
            "does not end with the block's width",
        ),
        ("c", "total += flag[q];", "total += place[q];", "more than to form running sums"),
        ("c", "unsigned total = 0u;", "unsigned total = 0u; n[1] = place[0];", "uses place before the loop"),
        ("d", "acc = acc + p[z];  //@ d\n      p[z] = acc;", "p[z] = acc;  //@ d\n acc += p[z];", "more than to form"),
    ],
)
def test_scans_that_are_something_else_stay(mark: str, old: str, new: str, words: str, tmp_path: Path) -> None:
    text = PROGRAM.replace(old, new, 1)
    assert text != PROGRAM
    bench = Bench(tmp_path, {"app.hip": text}, block=(128, 1, 1))
    assert words in bench.declined("block_scan", AccessKind.CODE, MemorySpace.SHARED, mark)
