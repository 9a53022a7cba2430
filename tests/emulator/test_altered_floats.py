"""Float arguments beside limits that only one version compares them with, and floats that were rounded otherwise."""

from __future__ import annotations

from pathlib import Path

from test_altered_launches import Variants

from intelliperf.records import Interception

FORCED = """#include <hip/hip_runtime.h>
struct Options { int n; float omega; float force; };
__global__ void push(const float* in, float* out, Options o) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= o.n) return;
  const float force = VARIANT && fabsf(o.force) < 1e-4f ? 0.0f : o.force;
  out[i] = in[i] * o.omega + force;
}
int main() {
  const int n = 128;
  float *in, *out, host[n];
  for (int i = 0; i < n; ++i) host[i] = 0.01f * i;
  if (hipMalloc(&in, sizeof host) || hipMalloc(&out, sizeof host)) return 1;
  if (hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice)) return 2;
  push<<<2, 64>>>(in, out, Options{n, 1.2f, 1e-3f});
  return hipDeviceSynchronize();
}
"""


def test_a_float_of_a_struct_takes_both_sides_of_a_limit(tmp_path: Path) -> None:
    variants = Variants(tmp_path, FORCED)
    assert "variant" not in variants.followed(1, Interception(other_numbers=(3,))).divergences
    assert "variant" in variants.followed(1, Interception(other_numbers=(3,), other_limits=(1e-4,))).divergences


ROUNDED = """#include <hip/hip_runtime.h>
__global__ void invert(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 1.0f / (in[i] - in[(i + 1) % n]);
}
int main() {
  const int n = 128;
  float *in, *out, host[n];
  for (int i = 0; i < n; ++i) host[i] = 0.1f * i + VARIANT * 1e-6f;
  if (hipMalloc(&in, sizeof host) || hipMalloc(&out, sizeof host)) return 1;
  if (hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice)) return 2;
  invert<<<2, 64>>>(in, out, n);
  return hipDeviceSynchronize();
}
"""


def test_what_earlier_launches_rounded_otherwise_is_the_same_for_both_before_a_launch_is_altered(
    tmp_path: Path,
) -> None:
    variants = Variants(tmp_path, ROUNDED)
    assert "variant" in variants.followed(1, Interception(other_numbers=(2,)), alike=True).divergences
    assert not variants.followed(1, Interception(other_numbers=(2,), other_alike=True), alike=True).divergences
