// Dot products of half-precision rows, a row per thread.
#include <cstdio>
#include <vector>
#include <cuda_fp16.h>

__global__ void dots(const __half* a, const __half* b, float* out, int rows, int k) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float acc = 0.f;
    for (int i = 0; i < k; ++i) acc += __half2float(a[row * k + i]) * __half2float(b[row * k + i]);
    out[row] = acc;
  }
}

int main() {
  const int rows = 4096, k = 512;
  std::vector<__half> h(rows * k);
  for (int i = 0; i < rows * k; ++i) h[i] = __float2half((i % 9) * 0.125f);
  __half *a, *b; float* o;
  cudaMalloc(&a, h.size() * 2); cudaMalloc(&b, h.size() * 2); cudaMalloc(&o, rows * 4);
  cudaMemcpy(a, h.data(), h.size() * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(b, h.data(), h.size() * 2, cudaMemcpyHostToDevice);
  dots<<<rows / 64, 64>>>(a, b, o, rows, k);
  std::vector<float> r(rows);
  cudaMemcpy(r.data(), o, rows * 4, cudaMemcpyDeviceToHost);
  double s = 0;
  for (float v : r) s += v;
  printf("%.2f\n", s);
}
