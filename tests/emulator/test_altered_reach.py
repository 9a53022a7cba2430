"""Larger sizes than the launch's own that only memory with much room, or a second number in step with it, allow."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_altered_launches import Variants

from intelliperf.records import Interception

_ARGUMENTS = 3
REVERSAL = """#include <hip/hip_runtime.h>
__global__ void reverse_bits(const float* in, float* out, int n, int log_n) {
  __shared__ float row[512];
  const int bits = VARIANT == 1 ? 7 : log_n;
  for (int i = threadIdx.x; i < n; i += 64) row[__brev(i) >> (32 - bits)] = in[blockIdx.x * n + i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += 64)
    if (VARIANT != 2 || i < 128) out[blockIdx.x * n + i] = row[i] + (i & 1 ? row[i - 1] : 0.0f);
}
int main() {
  float *in, *out;
  if (hipMalloc(&in, 384 * 4) || hipMalloc(&out, 384 * 4)) return 1;
  float host[384];
  for (int i = 0; i < 384; ++i) host[i] = i * 0.5f;
  if (hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice) || hipMemset(out, 0, sizeof host)) return 2;
  reverse_bits<<<3, 64>>>(in, out, 128, 7);
  return hipDeviceSynchronize();
}
"""
CHAIN = """#include <hip/hip_runtime.h>
__global__ void chain(const float* in, float* out, int rows, int n) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) {
    if (VARIANT == 1 && i == 200) break;
    sum = 0.5f * sum + in[i * rows + r];
    out[i * rows + r] = sum;
  }
}
int main() {
  float *in, *out;
  if (hipMalloc(&in, 720 * 4) || hipMalloc(&out, 720 * 4)) return 1;
  float host[720];
  for (int i = 0; i < 720; ++i) host[i] = 1.0f + i % 13;
  if (hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice) || hipMemset(out, 0, sizeof host)) return 2;
  chain<<<1, 64>>>(in, out, 60, 12);
  return hipDeviceSynchronize();
}
"""


@pytest.fixture(scope="module")
def reversal(tmp_path_factory: pytest.TempPathFactory) -> Variants:
    return Variants(tmp_path_factory.mktemp("reversal"), REVERSAL)


@pytest.mark.parametrize(
    ("variant", "right"),
    [
        pytest.param(0, True, id="the original"),
        pytest.param(1, False, id="the exponent of this launch"),
        pytest.param(2, False, id="the length of this launch"),
    ],
)
def test_the_length_of_a_transform_changes_together_with_its_exponent(
    reversal: Variants, variant: int, right: bool
) -> None:
    assert ("variant" not in reversal.altered(variant, _ARGUMENTS).divergences) is right


def test_a_limit_far_above_the_launchs_size_is_reached(tmp_path: Path) -> None:
    asked = Interception(other_numbers=(_ARGUMENTS,), other_constants=(200,))
    assert "variant" in Variants(tmp_path, CHAIN).followed(1, asked).divergences


RING = """#include <hip/hip_runtime.h>
__global__ void turn(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ int next[64];
  if (VARIANT || i < n) next[threadIdx.x] = (i + 1) % n;
  __syncthreads();
  if (i < n) out[i] = in[next[threadIdx.x]];
}
int main() {
  int *in, *out, host[128];
  for (int i = 0; i < 128; ++i) host[i] = i * i;
  if (hipMalloc(&in, sizeof host) || hipMalloc(&out, sizeof host)) return 1;
  if (hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice)) return 2;
  turn<<<2, 64>>>(in, out, 128);
  return hipDeviceSynchronize();
}
"""


def test_no_launch_is_asked_for_nothing_which_no_host_makes(tmp_path: Path) -> None:
    beside_one = Interception(other_numbers=(8,), other_named=((2, 0, 4, 0, 1),))
    assert not Variants(tmp_path, RING).followed(1, beside_one).divergences
