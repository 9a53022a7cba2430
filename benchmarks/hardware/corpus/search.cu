// Where values belong in a sorted table: by going through it, by halving, by halving with its top in LDS.
#include "corpus.h"
__global__ void linear(const int* table, const int* x, int* y, int n, int entries) {
  int i = INDEX, value = x[i], at = 0;
  while (at < entries && table[at] <= value) ++at;
  y[i] = at;
}
__device__ int halving(const int* table, int value, int low, int high) {
  while (low < high) {
    const int middle = (low + high) / 2;
    if (table[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
__global__ void binary(const int* table, const int* x, int* y, int n, int entries) {
  y[INDEX] = halving(table, x[INDEX], 0, entries);
}
__global__ void binary_top_in_lds(const int* table, const int* x, int* y, int n, int entries) {
  __shared__ int top[257];
  const int apart = entries / 256;
  top[threadIdx.x] = table[threadIdx.x * apart];
  __syncthreads();
  const int value = x[INDEX], part = max(halving(top, value, 0, 256) - 1, 0);
  y[INDEX] = halving(table, value, part * apart, min((part + 1) * apart, entries));
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 16), entries = c.argument(1, 1 << 16), few = 256;
  const auto table = made<int>(entries, [](size_t i) { return 3 * i; });
  const auto values = made<int>(n, [&](size_t i) { return noise(unsigned(i)) % (3 * entries); });
  const auto low = made<int>(n, [&](size_t i) { return noise(unsigned(i)) % (3 * few); });
  const int *t = c.input(table), *x = c.input(values), *z = c.input(low);
  int* y = c.checked<int>(n, [=](const std::vector<int>& found) {
    int right[2] = {};
    for (int i = 0; i < n; ++i) right[0] += found[i] == values[i] / 3 + 1, right[1] += found[i] == low[i] / 3 + 1;
    return std::max(right[0], right[1]) == n ? "" : "some place";
  });
  c.variant("linear", [&] { linear<<<n / 256, 256>>>(t, z, y, n, few); });
  c.variant("binary_few", [&] { binary<<<n / 256, 256>>>(t, z, y, n, few); });
  c.variant("binary", [&] { binary<<<n / 256, 256>>>(t, x, y, n, entries); });
  c.variant("binary_top_in_lds", [&] { binary_top_in_lds<<<n / 256, 256>>>(t, x, y, n, entries); });
  return c.end();
}
