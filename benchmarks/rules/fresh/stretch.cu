// Contiguous chunk per thread, in-place, a lambda-free functor.
#include <cstdio>
#include <vector>

struct Gain { float slope, offset; __device__ float operator()(float v) const { return slope * v + offset; } };

template <class Op>
__global__ void apply(float* data, int n, int chunk, Op op) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * chunk;
  for (int k = 0; k < chunk; ++k) {
    int i = first + k;
    if (i < n) data[i] = op(data[i]);
  }
}

int main() {
  const int n = 4000000, chunk = 8;
  std::vector<float> h(n);
  for (int i = 0; i < n; ++i) h[i] = i % 300;
  float* d;
  cudaMalloc(&d, n * 4);
  cudaMemcpy(d, h.data(), n * 4, cudaMemcpyHostToDevice);
  int threads = (n + chunk - 1) / chunk;
  apply<<<(threads + 255) / 256, 256>>>(d, n, chunk, Gain{1.5f, -2.f});
  cudaMemcpy(h.data(), d, n * 4, cudaMemcpyDeviceToHost);
  double s = 0;
  for (float v : h) s += v;
  printf("%.1f\n", s);
}
