"""What an expert would write must be accepted, also where it adds in another order, launches other blocks or fills a
list in another order; and what looks like it but knows its data must not."""

from __future__ import annotations

import pytest
from patchbench import Bench

from intelliperf.records import (
    CheckStatus,
    Declaration,
    Outcome,
)

Changes = list[tuple[str, str]]
ROW = """  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += in[row * columns + c] * gain;
  out[row] = sum;
"""
SUMS = f"""#include <cmath>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
__global__ void row_sums(float* out, const float* in, int rows, int columns, float gain) {{
{ROW}}}
int main() {{
  const int rows = 203, columns = 150;
  std::vector<float> host(rows * columns), sums(rows);
  for (int i = 0; i < rows * columns; ++i) host[i] = 0.1f + ((i * 7919) % 1000) * 0.013f;
  float *in, *out;
  cudaMalloc(&in, host.size() * 4);
  cudaMalloc(&out, rows * 4);
  cudaMemcpy(in, host.data(), host.size() * 4, cudaMemcpyHostToDevice);
  row_sums<<<(rows + 63) / 64, 64>>>(out, in, rows, columns, 0.5f);
  cudaMemcpy(sums.data(), out, rows * 4, cudaMemcpyDeviceToHost);
  double error = 0;
  for (int r = 0; r < rows; ++r) {{
    double sum = 0;
    for (int c = 0; c < columns; ++c) sum += 0.5 * host[r * columns + c];
    error = std::fmax(error, std::fabs(sum - sums[r]) / sum);
  }}
  std::printf("largest error %.3e %s\\n", error, error < 1e-5 ? "PASS" : "FAIL");
}}
"""
WARP = """  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = lane; c < columns; c += 32) sum += in[row * columns + c] * gain;
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (lane == 0) out[row] = sum;
"""
SUMS_LAUNCH = "row_sums<<<(rows + 63) / 64, 64>>>(out, in, rows, columns, 0.5f);"
PER_WARP: Changes = [(ROW, WARP), ("(rows + 63) / 64, 64", "(rows * 32 + 63) / 64, 64")]
ROUNDED = "__uint_as_float((__float_as_uint(in[row * columns + c]) + 0x1000u) & 0xffffe000u) * gain"
# In two kernels, with scratch memory.
SPLIT: Changes = [
    (ROW, WARP.replace("out[row] = sum", "part[row] = sum").replace("* gain", "")),
    ("float* out, const float* in, int rows, int columns, float gain)",
     "float* part, const float* in, int rows, int columns)"),
    ("int main() {", "__global__ void amplify(float* out, const float* part, int n, float gain) {\n"
     "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) out[i] = part[i] * gain;\n}\nint main() {"),
    (SUMS_LAUNCH, "float* part;\n  cudaMalloc(&part, rows * 4);\n"
     "  row_sums<<<(rows * 32 + 63) / 64, 64>>>(part, in, rows, columns);\n"
     "  amplify<<<(rows + 63) / 64, 64>>>(out, part, rows, 0.5f);\n  cudaFree(part);"),
]  # fmt: skip
APPEND = "if (atomicCAS(&level[to], -1, depth) == -1) next[atomicAdd(found, 1)] = to;"
SEARCH = f"""#include <cstdio>
#include <utility>
#include <vector>
#include <cuda_runtime.h>
__global__ void expand(const int* edges, const int* list, int count, int* next, int* found, int* level, int depth) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  for (int e = 0; e < 4; ++e) {{
    const int to = edges[list[i] * 4 + e];
    {APPEND}
  }}
}}
int main() {{
  const int n = 700;
  std::vector<int> edges(4 * n), level(n, -1);
  unsigned seed = 9;
  for (int& to : edges) to = ((seed = seed * 1664525u + 1013904223u) >> 9) % n;
  level[0] = 0;
  int *de, *df, *dn, *dl, *dc, count = 1;
  cudaMalloc(&de, 16 * n);
  cudaMalloc(&df, 4 * n);
  cudaMalloc(&dn, 4 * n);
  cudaMalloc(&dl, 4 * n);
  cudaMalloc(&dc, 4);
  cudaMemcpy(de, edges.data(), 16 * n, cudaMemcpyHostToDevice);
  cudaMemcpy(dl, level.data(), 4 * n, cudaMemcpyHostToDevice);
  cudaMemset(df, 0, 4 * n);
  cudaMemset(dn, 0, 4 * n);
  for (int depth = 1; count > 0; ++depth) {{
    cudaMemset(dc, 0, 4);
    expand<<<(count + 127) / 128, 128>>>(de, df, count, dn, dc, dl, depth);
    cudaMemcpy(&count, dc, 4, cudaMemcpyDeviceToHost);
    std::swap(df, dn);
  }}
  std::puts("done");
}}
"""


@pytest.fixture(scope="module")
def sums(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("sums"), SUMS, "app.cu")


GEOMETRY = Declaration(geometry=True, reason="a warp per row")
KERNELS = Declaration(geometry=True, kernels=True, reason="two passes")


@pytest.mark.slow
def test_a_sum_in_another_order_by_another_grid_is_accepted(sums):
    verdict = sums.verdict(*PER_WARP, declares=GEOMETRY)
    assert verdict.outcome is Outcome.ACCEPTED, verdict.detail
    (tolerance,) = (check for check in verdict.checks if check.name == "tolerance")
    assert "the same real numbers" in tolerance.detail
    (numbers,) = (check for check in verdict.checks if check.name == "other numbers")
    assert numbers.status is CheckStatus.PASSED
    (edit,) = (check for check in verdict.checks if check.name == "edit allowed")
    assert "launch sizes for other inputs" in edit.unseen  # a grid rounded down would have passed as well


CHEATS = {
    "a narrower type in disguise": (("in[row * columns + c] * gain", ROUNDED), "row 0"),
    "the number of columns is known beforehand": (("c < columns", "c < 150"), "another value of a scalar argument"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHEATS)
def test_what_knows_its_data_or_loses_digits_is_refused_with_another_grid_too(sums, name):
    (old, new), told = CHEATS[name]
    assert WARP.count(old) == 1
    verdict = sums.verdict((ROW, WARP.replace(old, new)), PER_WARP[1], declares=GEOMETRY)
    assert verdict.outcome is Outcome.WRONG_OUTPUT, verdict.detail
    assert told in verdict.detail or name == "a narrower type in disguise"


@pytest.mark.slow
@pytest.mark.parametrize("known", [False, True])
def test_other_kernels_are_run_on_other_copies(sums, known):
    read, guess = "sum += in[row * columns + c]", "sum += 0.1f + (((row * columns + c) * 7919) % 1000) * 0.013f"
    changes = [(old, new.replace(read, guess)) for old, new in SPLIT] if known else SPLIT
    verdict = sums.verdict(*changes, declares=KERNELS)
    if known:
        assert verdict.outcome is Outcome.WRONG_OUTPUT, verdict.detail
        assert "copies some other numbers to the device" in verdict.detail
    else:
        assert verdict.outcome in (Outcome.ACCEPTED, Outcome.NOT_FASTER), verdict.detail
        (numbers,) = (check for check in verdict.checks if check.name == "other numbers")
        assert numbers.status is CheckStatus.PASSED, numbers


@pytest.mark.slow
def test_a_list_that_was_longer_before_may_end_in_anything(tmp_path):
    verdict = Bench(tmp_path, SEARCH, "app.cu").verdict((APPEND, f"if (level[to] == -1)\n      {APPEND}"))
    assert verdict.outcome in (Outcome.ACCEPTED, Outcome.NOT_FASTER), verdict.detail
    (tolerance,) = (check for check in verdict.checks if check.name == "tolerance")
    assert "not compared after" in tolerance.detail
