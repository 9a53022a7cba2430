// Reads the same 16 MB again and again: they stay in the L2.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void sum(const float4* __restrict__ in, float* out, int n) {
  float total = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float4 v = in[i];
    total += v.x + v.y + v.z + v.w;
  }
  if (total != 0) *out = total;
}

int main() {
  const int n = (16 << 20) / 16;
  float4* in = nullptr;
  float* out = nullptr;
  if (cudaMalloc(&in, n * sizeof(float4)) != cudaSuccess) return 3;
  cudaMalloc(&out, sizeof(float));
  cudaMemset(in, 0, n * sizeof(float4));
  cudaMemset(out, 0, sizeof(float));
  for (int i = 0; i < 50; ++i) sum<<<528, 512>>>(in, out, n);
  const cudaError_t status = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(status));
  return status != cudaSuccess;
}
