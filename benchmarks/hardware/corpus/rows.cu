// The sums of the rows of a matrix.
#include "corpus.h"
__global__ void thread_per_row(const float* a, float* sums, int rows, int columns) {
  int row = INDEX;
  if (row >= rows) return;
  float sum = 0;
  for (int k = 0; k < columns; ++k) sum += a[row * columns + k];
  sums[row] = sum;
}
__global__ void warp_per_row(const float* a, float* sums, int rows, int columns) {
  int row = INDEX / 32;
  if (row >= rows) return;
  float sum = 0;
  for (int k = threadIdx.x % 32; k < columns; k += 32) sum += a[row * columns + k];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) sums[row] = sum;
}
__global__ void block_per_row(const float* a, float* sums, int rows, int columns) {
  float sum = 0;
  for (int k = threadIdx.x; k < columns; k += blockDim.x) sum += a[blockIdx.x * columns + k];
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int rows = c.argument(0, 4096), columns = c.argument(1, 256);
  const auto values = floats(size_t(rows) * columns);
  const float* a = c.input(values);
  float* sums = c.output(made<float>(rows, [&](size_t row) {
    double sum = 0;
    for (int k = 0; k < columns; ++k) sum += values[row * columns + k];
    return sum;
  }), 1e-4);
  c.variant("thread_per_row", [&] { thread_per_row<<<(rows + 127) / 128, 128>>>(a, sums, rows, columns); });
  c.variant("warp_per_row", [&] { warp_per_row<<<(rows + 7) / 8, 256>>>(a, sums, rows, columns); });
  c.variant("block_per_row", [&] { block_per_row<<<rows, 128>>>(a, sums, rows, columns); });
  return c.end();
}
