// Reads of constant memory: at one address, at several, by a pointer, of two bytes; and what only looks like it.
#include <cuda_runtime.h>

#include <cstdio>

__constant__ float weights[64];
__constant__ unsigned short steps[64];
__device__ const float plain[64] = {1, 2, 3};

__device__ float element(const float* table, int at) { return table[at]; }

__global__ void reads(float* out, int shift) {
  const int lane = threadIdx.x;
  float sum = 0;
  sum += weights[shift];
  sum += weights[lane / 4];
  sum += element(weights, lane);
  sum += steps[lane & 1];
  sum += plain[lane];
  if (lane < 8) sum += weights[lane & 3];
  out[lane] = sum;
}

int main() {
  float* out;
  cudaMalloc(&out, 32 * sizeof(float));
  float host[64] = {1};
  unsigned short numbers[64] = {2};
  cudaMemcpyToSymbol(weights, host, sizeof host);
  cudaMemcpyToSymbol(steps, numbers, sizeof numbers);
  reads<<<1, 32>>>(out, 3);
  return cudaDeviceSynchronize() != cudaSuccess;
}
