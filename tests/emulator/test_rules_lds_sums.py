"""Sums that all threads of a block add to elements of an array in LDS, collected in registers by rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from rulebench import Bench, output

from intelliperf.records import AccessKind

PROGRAM = """\
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void moments(const float* in, float* out, int n) {
  extern __shared__ float seen[];
  __shared__ unsigned counts[3];
  if (threadIdx.x == 0) { seen[0] = 0; seen[1] = 2; counts[0] = counts[1] = 0; counts[2] = 9; }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float v = in[blockIdx.x * n + i];
    atomicAdd(&seen[0], v);  //@ sum
    atomicAdd(&seen[1], v * v);  //@ sum
    if (v > 3) atomicMax(&counts[1], (unsigned)v);  //@ sum
  }
  __syncthreads();
  if (threadIdx.x < 2) out[blockIdx.x * 3 + threadIdx.x] = seen[threadIdx.x];
  if (threadIdx.x == 2) out[blockIdx.x * 3 + 2] = counts[1] + counts[2];
}
int main() {
  const int blocks = 5, n = 300;
  static float h[blocks * n], o[blocks * 3];
  for (int i = 0; i < blocks * n; ++i) h[i] = i * 7 % 13;
  float *d, *e;
  hipMalloc(&d, sizeof h); hipMalloc(&e, sizeof o);
  hipMemcpy(d, h, sizeof h, hipMemcpyHostToDevice);
  moments<<<blocks, 128, 8>>>(d, e, n);
  hipMemcpy(o, e, sizeof o, hipMemcpyDeviceToHost);
  for (float v : o) printf("%g ", v);
}
"""


def test_a_block_collects_what_goes_to_elements_of_lds(tmp_path: Path) -> None:
    text = Bench(tmp_path / "task", {"app.hip": PROGRAM}, block=(128, 1, 1)).rewritten(
        "block_reduce_atomics", AccessKind.ATOMIC, mark="sum"
    )["app.hip"]
    assert "block_part += v;" in text and "block_part_2 += v * v;" in text and "block_atomic_max(&counts[1]" in text
    assert output(tmp_path / "after", {"app.hip": text}) == output(tmp_path / "before", {"app.hip": PROGRAM})


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("float v = in", "float* p = seen; float v = p[0] + in", "is used through a pointer on line 9"),
        ("float v = in", "float v = seen[0] + in", "seen is also used on line 9"),
        ("float v = in", "float v = seen[i & 1] + in", "seen is also used on line 9"),
        ("&seen[0]", "&seen[i & 1]", "the address may differ between the threads"),
        ("__shared__ unsigned counts[3]", "extern __shared__ unsigned counts[]", "several names for its dynamic LDS"),
    ],
)
def test_elements_of_lds_that_others_may_see_stay_as_they_are(old: str, new: str, words: str, tmp_path: Path) -> None:
    assert old in PROGRAM
    text = PROGRAM.replace("&seen[0], v);  //@ sum", "&seen[0], v);  //@ first").replace(old, new)
    bench = Bench(tmp_path, {"app.hip": text}, block=(128, 1, 1))
    assert words in bench.declined("block_reduce_atomics", AccessKind.ATOMIC, mark="first")
