// exp(x - max) / sum over the rows of a matrix; columns are a multiple of 32, at most 1024.
#include "corpus.h"
__global__ void thread_per_row(const float* x, float* y, int rows, int columns) {
  int row = INDEX;
  if (row >= rows) return;
  float most = -1e30f, sum = 0;
  for (int k = 0; k < columns; ++k) most = fmaxf(most, x[row * columns + k]);
  for (int k = 0; k < columns; ++k) sum += expf(x[row * columns + k] - most);
  for (int k = 0; k < columns; ++k) y[row * columns + k] = expf(x[row * columns + k] - most) / sum;
}
__global__ void block_per_row(const float* x, float* y, int rows, int columns) {
  __shared__ float part[128];
  const int thread = threadIdx.x, at = blockIdx.x * columns;
  float most = -1e30f, sum = 0;
  for (int k = thread; k < columns; k += 128) most = fmaxf(most, x[at + k]);
  part[thread] = most;
  for (int step = 64; step; step /= 2) {
    __syncthreads();
    if (thread < step) part[thread] = fmaxf(part[thread], part[thread + step]);
  }
  __syncthreads();
  most = part[0];
  __syncthreads();
  for (int k = thread; k < columns; k += 128) sum += expf(x[at + k] - most);
  part[thread] = sum;
  for (int step = 64; step; step /= 2) {
    __syncthreads();
    if (thread < step) part[thread] += part[thread + step];
  }
  __syncthreads();
  for (int k = thread; k < columns; k += 128) y[at + k] = expf(x[at + k] - most) / part[0];
}
__global__ void warp_per_row(const float* x, float* y, int rows, int columns) {
  int row = INDEX / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float own[32], most = -1e30f, sum = 0;
#pragma unroll
  for (int k = 0; k < 32; ++k) {
    own[k] = k * 32 + lane < columns ? x[row * columns + k * 32 + lane] : -1e30f;
    most = fmaxf(most, own[k]);
  }
  for (int step = 16; step; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xFFFFFFFF, most, step));
#pragma unroll
  for (int k = 0; k < 32; ++k) sum += own[k] = __expf(own[k] - most);
  for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xFFFFFFFF, sum, step);
#pragma unroll
  for (int k = 0; k < 32; ++k)
    if (k * 32 + lane < columns) y[row * columns + k * 32 + lane] = own[k] / sum;
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int rows = c.argument(0, 1024), columns = c.argument(1, 512);
  const auto values = floats(size_t(rows) * columns);
  const float* x = c.input(values);
  std::vector<float> expected(values.size());
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int k = 0; k < columns; ++k) sum += std::exp(values[row * columns + k]);
    for (int k = 0; k < columns; ++k) expected[row * columns + k] = float(std::exp(values[row * columns + k]) / sum);
  }
  float* y = c.output(expected, 1e-5);
  c.variant("thread_per_row", [&] { thread_per_row<<<(rows + 63) / 64, 64>>>(x, y, rows, columns); });
  c.variant("block_per_row", [&] { block_per_row<<<rows, 128>>>(x, y, rows, columns); });
  c.variant("warp_per_row", [&] { warp_per_row<<<(rows + 3) / 4, 128>>>(x, y, rows, columns); });
  return c.end();
}
