"""What holds for the sizes and signs of one command only: guards and tails that are dropped, signs that are assumed."""

from __future__ import annotations

from pathlib import Path

import pytest
from patchbench import Bench

from intelliperf.records import Declaration, Outcome

BODY = """  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < terms; ++k) sum += weights[k] * fabsf(in[i < n ? (i * 8 + k) % 4096 : 0]);
  if (i < n) out[i] = sum;
"""
SOURCE = f"""#include <cstdio>
#include <vector>
#include <hip/hip_runtime.h>
__global__ void filter(float* out, const float* in, const float* weights, int n, int terms) {{
{BODY}}}
int main() {{
  const int n = 4096, terms = 12;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = 0.25f * ((i * 37) % 777 + 1);
  float *in, *out, *weights;
  if (hipMalloc(&in, n * 4) || hipMalloc(&out, n * 4) || hipMalloc(&weights, terms * 4)) return 1;
  if (hipMemcpy(in, host.data(), n * 4, hipMemcpyHostToDevice) || hipMemset(out, 0, n * 4)) return 2;
  if (hipMemcpy(weights, host.data() + 5, terms * 4, hipMemcpyHostToDevice)) return 3;
  filter<<<n / 128, 128>>>(out, in, weights, n, terms);
  if (hipMemcpy(host.data(), out, n * 4, hipMemcpyDeviceToHost)) return 4;
  double sum = 0;
  for (float v : host) sum += v;
  std::printf("%.1f\\n", sum);
}}
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("sizes"), SOURCE, "app.hip")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if (i < n) out[i] = sum;", "out[i] = sum;"),
        ("for (int k = 0; k < terms; ++k)", "for (int k = 0; k + 3 < terms + 3 - terms % 4; ++k)"),
        ("fabsf(in[i < n ? (i * 8 + k) % 4096 : 0])", "in[i < n ? (i * 8 + k) % 4096 : 0]"),
    ],
)  # fmt: skip
def test_what_holds_for_the_commands_sizes_and_signs_only_is_refused(bench: Bench, old: str, new: str) -> None:
    verdict = bench.verdict((old, new))
    assert verdict.outcome is Outcome.WRONG_OUTPUT, verdict.detail
    assert "scalar argument" in verdict.detail or "some of the numbers" in verdict.detail


def test_a_right_rewrite_passes_other_sizes_and_signs(bench: Bench) -> None:
    term = "sum += weights[k + {}] * fabsf(in[i < n ? (i * 8 + k + {}) % 4096 : 0]);"
    pair = f"{term.replace('{}', '0')} {term.replace('{}', '1')}"
    unrolled = f"int k = 0;\n  for (; k + 1 < terms; k += 2) {{ {pair} }}\n  for (; k < terms; ++k)"
    verdict = bench.verdict(("for (int k = 0; k < terms; ++k)", unrolled))
    assert verdict.outcome in (Outcome.ACCEPTED, Outcome.NOT_FASTER), verdict.detail
    (numbers,) = (check for check in verdict.checks if check.name == "other numbers")
    assert "raised" in numbers.detail and "negated" in numbers.detail


HASH = """#include <cstdint>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
__global__ void hash_rows(const unsigned char* data, int rows, int width, uint32_t base, uint32_t* out) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  uint64_t h = 17;
  for (int i = 0; i < width; ++i) h = (h * base + data[r * width + i]) % 2147483647u;
  out[r] = uint32_t(h);
}
int main() {
  const int rows = 1000, width = 24;
  std::vector<unsigned char> host(rows * width);
  for (size_t i = 0; i < host.size(); ++i) host[i] = (unsigned char)(1 + i * i * 31 % 200);
  unsigned char* data;
  uint32_t* out;
  std::vector<uint32_t> hashes(rows);
  cudaMalloc(&data, host.size());
  cudaMalloc(&out, rows * 4);
  cudaMemcpy(data, host.data(), host.size(), cudaMemcpyHostToDevice);
  hash_rows<<<(rows + 63) / 64, 64>>>(data, rows, width, 1000003u, out);
  cudaMemcpy(hashes.data(), out, rows * 4, cudaMemcpyDeviceToHost);
  uint64_t sum = 0;
  for (uint32_t v : hashes) sum += v;
  std::printf("%llu\\n", (unsigned long long)sum);
}
"""
REMAINDER = "h = (h * base + data[r * width + i]) % 2147483647u;"
FOLDED = """{ h = h * base + data[r * width + i]; h = (h & 2147483647u) + (h >> 31);
    h = (h & 2147483647u) + (h >> 31);%s }"""


@pytest.mark.slow
@pytest.mark.parametrize(("last", "right"), [("", False), (" h = h >= 2147483647u ? h - 2147483647u : h;", True)])
def test_a_number_that_is_only_calculated_with_takes_its_largest_values(tmp_path, last: str, right: bool) -> None:
    verdict = Bench(tmp_path, HASH, "app.cu").verdict((REMAINDER, FOLDED % last))
    assert (verdict.outcome is not Outcome.WRONG_OUTPUT) is right, verdict.detail


STRUCT = """#include <cstdio>
#include <vector>
#include <hip/hip_runtime.h>
struct Shape { int n; int pitch; float gain; int mode; };
__constant__ int reach;
__constant__ float taps[8];
__global__ void blur(float* out, const float* in, const int* keys, Shape s) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  float sum = 0.0f;
  for (int k = 0; k < reach; ++k) sum += taps[k] * in[i * s.pitch + k];
  if (s.mode == 1) sum = -sum;
  if (keys[i] >= 0) sum = fmaxf(sum, 0.25f);
  out[i] = sum * s.gain;
}
int main() {
  const int n = 2048, pitch = 2, width = 5;
  std::vector<float> host(n * pitch + 8), weights(8, 0.2f);
  std::vector<int> keys(n);
  for (size_t i = 0; i < host.size(); ++i) host[i] = 0.5f + 0.01f * (i % 97);
  for (int i = 0; i < n; ++i) keys[i] = i % 5;
  float *in, *out;
  int* list;
  if (hipMalloc(&in, host.size() * 4) || hipMalloc(&out, n * 4) || hipMalloc(&list, n * 4)) return 1;
  if (hipMemcpy(in, host.data(), host.size() * 4, hipMemcpyHostToDevice)) return 2;
  if (hipMemcpy(list, keys.data(), n * 4, hipMemcpyHostToDevice)) return 2;
  if (hipMemcpyToSymbol(taps, weights.data(), 32) || hipMemcpyToSymbol(reach, &width, 4)) return 3;
  blur<<<(n + 127) / 128, 128>>>(out, in, list, Shape{n, pitch, 1.5f, 0});
  if (hipMemcpy(host.data(), out, n * 4, hipMemcpyDeviceToHost)) return 4;
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += host[i];
  std::printf("%.2f\\n", sum);
}
"""


@pytest.fixture(scope="module")
def shaped(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("shaped"), STRUCT, "app.hip")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        pytest.param("if (s.mode == 1) sum = -sum;", "", "scalar argument", marks=pytest.mark.slow),
        pytest.param("k < reach", "k < 5", "some of the numbers are others", marks=pytest.mark.slow),
        ("if (keys[i] >= 0) ", "", "integers out of their range"),
    ],
)
def test_members_constants_and_the_range_of_keys_cannot_be_baked_in(
    shaped: Bench, old: str, new: str, told: str
) -> None:
    verdict = shaped.verdict((old, new))
    assert verdict.outcome is Outcome.WRONG_OUTPUT and told in verdict.detail, verdict.detail


@pytest.mark.slow
def test_a_right_rewrite_passes_other_members_constants_and_data(shaped: Bench) -> None:
    verdict = shaped.verdict(
        ("in[i * s.pitch + k]", "start[k]"),
        ("float sum = 0.0f;", "float sum = 0.0f; const float* start = in + i * s.pitch;"),
    )
    assert verdict.outcome in (Outcome.ACCEPTED, Outcome.NOT_FASTER), verdict.detail


BYTES = """#include <cstdio>
#include <vector>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
__global__ void weigh(const unsigned char* text, const __half* weight, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned char c = text[i];
  float w = __half2float(weight[i]);
  if (w < 0.0f) w = 0.0f;
  out[i] = c >= 9 && c <= 13 ? 0.0f : c > 250 ? -w : w;
}
int main() {
  const int n = 1000;
  std::vector<unsigned char> host(n);
  std::vector<__half> weights(n);
  for (int i = 0; i < n; ++i) host[i] = 32 + i % 90, weights[i] = __float2half(0.5f + 0.01f * (i % 50));
  unsigned char* text;
  __half* weight;
  float* out;
  if (hipMalloc(&text, n) || hipMalloc(&weight, 2 * n) || hipMalloc(&out, 4 * n)) return 1;
  if (hipMemcpy(text, host.data(), n, hipMemcpyHostToDevice)) return 2;
  if (hipMemcpy(weight, weights.data(), 2 * n, hipMemcpyHostToDevice)) return 2;
  weigh<<<(n + 127) / 128, 128>>>(text, weight, out, n);
  std::vector<float> found(n);
  if (hipMemcpy(found.data(), out, 4 * n, hipMemcpyDeviceToHost)) return 3;
  std::printf("%.3f\\n", found[7]);
}
"""


@pytest.fixture(scope="module")
def bytewise(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bytes"), BYTES, "app.hip")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [("c >= 9 &&", "c >= 10 &&"), (": c > 250 ? -w : w", ": w")],
)
def test_bytes_of_all_values_are_tried(bytewise: Bench, old: str, new: str) -> None:
    verdict = bytewise.verdict((old, new))
    assert verdict.outcome is Outcome.WRONG_OUTPUT, verdict.detail


QUANTISED = """#include <cstdint>
#include <cstdio>
#include <vector>
#include <hip/hip_runtime.h>
__global__ void quantise(const float* in, int8_t* out, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float top = 0;
  for (int c = 0; c < columns; ++c) top = fmaxf(top, fabsf(in[row * columns + c]));
  const float scale = top > 0 ? top / 127.0f : 1.0f;
  for (int c = 0; c < columns; ++c) out[row * columns + c] = int8_t(rintf(in[row * columns + c] / scale));
}
int main() {
  const int rows = 200, columns = 160;
  std::vector<float> host(rows * columns);
  std::vector<int8_t> bytes(rows * columns);
  for (size_t i = 0; i < host.size(); ++i) host[i] = 0.37f * (float(i * 31 % 997) - 400);
  float* in;
  int8_t* out;
  (void)hipMalloc(&in, host.size() * 4), (void)hipMalloc(&out, bytes.size());
  (void)hipMemcpy(in, host.data(), host.size() * 4, hipMemcpyHostToDevice);
  quantise<<<(rows + 63) / 64, 64>>>(in, out, rows, columns);
  (void)hipMemcpy(bytes.data(), out, bytes.size(), hipMemcpyDeviceToHost);
  long sum = 0;
  for (int8_t v : bytes) sum += v;
  std::printf("%ld\\n", sum);
}
"""


@pytest.mark.slow
def test_ties_of_a_quotient_by_the_rows_own_maximum_are_rounded_as_before(tmp_path) -> None:
    verdict = Bench(tmp_path, QUANTISED, "app.hip").verdict(("int8_t(rintf(", "int8_t(roundf("))
    assert verdict.outcome is Outcome.WRONG_OUTPUT, verdict.detail


SPLIT = """#include <cstdio>
#include <vector>
#include <hip/hip_runtime.h>
__global__ void row_sums(int* out, const int* in, int n, int parts) {
  const int first = blockIdx.y * 64 + threadIdx.x, step = parts * 64;
  int sum = 0;
  for (int k = first; k < n; k += step) sum += in[blockIdx.x * n + k];
  atomicAdd(&out[blockIdx.x], sum);
}
int main() {
  const int rows = 24, n = 1500, parts = 3;
  std::vector<int> host(rows * n);
  for (int i = 0; i < rows * n; ++i) host[i] = i * 37 % 101;
  int *in, *out;
  if (hipMalloc(&in, rows * n * 4) || hipMalloc(&out, rows * 4) || hipMemset(out, 0, rows * 4)) return 1;
  if (hipMemcpy(in, host.data(), rows * n * 4, hipMemcpyHostToDevice)) return 2;
  row_sums<<<dim3(rows, parts), 64>>>(out, in, n, parts);
  if (hipMemcpy(host.data(), out, rows * 4, hipMemcpyDeviceToHost)) return 3;
  for (int r = 0; r < rows; ++r) std::printf("%d\\n", host[r]);
}
"""


@pytest.mark.slow
def test_the_grid_goes_with_the_few_parts_that_work_is_split_into(tmp_path) -> None:  # type: ignore[no-untyped-def]
    bench = Bench(tmp_path, SPLIT, "app.hip")
    loop = "for (int k = first; k < n; k += step)"
    own = "const int each = (n + parts - 1) / parts, end = min(n, int(blockIdx.y + 1) * each);\n"
    verdict = bench.verdict((loop, f"{own}  for (int k = blockIdx.y * each + threadIdx.x; k < end; k += 64)"))
    assert verdict.outcome in (Outcome.ACCEPTED, Outcome.NOT_FASTER), verdict.detail
    verdict = bench.verdict((loop, loop.replace("step", "3 * 64 + 0 * step")))
    assert verdict.outcome is Outcome.WRONG_OUTPUT and "scalar argument" in verdict.detail, verdict.detail


PLANES = """#include <cstdio>
#include <vector>
#include <hip/hip_runtime.h>
__global__ void sums(float* out, const float* in, int batch, int channels, int plane) {
  float sum = 0.0f;
  for (int n = 0; n < batch; ++n)
    for (int p = threadIdx.x; p < plane; p += blockDim.x) sum += in[(n * channels + blockIdx.x) * plane + p];
  atomicAdd(&out[blockIdx.x], sum);
}
int main() {
  const int batch = 6, channels = 9, plane = 150, total = batch * channels * plane;
  std::vector<float> host(total);
  for (int i = 0; i < total; ++i) host[i] = 0.25f * ((i * 37) % 777 + 1);
  float *in, *out;
  if (hipMalloc(&in, total * 4) || hipMalloc(&out, channels * 4)) return 1;
  if (hipMemcpy(in, host.data(), total * 4, hipMemcpyHostToDevice) || hipMemset(out, 0, channels * 4)) return 2;
  sums<<<channels, 128>>>(out, in, batch, channels, plane);
  if (hipMemcpy(host.data(), out, channels * 4, hipMemcpyDeviceToHost)) return 3;
  std::printf("%.1f\\n", host[channels - 1]);
}
"""


def test_a_size_is_raised_further_beside_another_that_is_one(tmp_path: Path) -> None:
    bench = Bench(tmp_path, PLANES, "app.hip")
    few = "for (int p = threadIdx.x, turn = 0; turn < 4 && p < plane; p += blockDim.x, ++turn) sum +="
    verdict = bench.verdict(("for (int p = threadIdx.x; p < plane; p += blockDim.x) sum +=", few))
    assert verdict.outcome is Outcome.WRONG_OUTPUT, verdict.detail


FEW_ROWS = """#include <cstdio>
#include <vector>
#include <hip/hip_runtime.h>
__global__ void sums(const float* in, float* out, int columns, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int c = 0; c < columns; ++c) sum += in[row * columns + c];
  out[row] = sum;
}
int main() {
  const int rows = 64, columns = 4096;
  std::vector<float> host(rows * columns);
  for (int i = 0; i < rows * columns; ++i) host[i] = i % 13 * 0.5f;
  float *in, *out;
  if (hipMalloc(&in, host.size() * 4) || hipMalloc(&out, rows * 4)) return 1;
  if (hipMemcpy(in, host.data(), host.size() * 4, hipMemcpyHostToDevice)) return 2;
  sums<<<(rows + 127) / 128, 128>>>(in, out, columns, rows);
  if (hipMemcpy(host.data(), out, rows * 4, hipMemcpyDeviceToHost)) return 3;
  std::printf("%g\\n", host[7]);
}
"""


@pytest.mark.slow
def test_a_grid_that_has_as_many_threads_as_columns_by_chance_is_altered_as_the_others_is(tmp_path: Path) -> None:
    verdict = Bench(tmp_path, FEW_ROWS, "app.hip").verdict(
        ("blockIdx.x * blockDim.x + threadIdx.x", "(blockIdx.x * blockDim.x + threadIdx.x) / 32"),
        ("int c = 0; c < columns; ++c", "int c = threadIdx.x % 32; c < columns; c += 32"),
        ("out[row] = sum;", "for (int d = 16; d; d /= 2) sum += __shfl_xor(sum, d, 32); out[row] = sum;"),
        ("(rows + 127) / 128", "(rows + 127) / 128 * 32"),
        declares=Declaration(geometry=True),
    )
    assert verdict.accepted, verdict.detail
