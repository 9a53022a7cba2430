// Blocks of twenty threads.
#include <cstdio>
#include <vector>

__global__ void square(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = sqrtf(in[i]) * in[i] + sinf(in[i]);
}

int main() {
  const int n = 3000000, threads = 20;
  std::vector<float> h(n);
  for (int i = 0; i < n; ++i) h[i] = i % 91;
  float *a, *b;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  cudaMemcpy(a, h.data(), n * 4, cudaMemcpyHostToDevice);
  square<<<(n + threads - 1) / threads, threads>>>(a, b, n);
  cudaMemcpy(h.data(), b, n * 4, cudaMemcpyDeviceToHost);
  double s = 0;
  for (float v : h) s += v;
  printf("%.0f\n", s);
}
