"""Several atomics on one table, which get one copy per block by rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from rulebench import Bench, output

from intelliperf.records import AccessKind

PROGRAM = """\
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void collect(const float* x, const int* label, float* sums, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int l = label[i];
  atomicAdd(&sums[l * 2 + 0], x[i]);  //@ sums
  if (l > 1) atomicAdd(sums + 2 * l + 1, x[i] * 2);  //@ sums
  atomicAdd(&count[l], 1);
}
int main() {
  const int n = 3000, k = 700;
  static float h[n], s[2 * k];
  static int l[n], c[k];
  for (int i = 0; i < n; ++i) { h[i] = i % 5; l[i] = i % 9 ? i % 4 : i % k; }
  float *x, *sums; int *label, *count;
  hipMalloc(&x, sizeof h); hipMalloc(&sums, sizeof s); hipMalloc(&label, sizeof l); hipMalloc(&count, sizeof c);
  hipMemcpy(x, h, sizeof h, hipMemcpyHostToDevice); hipMemcpy(label, l, sizeof l, hipMemcpyHostToDevice);
  hipMemset(sums, 0, sizeof s); hipMemset(count, 0, sizeof c);
  collect<<<(n + 127) / 128, 128>>>(x, label, sums, count, n);
  hipMemcpy(s, sums, sizeof s, hipMemcpyDeviceToHost); hipMemcpy(c, count, sizeof c, hipMemcpyDeviceToHost);
  for (float v : s) printf("%g ", v);
  for (int v : c) printf("%d ", v);
}
"""


def test_atomics_on_one_table_share_its_copy(tmp_path: Path) -> None:
    text = Bench(tmp_path / "task", {"app.hip": PROGRAM}, block=(128, 1, 1)).rewritten(
        "privatize_atomics", AccessKind.ATOMIC, mark="sums"
    )["app.hip"]
    assert text.count("__shared__ float block_sums[") == 1
    assert "block_or_table(block_sums, sums, &sums[l * 2 + 0], x[i]);" in text
    assert "if (l > 1) block_or_table(block_sums, sums, sums + 2 * l + 1, x[i] * 2);" in text
    assert output(tmp_path / "after", {"app.hip": text}) == output(tmp_path / "before", {"app.hip": PROGRAM})


@pytest.mark.parametrize(
    "new",
    [
        "if (l > 1) sums[2 * l + 1] = 1;",
        "if (l > 1) atomicMax((int*)&sums[2 * l + 1], 2);",
        "if (atomicAdd(&sums[2 * l + 1], 1.0f) > 1) return;",
    ],
)
def test_a_table_that_is_used_otherwise_as_well_stays(new: str, tmp_path: Path) -> None:
    text = PROGRAM.replace("if (l > 1) atomicAdd(sums + 2 * l + 1, x[i] * 2);  //@ sums", new)
    assert text != PROGRAM
    bench = Bench(tmp_path, {"app.hip": text}, block=(128, 1, 1))
    assert "sums is also used on line 8" in bench.declined("privatize_atomics", AccessKind.ATOMIC, mark="sums")
