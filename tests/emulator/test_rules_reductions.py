"""Reductions over a block rewritten by rule, run on the emulator before and after."""

from __future__ import annotations

from pathlib import Path

import pytest
from rulebench import Bench, output

from intelliperf.records import AccessKind, MemorySpace

CONTIGUOUS = "contiguous_reduction"
TREE = "tree_reduction"

PROGRAM = """
#include <hip/hip_runtime.h>
#include <cstdio>
constexpr int THREADS = 128;
__global__ void sums(const int* in, int* out, int n) {
  extern __shared__ int s[];
  const unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  s[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned k = 1; k < blockDim.x; k *= 2) {
    if (tid % (2 * k) == 0) s[tid] += s[tid + k];  //@ far
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = s[0];
}
__global__ void extremes(const int* in, int* out) {
  __shared__ int most[THREADS], least[THREADS];
  int t = threadIdx.x;
  most[t] = least[t] = in[blockIdx.x * THREADS + t];
  for (int step = 1; step < THREADS; step <<= 1) {
    __syncthreads();
    int at = 2 * step * t;
    if (at < THREADS && at + step < THREADS) {
      most[at] = max(most[at], most[at + step]);  //@ far
      if (least[at + step] < least[at]) least[at] = least[at + step];
    }
  }
  if (!t) { out[2 * blockIdx.x] = most[0]; out[2 * blockIdx.x + 1] = least[0]; }
}
__global__ void dot(const int* a, const int* b, int* out, int n) {
  __shared__ int cache[100];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  cache[threadIdx.x] = i < n ? a[i] * b[i] : 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int k = 0; k < blockDim.x; k++) {
      sum += cache[k];  //@ alone
    }
    atomicAdd(out, sum);
  }
}
__global__ void first(const int* a, int* out) {
  __shared__ int x[128];
  x[threadIdx.x] = a[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    int best = x[0];
    for (int k = 1; k < 128; ++k)
      if (x[k] > best) best = x[k];  //@ alone
    out[blockIdx.x] = best;
  }
}
__global__ void own(const int* a, int* out) {
  __shared__ int x[128];
  const int t = threadIdx.x;
  x[t] = a[blockIdx.x * 128 + t];
  __syncthreads();
  if (t < 1) for (int k = 1; k < 128; ++k) x[0] += x[k];  //@ alone
  if (t == 0) out[blockIdx.x] = x[0];
}
__global__ void mean(const int* a, int* out) {
  __shared__ int y[128];
  unsigned int lid = threadIdx.x;
  y[lid] = a[blockIdx.x * 128 + lid] * 3;
  __syncthreads();
  if (lid != 0) return;
  int all = 0;
  for (int k = 0; k < blockDim.x; ++k) all = all + y[k];  //@ alone
  out[blockIdx.x] = all / 128;
}
__global__ void range(const int* a, int* out) {
  __shared__ int lo[128], hi[128], many[128];
  const int id = threadIdx.x;
  lo[id] = hi[id] = many[id] = a[blockIdx.x * 128 + id];
  __syncthreads();
  if (id == 0) {
    int least = 1 << 20, most = -1000, all = 0;
    for (int m = 0; m < 128; ++m) {
      least = min(least, lo[m]);  //@ alone
      if (most < hi[m]) most = hi[m];
      all += many[m];
    }
    out[blockIdx.x] = most * 1000 - least + all;
  }
}
int main() {
  const int n = 1000;
  static int h[1024], o[64];
  for (int i = 0; i < 1024; ++i) h[i] = i * 37 % 211 - 90;
  int *a, *b;
  hipMalloc(&a, sizeof h); hipMalloc(&b, sizeof o);
  hipMemcpy(a, h, sizeof h, hipMemcpyHostToDevice); hipMemset(b, 0, sizeof o);
  sums<<<8, 128, 128 * sizeof(int)>>>(a, b, n);
  extremes<<<8, THREADS>>>(a, b + 8);
  dot<<<10, 100>>>(a, a + 7, b + 24, n);
  first<<<8, 128>>>(a, b + 25);
  own<<<8, 128>>>(a, b + 33);
  mean<<<8, 128>>>(a, b + 41);
  range<<<8, 128>>>(a, b + 49);
  hipMemcpy(o, b, sizeof o, hipMemcpyDeviceToHost);
  for (int v : o) printf("%d ", v);
}
"""


@pytest.mark.parametrize(("rule", "mark", "trees"), [(CONTIGUOUS, "far", 0), (TREE, "alone", 5)])
def test_reductions_by_more_threads_leave_the_same_memory(rule: str, mark: str, trees: int, tmp_path: Path) -> None:
    bench = Bench(tmp_path / "a", {"app.hip": PROGRAM}, block=(128, 1, 1))

    changed = bench.rewritten(rule, AccessKind.CODE, MemorySpace.SHARED, mark)["app.hip"]

    assert changed.count("> 1;) {") == trees
    assert ("k = blockDim.x / 2; k > 0; k /= 2" in changed) == (rule == CONTIGUOUS)
    assert ("step = THREADS / 2; step > 0; step /= 2" in changed) == (rule == CONTIGUOUS)
    assert output(tmp_path / "b", {"app.hip": changed}) == output(tmp_path / "a", bench.files)


@pytest.mark.parametrize(
    ("rule", "mark", "old", "new", "words"),
    [
        (CONTIGUOUS, "far", "in[i] : 0;", "in[i] : 0; if (i >= n) return;", "some threads leave the kernel"),
        (CONTIGUOUS, "far", "s[tid] += s[tid + k]", "s[tid] -= s[tid + k]", "does not join two elements"),
        (CONTIGUOUS, "far", "s[tid] += s[tid + k]", "s[tid] += s[tid + 2 * k]", "not a step apart"),
        (CONTIGUOUS, "far", "tid % (2 * k)", "tid % (3 * k)", "lets other threads work"),
        (CONTIGUOUS, "far", "out[blockIdx.x] = s[0];", "out[blockIdx.x] = s[1];", "more of s than its first"),
        (
            CONTIGUOUS,
            "far",
            "k < blockDim.x; k *= 2",
            "k < blockDim.x / 2; k *= 2",
            "does not end with the block's width",
        ),
        (CONTIGUOUS, "far", "k *= 2", "k *= 4", "not in a loop whose step doubles"),
        (CONTIGUOUS, "far", "<<<8, 128, 128 *", "<<<8, 96, 128 *", "ran with blocks of"),
        (TREE, "alone", "sum += cache[k];", "sum += cache[k] * k;", "does not join the elements of one array"),
        (TREE, "alone", "k < blockDim.x; k++", "k < n; k++", "ran with blocks of"),
        (TREE, "alone", "atomicAdd(out, sum);", "atomicAdd(out, sum + cache[1]);", "looks at cache, too"),
        (TREE, "alone", "__syncthreads();\n  if (thr", "if (thr", "no barrier stands right before"),
    ],
)
def test_reductions_that_need_their_order_stay(
    rule: str, mark: str, old: str, new: str, words: str, tmp_path: Path
) -> None:
    kernel = PROGRAM[PROGRAM.index("__global__ void " + ("sums" if rule == CONTIGUOUS else "dot")) :]
    text = PROGRAM.replace(kernel, kernel.replace(old, new, 1))
    assert text != PROGRAM
    other = {CONTIGUOUS: "most[at] = max(most[at], most[at + step]);  //@ far", TREE: "best = x[k];  //@ alone"}[rule]
    text = text.replace("all + y[k];  //@ alone", "all + y[k];").replace("lo[m]);  //@ alone", "lo[m]);")
    text = text.replace(other, other.partition("  //")[0]).replace("x[0] += x[k];  //@ alone", "x[0] += x[k];")
    bench = Bench(tmp_path, {"app.hip": text}, block=(128, 1, 1))
    assert words in bench.declined(rule, AccessKind.CODE, MemorySpace.SHARED, mark)
