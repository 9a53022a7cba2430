"""What no run of the program shows: values one beyond its own, doubles that no float holds, and NaN that counts."""

from __future__ import annotations

import pytest
from patchbench import Bench

from intelliperf.records import Outcome

COPIES = "for (int k = 0; k < counts[i]; ++k) index[ends[i] - counts[i] + k + 2] = i;"
ROOT = "roots[i] = sqrt(squares[i]);"
MASKED = "for (int j = 0; j < n; ++j) sum += (j <= i ? 1.0f : 0.0f) * values[j];"
LARGEST = "for (int j = 0; j < 8; ++j) most = !(values[(i + j) % n] <= most) ? values[(i + j) % n] : most;"
SHADE = "for (int k = 0; k < 6; ++k) { through *= 1.0f - alphas[(i + k) % n]; shade += through; }"
SOURCE = f"""#include <cstdio>
#include <vector>
#include <hip/hip_runtime.h>
__global__ void gather(int* index, double* roots, float* sums, float* largest, float* shades, const int* counts,
                       const int* ends, const double* squares, const float* values, const float* alphas, int n) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  {COPIES}
  {ROOT}
  float sum = 0.0f, most = 0.0f;
  {MASKED}
  {LARGEST}
  float through = 1.0f, shade = 0.0f;
  {SHADE}
  shades[i] = shade;
  sums[i] = sum;
  largest[i] = most;
}}
template <class T> T* device(const std::vector<T>& host) {{
  T* at = nullptr;
  if (hipMalloc(&at, host.size() * sizeof(T))) return nullptr;
  return hipMemcpy(at, host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice) ? nullptr : at;
}}
int main() {{
  const int n = 320;
  std::vector<int> counts(n), ends(n);
  std::vector<double> squares(n);
  std::vector<float> values(n), alphas(n), sums(n);
  int total = 0;
  for (int i = 0; i < n; ++i) {{
    counts[i] = i * 7 % 3;
    ends[i] = total += counts[i];
    squares[i] = 0.5 + i;
    values[i] = 0.25f * (i * 37 % 97 + 1);
    alphas[i] = 0.01f * (i * 11 % 60 + 1);
  }}
  float* out = device(sums);
  gather<<<n / 64, 64>>>(device(std::vector<int>(total + 2)), device(squares), out, device(values), device(sums),
                         device(counts), device(ends), device(squares), device(values), device(alphas), n);
  if (hipMemcpy(sums.data(), out, n * sizeof(float), hipMemcpyDeviceToHost)) return 1;
  std::printf("%.2f\\n", sums[n - 1]);
}}
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("rare"), SOURCE, "app.hip")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            COPIES,
            "const int c = counts[i], at = ends[i] - c + 2; if (c > 0) index[at] = i; if (c > 1) index[at + 1] = i;",
            "a few integers one more: index",
        ),
        (
            ROOT,
            "double r = sqrtf(squares[i]); r = 0.5 * (r + squares[i] / r); roots[i] = 0.5 * (r + squares[i] / r);",
            "some numbers large: roots",
        ),
        (
            MASKED,
            "for (int j = 0, empty = 0; j < n && empty < 64; ++j) "
            "{ sum += (j <= i ? 1.0f : 0.0f) * values[j]; empty = values[j] == 0 ? empty + 1 : 0; }",
            "nothing at first: sums",
        ),
        (
            SHADE,
            SHADE.replace("shade += through;", "shade += through; if (through < 0x1p-10f) break;"),
            "some numbers large: shades",
        ),
        (LARGEST, "for (int j = 0; j < 8; ++j) most = fmaxf(most, values[(i + j) % n]);", "NaN"),
    ],
    ids=["at most two", "a float's range", "an early exit", "a threshold", "NaN lost"],
)
def test_what_holds_for_the_usual_numbers_only_is_refused(bench: Bench, old: str, new: str, told: str) -> None:
    verdict = bench.verdict((old, new))
    assert verdict.outcome is Outcome.WRONG_OUTPUT, verdict.detail
    assert told in verdict.detail


@pytest.mark.slow
def test_what_is_masked_need_not_be_multiplied_by_zero(bench: Bench) -> None:
    verdict = bench.verdict(("j < n; ++j) sum", "j <= i; ++j) sum"))
    assert verdict.outcome in (Outcome.ACCEPTED, Outcome.NOT_FASTER), verdict.detail  # right, however fast
