// A memory-bound kernel, a short one, and one whose length is its argument; nothing else to do.
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

__global__ void copy(const float4* __restrict__ in, float4* __restrict__ out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = in[i];
}

__global__ void add_one(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1.0f;
}

__global__ void spin(float* x, int rounds) {
  float a = x[threadIdx.x];
  for (int i = 0; i < rounds; ++i) a = a * 1.0001f + 0.5f;
  x[threadIdx.x + blockIdx.x * blockDim.x] = a;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 20000, n = 8 << 20, short_n = 1 << 20;
  float4 *in = nullptr, *out = nullptr;
  float* x = nullptr;
  if (cudaMalloc(&in, n * sizeof(float4)) != cudaSuccess) return 3;
  cudaMalloc(&out, n * sizeof(float4));
  cudaMalloc(&x, short_n * sizeof(float));
  cudaMemset(in, 0, n * sizeof(float4));
  cudaMemset(x, 0, short_n * sizeof(float));
  for (int i = 0; i < 20; ++i) {
    copy<<<1056, 256>>>(in, out, n);
    add_one<<<64, 256>>>(x, 1 << 14);
    spin<<<264, 256>>>(x, rounds);
  }
  const cudaError_t status = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(status));
  return status != cudaSuccess;
}
