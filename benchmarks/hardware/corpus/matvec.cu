// A matrix times a vector.
#include "corpus.h"
__global__ void thread_per_row(const float* a, const float* x, float* y, int rows, int columns) {
  int row = INDEX;
  if (row >= rows) return;
  float sum = 0;
  for (int k = 0; k < columns; ++k) sum += a[row * columns + k] * x[k];
  y[row] = sum;
}
__global__ void warp_per_row(const float* a, const float* x, float* y, int rows, int columns) {
  int row = INDEX / 32;
  float sum = 0;
  if (row < rows)
    for (int k = threadIdx.x % 32; k < columns; k += 32) sum += a[row * columns + k] * x[k];
  sum = warp_sum(sum);
  if (row < rows && threadIdx.x % 32 == 0) y[row] = sum;
}
__global__ void by_fours(const float4* a, const float4* x, float* y, int rows, int columns) {
  int row = INDEX / 32;
  float sum = 0;
  if (row < rows)
    for (int k = threadIdx.x % 32; k < columns / 4; k += 32) {
      const float4 p = a[row * (columns / 4) + k], q = x[k];
      sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
    }
  sum = warp_sum(sum);
  if (row < rows && threadIdx.x % 32 == 0) y[row] = sum;
}
__global__ void transposed(const float* a, const float* x, float* y, int rows, int columns) {  // a is symmetric
  int row = INDEX;
  if (row >= rows) return;
  float sum = 0;
  for (int k = 0; k < columns; ++k) sum += a[k * rows + row] * x[k];
  y[row] = sum;
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1024);
  const auto matrix = made<float>(size_t(n) * n, [&](size_t i) {
    return noise(unsigned(std::max(i / n, i % n) * n + std::min(i / n, i % n))) / float(0x1000000);
  });
  const auto vector = floats(n, 3);
  const float *a = c.input(matrix), *x = c.input(vector);
  float* y = c.output(made<float>(n, [&](size_t row) {
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += double(matrix[row * n + k]) * vector[k];
    return sum;
  }), 1e-4);
  c.variant("thread_per_row", [&] { thread_per_row<<<(n + 127) / 128, 128>>>(a, x, y, n, n); });
  c.variant("warp_per_row", [&] { warp_per_row<<<(n + 7) / 8, 256>>>(a, x, y, n, n); });
  c.variant("by_fours", [&] { by_fours<<<(n + 7) / 8, 256>>>((const float4*)a, (const float4*)x, y, n, n); });
  c.variant("transposed", [&] { transposed<<<(n + 127) / 128, 128>>>(a, x, y, n, n); });
  return c.end();
}
