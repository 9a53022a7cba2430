// Work that differs between neighbouring threads, and the same work with like beside like.
#include "corpus.h"
__host__ __device__ inline float left(float x, int rounds) {
  for (int k = 0; k < rounds; ++k) x = x * 0.999f + 0.25f;
  return x;
}
__host__ __device__ inline float right(float x, int rounds) {
  for (int k = 0; k < rounds; ++k) x = (x - 0.125f) * 0.998f;
  return x;
}
__global__ void every_other(const float* x, float* y, int n, int rounds) {
  int i = INDEX;
  if (i % 2) y[i] = left(x[i], rounds);
  else y[i] = right(x[i], rounds);
}
__global__ void by_halves(const float* x, float* y, int n, int rounds) {
  int i = INDEX < n / 2 ? 2 * INDEX : 2 * (INDEX - n / 2) + 1;
  if (i % 2) y[i] = left(x[i], rounds);
  else y[i] = right(x[i], rounds);
}
__global__ void uneven(const float* x, float* y, int n, int rounds) {
  int i = INDEX;
  y[i] = left(x[i], i % 32 * rounds / 16);
}
__global__ void uneven_sorted(const float* x, float* y, int n, int rounds) {
  int i = INDEX % (n / 32) * 32 + INDEX / (n / 32);
  y[i] = left(x[i], i % 32 * rounds / 16);
}
__global__ void one_lane(const float* x, float* y, int n, int rounds) {
  int i = INDEX;
  y[i] = left(x[i], i % 32 ? 0 : rounds * 4);
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 17), rounds = c.argument(1, 128);
  const auto values = floats(n);
  const float* x = c.input(values);
  float* y = c.checked<float>(n, [=](const std::vector<float>& found) {
    for (int i = 0; i < n; ++i) {
      const float ways[] = {i % 2 ? left(values[i], rounds) : right(values[i], rounds),
                            left(values[i], i % 32 * rounds / 16), left(values[i], i % 32 ? 0 : rounds * 4)};
      float least = 1e30f;
      for (float way : ways) least = std::min(least, std::abs(found[i] - way));
      if (!(least <= 1e-2f)) return std::to_string(i);
    }
    return std::string();
  });
  const int blocks = n / 256;
  c.variant("every_other", [&] { every_other<<<blocks, 256>>>(x, y, n, rounds); });
  c.variant("by_halves", [&] { by_halves<<<blocks, 256>>>(x, y, n, rounds); });
  c.variant("uneven", [&] { uneven<<<blocks, 256>>>(x, y, n, rounds); });
  c.variant("uneven_sorted", [&] { uneven_sorted<<<blocks, 256>>>(x, y, n, rounds); });
  c.variant("one_lane", [&] { one_lane<<<blocks, 256>>>(x, y, n, rounds); });
  return c.end();
}
