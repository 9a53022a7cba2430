"""An altered launch that writes a part of a buffer: what nobody has written there says nothing of its results' size."""

from __future__ import annotations

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


def test_results_that_cancel_are_held_to_those_beside_them_and_to_no_unwritten_memory(tmp_path):
    bench = Bench(tmp_path, SOURCE, "app.cu")
    launch = "<<<(rows + 63) / 64, 64>>>"
    verdict = bench.verdict(
        (BY_THREAD, BY_WARP), (launch, "<<<(rows + 1) / 2, 64>>>"), declares=Declaration(geometry=True)
    )
    assert verdict.outcome is Outcome.ACCEPTED, verdict.detail
