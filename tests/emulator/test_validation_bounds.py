"""What holds beside a bound but not at it, at one alignment only, or but for the signs of zeros."""

from __future__ import annotations

import pytest
from patchbench import Bench

from intelliperf.records import Outcome

pytestmark = pytest.mark.slow
SELECT = "    if (in[i] <= keep) out[i] = in[i];\n"
MOVE = "    moved[i] = halves[i];\n"
SOURCE = f"""#include <cstdio>
#include <vector>
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
__global__ void choose(const float* in, float* out, const __half* halves, __half* moved, int n, float keep) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int again = 0; again < 4; ++again) {{
{SELECT}{MOVE}  }}
}}
int main() {{
  const int n = 3000;
  std::vector<float> host(n + 8);
  std::vector<__half> narrow(n);
  for (int i = 0; i < n + 8; ++i) host[i] = 0.25f * ((i * 37) % 777 + 1) - 60;
  for (int i = 0; i < n; ++i) narrow[i] = __float2half(host[i]);
  float *in, *out;
  __half *halves, *moved;
  if (hipMalloc(&in, (n + 8) * 4) || hipMalloc(&out, (n + 8) * 4)) return 1;
  if (hipMalloc(&halves, n * 2) || hipMalloc(&moved, n * 2)) return 1;
  if (hipMemcpy(in, host.data(), (n + 8) * 4, hipMemcpyHostToDevice) || hipMemset(out, 0, (n + 8) * 4)) return 2;
  if (hipMemcpy(halves, narrow.data(), n * 2, hipMemcpyHostToDevice)) return 3;
  choose<<<(n + 127) / 128, 128>>>(in + 4, out + 4, halves, moved, n, 33.3f);
  if (hipMemcpy(host.data(), out, n * 4, hipMemcpyDeviceToHost)) return 4;
  double sum = 0;
  for (float v : host) sum += v;
  std::printf("%.1f\\n", sum);
}}
"""
ONCE = ("for (int again = 0; again < 4; ++again) {", "{")
FOUR = (
    "    if (i % 4 == 0 && i + 3 < n) {\n      const float4 v = *(const float4*)(in + i);\n"
    "      if (v.x <= keep) out[i] = v.x;\n      if (v.y <= keep) out[i + 1] = v.y;\n"
    "      if (v.z <= keep) out[i + 2] = v.z;\n      if (v.w <= keep) out[i + 3] = v.w;\n"
    "    } else if (i / 4 == n / 4 && in[i] <= keep) {\n      out[i] = in[i];\n    }\n"
)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bounds"), SOURCE, "app.hip")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("in[i] <= keep", "in[i] < keep"),
        (SELECT, FOUR),
        (MOVE, "    moved[i] = __float2half(__half2float(halves[i]) + 0.0f);\n"),
    ],
)
def test_what_is_wrong_at_a_bound_an_alignment_or_a_sign_is_refused(bench: Bench, old: str, new: str) -> None:
    verdict = bench.verdict(ONCE, (old, new))
    assert verdict.outcome in (Outcome.WRONG_OUTPUT, Outcome.MEMORY_ERROR), verdict.detail


def test_a_rewrite_that_is_right_at_bounds_and_alignments_passes(bench: Bench) -> None:
    verdict = bench.verdict(
        ONCE, ("if (in[i] <= keep) out[i] = in[i];", "const float v = in[i]; if (!(v > keep) && v == v) out[i] = v;")
    )
    assert verdict.outcome in (Outcome.ACCEPTED, Outcome.NOT_FASTER), verdict.detail
