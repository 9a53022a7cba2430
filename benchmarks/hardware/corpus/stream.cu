// y = 2x + 1 over an array.
#include "corpus.h"
__global__ void chunked(const float* x, float* y, int n) {
  for (int i = INDEX * 16; i < min(n, int(INDEX + 1) * 16); ++i) y[i] = 2 * x[i] + 1;
}
__global__ void scalar(const float* x, float* y, int n) {
  int i = INDEX;
  if (i < n) y[i] = 2 * x[i] + 1;
}
__global__ void vec4(const float4* x, float4* y, int n) {
  int i = INDEX;
  if (i >= n / 4) return;
  float4 v = x[i];
  y[i] = make_float4(2 * v.x + 1, 2 * v.y + 1, 2 * v.z + 1, 2 * v.w + 1);
}
__global__ void grid_stride(const float* x, float* y, int n) {
  for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) y[i] = 2 * x[i] + 1;
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 20);
  const auto values = floats(n);
  const float* x = c.input(values);
  float* y = c.output(made<float>(n, [&](size_t i) { return 2 * values[i] + 1; }), 1e-6);
  c.variant("chunked", [&] { chunked<<<n / 16 / 128, 128>>>(x, y, n); });
  c.variant("scalar", [&] { scalar<<<n / 256, 256>>>(x, y, n); });
  c.variant("vec4", [&] { vec4<<<n / 1024, 256>>>((const float4*)x, (float4*)y, n); });
  c.variant("grid_stride", [&] { grid_stride<<<264, 512>>>(x, y, n); });
  return c.end();
}
