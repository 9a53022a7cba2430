// A sparse matrix times a vector; rows have 1 to 2 × `mean` - 1 entries.
#include "corpus.h"
__global__ void thread_per_row(const int* begin, const int* column, const float* a, const float* x, float* y, int rows) {
  int row = INDEX;
  if (row >= rows) return;
  float sum = 0;
  for (int k = begin[row]; k < begin[row + 1]; ++k) sum += a[k] * x[column[k]];
  y[row] = sum;
}
template <int Lanes>
__device__ void lanes_per_row(const int* begin, const int* column, const float* a, const float* x, float* y, int rows) {
  int row = INDEX / Lanes, lane = threadIdx.x % Lanes;
  float sum = 0;
  if (row < rows)
    for (int k = begin[row] + lane; k < begin[row + 1]; k += Lanes) sum += a[k] * x[column[k]];
  for (int step = Lanes / 2; step; step /= 2) sum += __shfl_down_sync(0xFFFFFFFF, sum, step, Lanes);
  if (row < rows && lane == 0) y[row] = sum;
}
__global__ void eight_per_row(const int* begin, const int* column, const float* a, const float* x, float* y, int rows) {
  lanes_per_row<8>(begin, column, a, x, y, rows);
}
__global__ void warp_per_row(const int* begin, const int* column, const float* a, const float* x, float* y, int rows) {
  lanes_per_row<32>(begin, column, a, x, y, rows);
}
__global__ void column_major(const int* begin, const int* column, const float* a, const float* x, float* y, int rows) {
  int row = INDEX;
  if (row >= rows) return;
  float sum = 0;
  const int count = begin[row + 1] - begin[row];
  for (int k = 0; k < count; ++k) sum += a[k * rows + row] * x[column[k * rows + row]];
  y[row] = sum;
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int rows = c.argument(0, 1 << 15), mean = c.argument(1, 16), widest = 2 * mean - 1;
  std::vector<int> begin(rows + 1), column, columns_apart(size_t(rows) * widest);
  std::vector<float> entries, apart(size_t(rows) * widest);
  const auto vector = floats(rows, 7);
  std::vector<float> product(rows);
  for (int row = 0; row < rows; ++row) {
    const int count = 1 + int(noise(row)) % widest;
    for (int k = 0; k < count; ++k) {
      column.push_back(int(noise(row * 64 + k) % unsigned(rows)));
      entries.push_back(float(k % 7) / 8);
      columns_apart[size_t(k) * rows + row] = column.back(), apart[size_t(k) * rows + row] = entries.back();
      product[row] += entries.back() * vector[column.back()];
    }
    begin[row + 1] = begin[row] + count;
  }
  const int *b = c.input(begin), *k = c.input(column), *wide = c.input(columns_apart);
  const float *a = c.input(entries), *e = c.input(apart), *x = c.input(vector);
  float* y = c.output(product, 1e-4);
  c.variant("thread_per_row", [&] { thread_per_row<<<(rows + 255) / 256, 256>>>(b, k, a, x, y, rows); });
  c.variant("eight_per_row", [&] { eight_per_row<<<(rows + 31) / 32, 256>>>(b, k, a, x, y, rows); });
  c.variant("warp_per_row", [&] { warp_per_row<<<(rows + 7) / 8, 256>>>(b, k, a, x, y, rows); });
  c.variant("column_major", [&] { column_major<<<(rows + 255) / 256, 256>>>(b, wide, e, x, y, rows); });
  return c.end();
}
