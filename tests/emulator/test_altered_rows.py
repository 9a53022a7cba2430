"""Altered launches of kernels that look up rows: an index beyond a narrower type needs rows that are short enough."""

from __future__ import annotations

from pathlib import Path

from test_altered_launches import Variants

from intelliperf.records import Interception

ROWS = """#include <hip/hip_runtime.h>
__global__ void rows(const int* table, const int* indices, int* out, int columns) {
  const int row = VARIANT ? (short)indices[blockIdx.x] : indices[blockIdx.x];
  for (int c = threadIdx.x; c < columns; c += blockDim.x) out[blockIdx.x * columns + c] = table[row * columns + c];
}
int main() {
  const int count = 40, columns = 48, asked = 20;
  int host[count * columns], *table, *indices, *out;
  for (int i = 0; i < count * columns; ++i) host[i] = i * 7919 % 1009;
  if (hipMalloc(&table, sizeof host) || hipMalloc(&indices, asked * 4)) return 1;
  if (hipMalloc(&out, asked * columns * 4)) return 2;
  hipMemcpy(table, host, sizeof host, hipMemcpyHostToDevice);
  for (int i = 0; i < asked; ++i) host[i] = i * 37 % count;
  hipMemcpy(indices, host, asked * 4, hipMemcpyHostToDevice);
  hipMemset(out, 0, asked * columns * 4);
  rows<<<asked, 64>>>(table, indices, out, columns);
  return hipDeviceSynchronize();
}
"""


def test_an_index_of_rows_is_beyond_a_short_where_rows_are_shorter(tmp_path: Path) -> None:
    variants = Variants(tmp_path, ROWS, {})
    wide = Interception(other_numbers=(6,), other_widths=(16,))
    assert "variant" in variants.followed(1, wide).divergences
    assert not variants.followed(0, wide).divergences
