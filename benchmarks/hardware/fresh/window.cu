// Sums over the 32 numbers that follow each: every one anew, from LDS, or running along a stretch of 32 per thread.
#include "../corpus/corpus.h"
__global__ void anew(const float* x, float* y, int n) {
  float sum = 0;
  for (int k = 0; k < 32; ++k) sum += x[INDEX + k];
  y[INDEX] = sum;
}
__global__ void anew_in_lds(const float* x, float* y, int n) {
  __shared__ float tile[256 + 32];
  tile[threadIdx.x] = x[INDEX];
  if (threadIdx.x < 32) tile[256 + threadIdx.x] = x[INDEX + 256];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 32; ++k) sum += tile[threadIdx.x + k];
  y[INDEX] = sum;
}
__global__ void running(const float* x, float* y, int n) {
  const int first = INDEX * 32;
  float sum = 0;
  for (int k = 0; k < 32; ++k) sum += x[first + k];
  for (int k = 0; k < 32; ++k) {
    y[first + k] = sum;
    sum += x[first + k + 32] - x[first + k];
  }
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 17);
  const auto values = floats(size_t(n) + 64);
  const float* x = c.input(values);
  float* y = c.output(made<float>(n, [&](size_t i) {
    float sum = 0;
    for (int k = 0; k < 32; ++k) sum += values[i + k];
    return sum;
  }), 1e-4);
  c.variant("anew", [&] { anew<<<n / 256, 256>>>(x, y, n); });
  c.variant("anew_in_lds", [&] { anew_in_lds<<<n / 256, 256>>>(x, y, n); });
  c.variant("running", [&] { running<<<n / 256 / 32, 256>>>(x, y, n); });
  return c.end();
}
