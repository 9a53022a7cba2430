// Matrix product with the thread's x for the row.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

__global__ void multiply(const float* A, const float* B, float* C, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n) return;
  float sum = 0.f;
  for (int k = 0; k < n; ++k) {
    sum += A[i * n + k] * B[k * n + j];
  }
  C[i * n + j] = sum;
}

int main() {
  const int n = 144;
  std::vector<float> h(n * n), r(n * n);
  for (int i = 0; i < n * n; ++i) h[i] = (i % 11) * 0.5f;
  float *a, *b, *c;
  hipMalloc(&a, n * n * 4); hipMalloc(&b, n * n * 4); hipMalloc(&c, n * n * 4);
  hipMemcpy(a, h.data(), n * n * 4, hipMemcpyHostToDevice);
  hipMemcpy(b, h.data(), n * n * 4, hipMemcpyHostToDevice);
  dim3 threads(16, 16), blocks((n + 15) / 16, (n + 15) / 16);
  hipLaunchKernelGGL(multiply, blocks, threads, 0, 0, a, b, c, n);
  hipMemcpy(r.data(), c, n * n * 4, hipMemcpyDeviceToHost);
  double s = 0;
  for (float v : r) s += v;
  printf("%.0f\n", s);
}
