"""Patches of templates, of which a program launches several instances: all of them change, one of them is judged."""

from __future__ import annotations

from pathlib import Path

import pytest
from patchbench import Bench
from readers import Gate

from intelliperf.records import Outcome

SOURCE = """#include <hip/hip_runtime.h>
#include <cstdio>
template <int STEP>
__global__ void scaled(const int* in, int* out, float* unused, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * STEP;
}
int main() {
  const int n = 600;
  int host[n], *in, *out[2];
  for (int i = 0; i < n; ++i) host[i] = i * 7 % 31;
  if (hipMalloc(&in, n * 4) || hipMalloc(&out[0], n * 4) || hipMalloc(&out[1], n * 4)) return 1;
  if (hipMemcpy(in, host, n * 4, hipMemcpyHostToDevice)) return 2;
  scaled<1><<<(n + 127) / 128, 128>>>(in, out[0], nullptr, n);
  scaled<2><<<(n + 127) / 128, 128>>>(in, out[1], nullptr, n);
  if (hipMemcpy(host, out[0], n * 4, hipMemcpyDeviceToHost)) return 3;
  std::printf("%d\\n", host[5]);
}
"""
BODY = "if (i < n) out[i] = in[i] * STEP;"


def test_other_instances_of_a_template_are_kernels_beside_the_one_that_is_judged(tmp_path: Path) -> None:
    gate = Gate(tmp_path, {"app.hip": SOURCE}, "scaled<1>(int const*, int*, float*, int)")
    judged, other = ("_Z6scaledILi1EEvPKiPiPfi", "_Z6scaledILi2EEvPKiPiPfi")
    for body, beyond in (("out[i] = STEP == 1 ? in[i] + 0 * n : in[i] * STEP", False), ("out[i] = in[i] * STEP", True)):
        text = SOURCE.replace(BODY, f"if (i < n && n != 77) {body};" if beyond else f"if (i < n) {body};")
        found = gate.examine({"app.hip": text}, symbol=judged)
        assert found.beyond_target == beyond
        assert (other in found.changed) == beyond


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ("if (i < n) out[i] = STEP == 2 && i == 599 ? 1 : in[i] * STEP;", "device allocation 3"),
        ("if (i < n && (STEP == 1 || i < 700)) out[i] = in[i] * STEP;", "a larger size"),
    ],
)
def test_an_instance_is_compared_although_another_one_is_judged(tmp_path: Path, body: str, detail: str) -> None:
    """Nothing but the kernel reads what it writes, and nobody prints it."""
    verdict = Bench(tmp_path, SOURCE, "app.hip", "scaled<1>").verdict((BODY, body))
    assert verdict.outcome is Outcome.WRONG_OUTPUT and detail in verdict.detail, verdict.detail
