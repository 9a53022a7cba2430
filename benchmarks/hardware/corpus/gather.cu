// Values of a table by index: at random, in order, in steps, of a small table, and through two indices.
#include "corpus.h"
__global__ void gathered(const float* table, const int* index, float* y, int n) {
  int i = INDEX;
  if (i < n) y[i] = table[index[i]];
}
__global__ void gathered_in_lds(const float* table, const int* index, float* y, int n, int entries) {
  extern __shared__ float own[];
  for (int k = threadIdx.x; k < entries; k += blockDim.x) own[k] = table[k];
  __syncthreads();
  for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) y[i] = own[index[i]];
}
__global__ void scattered(const float* table, const int* index, float* y, int n) {
  int i = INDEX;
  if (i < n) y[index[i]] = table[i];
}
__global__ void twice(const float* table, const int* index, float* y, int n) {
  int i = INDEX;
  if (i < n) y[i] = table[index[index[i]]];
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 20), small = 2048;
  const auto values = floats(n);
  // i -> 40503 i mod n is one-to-one, for n is a power of two.
  const auto mixed = made<int>(n, [&](size_t i) { return noise(unsigned(i)) % n; });
  const auto spread = made<int>(n, [&](size_t i) { return i * 40503 % n; });
  const auto forward = made<int>(n, [&](size_t i) { return i ^ 1; });
  const auto few = made<int>(n, [&](size_t i) { return noise(unsigned(i)) % small; });
  const float* table = c.input(values);
  const int *any = c.input(mixed), *all = c.input(spread), *near = c.input(forward), *low = c.input(few);
  float* y = c.checked<float>(n, [=](const std::vector<float>& found) {
    int right[5] = {};
    for (int i = 0; i < n; ++i) {
      right[0] += found[i] == values[mixed[i]];
      right[1] += found[spread[i]] == values[i];
      right[2] += found[i] == values[forward[i]];
      right[3] += found[i] == values[few[i]];
      right[4] += found[i] == values[mixed[mixed[i]]];
    }
    return *std::max_element(right, right + 5) == n ? "" : "some entry";
  });
  const int blocks = n / 256;
  c.variant("random", [&] { gathered<<<blocks, 256>>>(table, any, y, n); });
  c.variant("in_order", [&] { gathered<<<blocks, 256>>>(table, near, y, n); });
  c.variant("scattered", [&] { scattered<<<blocks, 256>>>(table, all, y, n); });
  c.variant("scattered_in_order", [&] { scattered<<<blocks, 256>>>(table, near, y, n); });
  c.variant("twice", [&] { twice<<<blocks, 256>>>(table, any, y, n); });
  c.variant("small", [&] { gathered<<<blocks, 256>>>(table, low, y, n); });
  c.variant("small_in_lds", [&] { gathered_in_lds<<<264, 512, small * 4>>>(table, low, y, n, small); });
  return c.end();
}
