"""Numbers half-way between integers, where what is rounded is made of bytes, too."""

from __future__ import annotations

from pathlib import Path

from test_altered_launches import Variants

BYTES = """#include <hip/hip_runtime.h>
__global__ void quantise(const signed char* in, const float* scales, signed char* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int sum = 0;
  for (int k = 0; k < 16; ++k) sum += in[(i + k) % n];
  const float value = sum * scales[i];
  const float rounded = VARIANT ? roundf(value) : rintf(value);
  out[i] = static_cast<signed char>(fminf(fmaxf(rounded, -127.0f), 127.0f));
}
int main() {
  const int n = 128;
  signed char *in, *out, bytes[n];
  float *scales, host[n];
  for (int i = 0; i < n; ++i) bytes[i] = 100 + i % 20, host[i] = 0.3f;
  if (hipMalloc(&in, n) || hipMalloc(&out, n) || hipMalloc(&scales, sizeof host)) return 1;
  if (hipMemcpy(in, bytes, n, hipMemcpyHostToDevice)) return 2;
  if (hipMemcpy(scales, host, sizeof host, hipMemcpyHostToDevice)) return 2;
  quantise<<<2, 64>>>(in, scales, out, n);
  return hipDeviceSynchronize();
}
"""


def test_bytes_do_not_lift_halves_out_of_range(tmp_path: Path) -> None:
    assert "variant" in Variants(tmp_path, BYTES).altered(1, 3).divergences
