// Layer normalization, a template over the element, parameters in a struct.
#include <cstdio>
#include <vector>

struct Shape { int batch; int features; float eps; };

__device__ float warpSum(float v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
  return v;
}

template <typename T>
__global__ void layerNorm(const T* __restrict__ x, const T* gamma, const T* beta, T* y, Shape s) {
  const int b = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (b >= s.batch) {
    return;
  }
  T mean = 0;
  for (int f = lane; f < s.features; f += 32) {
    mean += x[b * s.features + f];
  }
  mean = warpSum(mean) / s.features;
  T var = 0;
  for (int f = lane; f < s.features; f += 32) {
    T d = x[b * s.features + f] - mean;
    var += d * d;
  }
  var = warpSum(var) / s.features;
  T inv = rsqrtf(var + s.eps);
  for (int f = lane; f < s.features; f += 32) {
    y[b * s.features + f] = (x[b * s.features + f] - mean) * inv * gamma[f] + beta[f];
  }
}

int main() {
  Shape s{1500, 320, 1e-5f};
  const size_t count = size_t(s.batch) * s.features;
  std::vector<float> hx(count), hg(s.features, 1.5f), hb(s.features, 0.25f);
  for (size_t i = 0; i < count; ++i) hx[i] = float(i * 31 % 97) / 10;
  float *x, *g, *b, *y;
  cudaMalloc(&x, count * 4); cudaMalloc(&y, count * 4);
  cudaMalloc(&g, s.features * 4); cudaMalloc(&b, s.features * 4);
  cudaMemcpy(x, hx.data(), count * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(g, hg.data(), s.features * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(b, hb.data(), s.features * 4, cudaMemcpyHostToDevice);
  layerNorm<float><<<(s.batch * 32 + 63) / 64, 64>>>(x, g, b, y, s);
  cudaMemcpy(hx.data(), y, count * 4, cudaMemcpyDeviceToHost);
  double total = 0;
  for (size_t i = 0; i < count; ++i) total += hx[i] * (i % 7);
  printf("%.0f\n", total);
}
