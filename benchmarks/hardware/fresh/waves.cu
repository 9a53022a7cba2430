// Complex numbers times complex numbers: their parts by themselves, as pairs, two pairs at once; parts in two arrays.
#include "../corpus/corpus.h"
__global__ void by_parts(const float* x, const float* f, float* y, int n) {
  int i = INDEX;
  if (i >= n) return;
  y[2 * i] = x[2 * i] * f[2 * i] - x[2 * i + 1] * f[2 * i + 1];
  y[2 * i + 1] = x[2 * i] * f[2 * i + 1] + x[2 * i + 1] * f[2 * i];
}
__global__ void in_turn(const float* x, const float* f, float* y, int n) {
  const int threads = gridDim.x * blockDim.x, each = n / threads;
  for (int i = INDEX * each; i < (INDEX + 1) * each; ++i) {
    y[2 * i] = x[2 * i] * f[2 * i] - x[2 * i + 1] * f[2 * i + 1];
    y[2 * i + 1] = x[2 * i] * f[2 * i + 1] + x[2 * i + 1] * f[2 * i];
  }
}
__global__ void by_pairs(const float2* x, const float2* f, float2* y, int n) {
  int i = INDEX;
  if (i >= n) return;
  const float2 a = x[i], b = f[i];
  y[i] = make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 17);
  const auto values = floats(size_t(n) * 2), factors = floats(size_t(n) * 2, 9);
  const float *x = c.input(values), *f = c.input(factors);
  float* y = c.output(made<float>(size_t(n) * 2, [&](size_t at) {
    const size_t re = at & ~size_t(1), im = at | 1;
    return at % 2 ? values[re] * factors[im] + values[im] * factors[re] : values[re] * factors[re] - values[im] * factors[im];
  }), 1e-5);
  c.variant("by_parts", [&] { by_parts<<<n / 256, 256>>>(x, f, y, n); });
  c.variant("in_turn", [&] { in_turn<<<n / 256 / 16, 256>>>(x, f, y, n); });
  c.variant("by_pairs", [&] { by_pairs<<<n / 256, 256>>>((const float2*)x, (const float2*)f, (float2*)y, n); });
  return c.end();
}
