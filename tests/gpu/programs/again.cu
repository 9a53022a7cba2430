// Reads 256 MB as often as its argument says, each time from the start.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void pass_over(const float4* __restrict__ in, float* out, int n, int times) {
  float total = 0;
  for (int k = 0; k < times; ++k)
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
      const float4 v = in[i];
      total += v.x + v.y * k + v.z + v.w;
    }
  if (total != 0) *out = total;
}

int main(int argc, char** argv) {
  const int n = 1 << 24, times = argc > 1 ? std::atoi(argv[1]) : 1;
  float4* in = nullptr;
  float* out = nullptr;
  if (cudaMalloc(&in, n * sizeof(float4)) != cudaSuccess) return 3;
  cudaMalloc(&out, sizeof(float));
  cudaMemset(in, 0, n * sizeof(float4));
  cudaMemset(out, 0, sizeof(float));
  pass_over<<<528, 512>>>(in, out, n, times);
  const cudaError_t status = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(status));
  return status != cudaSuccess;
}
