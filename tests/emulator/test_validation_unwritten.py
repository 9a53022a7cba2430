"""An altered launch that writes a part of a buffer: what nobody has written there says nothing of its results' size."""

from __future__ import annotations

import pytest
from patchbench import Bench

from intelliperf.records import Declaration, Outcome

BY_THREAD = """  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int c = 0; c < width; ++c) sum += in[row * width + c];
  for (int c = 0; c < width; ++c) out[row * width + c] = in[row * width + c] - sum / width;
"""
BY_WARP = """  const int lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  float sum = 0;
  for (int c = lane; c < width; c += 32) sum += in[row * width + c];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  for (int c = lane; c < width; c += 32) out[row * width + c] = in[row * width + c] - sum / width;
"""
SOURCE = f"""#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
__global__ void centre(float* out, const float* in, int rows, int width) {{
{BY_THREAD}}}
int main() {{
  const int rows = 600, width = 320;
  std::vector<float> host(rows * width);
  for (size_t i = 0; i < host.size(); ++i) host[i] = float(i * 31 % 97) / 10;
  float *in, *out;
  cudaMalloc(&in, host.size() * 4);
  cudaMalloc(&out, host.size() * 4);
  cudaMemcpy(in, host.data(), host.size() * 4, cudaMemcpyHostToDevice);
  centre<<<(rows + 63) / 64, 64>>>(out, in, rows, width);
  cudaMemcpy(host.data(), out, host.size() * 4, cudaMemcpyDeviceToHost);
  double sum = 0;
  for (float v : host) sum += v * v;
  std::printf("%.2f\\n", sum);
}}
"""


REVERSED = """  __shared__ float work[1024];
  const float* mine = in + blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) work[__brev(i) >> (32 - bits)] = mine[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = work[i] * cosf(i);
"""
COUPLED = f"""#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
__global__ void reverse(float* out, const float* in, int n, int bits) {{
{REVERSED}}}
int main() {{
  const int bits = 6, n = 1 << bits, rows = 48;
  std::vector<float> host(n * rows);
  for (size_t i = 0; i < host.size(); ++i) host[i] = float(i * 31 % 97) / 10;
  float *in, *out;
  cudaMalloc(&in, host.size() * 4);
  cudaMalloc(&out, host.size() * 4);
  cudaMemcpy(in, host.data(), host.size() * 4, cudaMemcpyHostToDevice);
  reverse<<<rows, 32>>>(out, in, n, bits);
  cudaMemcpy(host.data(), out, host.size() * 4, cudaMemcpyDeviceToHost);
  double sum = 0;
  for (float v : host) sum += v;
  std::printf("%.1f\\n", sum);
}}
"""


@pytest.mark.slow
def test_a_size_with_which_the_original_reads_unwritten_lds_is_no_evidence(tmp_path):
    verdict = Bench(tmp_path, COUPLED, "app.cu").verdict(
        ("__shared__ float work[1024];", "__shared__ float root[1024], work[1024];"),
        (
            "  __syncthreads();",
            "  for (int i = threadIdx.x; i < n; i += blockDim.x) root[i] = cosf(i);\n  __syncthreads();",
        ),
        ("work[i] * cosf(i)", "work[i] * root[i]"),
    )
    assert verdict.outcome in (Outcome.ACCEPTED, Outcome.NOT_FASTER), verdict.detail


@pytest.mark.slow
def test_results_that_cancel_are_held_to_those_beside_them_and_to_no_unwritten_memory(tmp_path):
    bench = Bench(tmp_path, SOURCE, "app.cu")
    launch = "<<<(rows + 63) / 64, 64>>>"
    verdict = bench.verdict(
        (BY_THREAD, BY_WARP), (launch, "<<<(rows + 1) / 2, 64>>>"), declares=Declaration(geometry=True)
    )
    assert verdict.outcome is Outcome.ACCEPTED, verdict.detail


TILED = """#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
__global__ void sums(float* out, const float* in, const int* lengths) {
  __shared__ float tile[64];
  const int n = lengths[blockIdx.x];
  for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = in[blockIdx.x * 64 + i];
  __syncthreads();
  float sum = 0;
  for (int first = 8 * threadIdx.x; first < n; first += 256)
    for (int k = first; k < min(first + 8, n); ++k) sum += tile[k];
  out[blockIdx.x * 32 + threadIdx.x] = sum;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = 0;  // no other block finds anything of this one
}
int main() {
  const int rows = 20;
  std::vector<float> host(rows * 64, 0.5f);
  std::vector<int> ends(rows);
  for (int i = 0; i < rows; ++i) ends[i] = 16 + 8 * (i % 4);
  float *in, *out;
  int* lengths;
  cudaMalloc(&in, rows * 256);
  cudaMalloc(&out, rows * 128);
  cudaMalloc(&lengths, rows * 4);
  cudaMemcpy(in, host.data(), rows * 256, cudaMemcpyHostToDevice);
  cudaMemcpy(lengths, ends.data(), rows * 4, cudaMemcpyHostToDevice);
  sums<<<rows, 32>>>(out, in, lengths);
  cudaMemcpy(host.data(), out, 4, cudaMemcpyDeviceToHost);
  std::printf("%.2f\\n", host[0]);
}
"""


def test_unwritten_lds_that_only_altered_data_leave_is_no_nought(tmp_path):
    verdict = Bench(tmp_path, TILED, "app.cu").verdict(("k < min(first + 8, n)", "k < first + 8"))
    assert verdict.outcome is Outcome.WRONG_OUTPUT, verdict.detail
    assert "where some of the numbers are others" in verdict.detail
