// How many numbers of an array are less than each: all read from memory, or from tiles in LDS, or four for each read.
#include "../corpus/corpus.h"
__global__ void from_memory(const int* x, int* y, int n) {
  const int own = x[INDEX];
  int less = 0;
  for (int k = 0; k < n; ++k) less += x[k] < own;
  y[INDEX] = less;
}
__global__ void from_lds(const int* x, int* y, int n) {
  __shared__ int tile[256];
  const int own = x[INDEX];
  int less = 0;
  for (int at = 0; at < n; at += 256) {
    __syncthreads();
    tile[threadIdx.x] = x[at + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 256; ++k) less += tile[k] < own;
  }
  y[INDEX] = less;
}
__global__ void four_each(const int* x, int* y, int n) {
  const int first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
  int own[4], less[4] = {};
  for (int j = 0; j < 4; ++j) own[j] = x[first + j * blockDim.x];
  for (int k = 0; k < n; ++k) {
    const int other = x[k];
    for (int j = 0; j < 4; ++j) less[j] += other < own[j];
  }
  for (int j = 0; j < 4; ++j) y[first + j * blockDim.x] = less[j];
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 12);
  const auto values = made<int>(n, [](size_t i) { return noise(unsigned(i)); });
  auto sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const int* x = c.input(values);
  int* y = c.output(made<int>(n, [&](size_t i) {
    return std::lower_bound(sorted.begin(), sorted.end(), values[i]) - sorted.begin();
  }));
  c.variant("from_memory", [&] { from_memory<<<n / 256, 256>>>(x, y, n); });
  c.variant("from_lds", [&] { from_lds<<<n / 256, 256>>>(x, y, n); });
  c.variant("four_each", [&] { four_each<<<n / 256, 64>>>(x, y, n); });
  return c.end();
}
