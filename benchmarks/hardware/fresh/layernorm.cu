// Rows brought to mean 0 and variance 1: by a thread, by a block in three passes, by a warp that keeps its row.
#include "../corpus/corpus.h"
constexpr int kWide = 512;
__global__ void thread_per_row(const float* x, float* y, int rows) {
  int row = INDEX;
  if (row >= rows) return;
  float sum = 0, squares = 0;
  for (int k = 0; k < kWide; ++k) sum += x[row * kWide + k];
  const float mean = sum / kWide;
  for (int k = 0; k < kWide; ++k) squares += (x[row * kWide + k] - mean) * (x[row * kWide + k] - mean);
  const float scale = rsqrtf(squares / kWide + 1e-5f);
  for (int k = 0; k < kWide; ++k) y[row * kWide + k] = (x[row * kWide + k] - mean) * scale;
}
__global__ void three_passes(const float* x, float* y, int rows) {
  __shared__ float told;
  const float* own = x + blockIdx.x * kWide;
  float sum = 0, squares = 0;
  for (int k = threadIdx.x; k < kWide; k += blockDim.x) sum += own[k];
  sum = block_sum(sum);
  if (threadIdx.x == 0) told = sum / kWide;
  __syncthreads();
  const float mean = told;
  for (int k = threadIdx.x; k < kWide; k += blockDim.x) squares += (own[k] - mean) * (own[k] - mean);
  __syncthreads();
  squares = block_sum(squares);
  if (threadIdx.x == 0) told = rsqrtf(squares / kWide + 1e-5f);
  __syncthreads();
  for (int k = threadIdx.x; k < kWide; k += blockDim.x) y[blockIdx.x * kWide + k] = (own[k] - mean) * told;
}
__device__ float sum_of_all(float value) {
  for (int step = 16; step; step /= 2) value += __shfl_xor_sync(0xFFFFFFFF, value, step);
  return value;
}
__global__ void kept_by_warp(const float* x, float* y, int rows) {
  const int row = INDEX / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float own[kWide / 32], sum = 0, squares = 0;
#pragma unroll
  for (int k = 0; k < kWide / 32; ++k) sum += own[k] = x[row * kWide + k * 32 + lane];
  const float mean = sum_of_all(sum) / kWide;
#pragma unroll
  for (int k = 0; k < kWide / 32; ++k) squares += (own[k] - mean) * (own[k] - mean);
  const float scale = rsqrtf(sum_of_all(squares) / kWide + 1e-5f);
#pragma unroll
  for (int k = 0; k < kWide / 32; ++k) y[row * kWide + k * 32 + lane] = (own[k] - mean) * scale;
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int rows = c.argument(0, 1024);
  const auto values = floats(size_t(rows) * kWide);
  std::vector<float> expected(values.size());
  for (int row = 0; row < rows; ++row) {
    double sum = 0, squares = 0;
    for (int k = 0; k < kWide; ++k) sum += values[row * kWide + k];
    for (int k = 0; k < kWide; ++k) squares += std::pow(values[row * kWide + k] - sum / kWide, 2);
    for (int k = 0; k < kWide; ++k)
      expected[row * kWide + k] = float((values[row * kWide + k] - sum / kWide) / std::sqrt(squares / kWide + 1e-5));
  }
  const float* x = c.input(values);
  float* y = c.output(expected, 1e-3);
  c.variant("thread_per_row", [&] { thread_per_row<<<(rows + 127) / 128, 128>>>(x, y, rows); });
  c.variant("three_passes", [&] { three_passes<<<rows, 128>>>(x, y, rows); });
  c.variant("kept_by_warp", [&] { kept_by_warp<<<(rows + 3) / 4, 128>>>(x, y, rows); });
  return c.end();
}
