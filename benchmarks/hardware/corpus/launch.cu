// One computation on grids of other shapes: one block, tiny blocks, blocks that hoard LDS.
#include "corpus.h"
__device__ float step(float x) {
  for (int k = 0; k < 8; ++k) x = x * 0.75f + 0.5f;
  return x;
}
__global__ void in_a_loop(const float* x, float* y, int n) {
  for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) y[i] = step(x[i]);
}
__global__ void one_each(const float* x, float* y, int n) {
  if (INDEX < n) y[INDEX] = step(x[INDEX]);
}
__global__ void one_lane_each(const float* x, float* y, int n) {  // a warp per element
  if (INDEX % 32 == 0) y[INDEX / 32] = step(x[INDEX / 32]);
}
__global__ void hoarding(const float* x, float* y, int n) {
  extern __shared__ float own[];
  own[threadIdx.x] = x[INDEX];
  __syncthreads();
  y[INDEX] = step(own[threadIdx.x]);
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 18);
  const auto values = floats(n);
  const float* x = c.input(values);
  float* y = c.output(made<float>(n, [&](size_t i) {
    float value = values[i];
    for (int k = 0; k < 8; ++k) value = value * 0.75f + 0.5f;
    return value;
  }), 1e-5);
  c.variant("one_block", [&] { in_a_loop<<<1, 256>>>(x, y, n); });
  c.variant("sixteen_blocks", [&] { in_a_loop<<<16, 256>>>(x, y, n); });
  c.variant("tiny_blocks", [&] { one_each<<<n / 32, 32>>>(x, y, n); });
  c.variant("one_lane_each", [&] { one_lane_each<<<n / 8, 256>>>(x, y, n); });
  c.variant("one_each", [&] { one_each<<<n / 256, 256>>>(x, y, n); });
  c.variant("hoarding", [&] { hoarding<<<n / 64, 64, 48 * 1024>>>(x, y, n); });
  c.variant("holding", [&] { hoarding<<<n / 256, 256, 1024>>>(x, y, n); });
  return c.end();
}
