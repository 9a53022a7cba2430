// The sums of the columns of a matrix.
#include "corpus.h"
__global__ void thread_per_column(const float* a, float* sums, int rows, int columns) {
  int column = INDEX;
  if (column >= columns) return;
  float sum = 0;
  for (int row = 0; row < rows; ++row) sum += a[row * columns + column];
  sums[column] = sum;
}
__global__ void block_per_column(const float* a, float* sums, int rows, int columns) {
  float sum = 0;
  for (int row = threadIdx.x; row < rows; row += blockDim.x) sum += a[row * columns + blockIdx.x];
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
__global__ void strips(const float* a, float* sums, int rows, int columns) {
  __shared__ float part[8][33];
  int column = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (int row = blockIdx.y * 64 + threadIdx.y; row < min(rows, int(blockIdx.y + 1) * 64); row += 8)
    sum += a[row * columns + column];
  part[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y) return;
  for (int k = 1; k < 8; ++k) sum += part[k][threadIdx.x];
  atomicAdd(&sums[column], sum);
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int rows = c.argument(0, 1024), columns = c.argument(1, 1024);
  const auto values = floats(size_t(rows) * columns);
  const float* a = c.input(values);
  float* sums = c.output(made<float>(columns, [&](size_t column) {
    double sum = 0;
    for (int k = 0; k < rows; ++k) sum += values[size_t(k) * columns + column];
    return sum;
  }), 1e-4);
  c.variant("thread_per_column", [&] { thread_per_column<<<(columns + 63) / 64, 64>>>(a, sums, rows, columns); });
  c.variant("block_per_column", [&] { block_per_column<<<columns, 256>>>(a, sums, rows, columns); });
  c.variant("strips", [&] { strips<<<dim3(columns / 32, (rows + 63) / 64), dim3(32, 8)>>>(a, sums, rows, columns); });
  return c.end();
}
