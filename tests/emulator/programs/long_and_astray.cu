// Launches of which the last would take minutes, or that read beside their allocation, by the argument.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void fill(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = i * 0.001f;
}
__global__ void pairs(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int j = 0; j < n; ++j) sum += (x[j] - x[i]) / ((x[j] - x[i]) * (x[j] - x[i]) + 0.01f);
  out[i] = sum;
}
__global__ void shift(const float* in, float* out, long by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i + by];
}

int main(int argc, char** argv) {
  const int n = 1 << 17;
  const long by = argc > 1 ? std::atol(argv[1]) : 0;
  float *x, *out;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  fill<<<n / 256, 256>>>(x, n);
  std::printf("filled\n");
  if (by)
    shift<<<1, 256>>>(x, out, by);
  else
    fill<<<4, 256>>>(out, 1024), pairs<<<n / 256, 256>>>(x, out, n);
  const cudaError_t status = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(status));
  return status != cudaSuccess;
}
