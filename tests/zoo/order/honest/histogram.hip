// expect: nothing
#include "../zoo.h"
__global__ void count(const int* in, int* bins, int n) {
  __shared__ int own[64];
  for (int b = threadIdx.x; b < 64; b += blockDim.x) own[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[in[i] & 63], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < 64; b += blockDim.x) atomicAdd(&bins[b], own[b]);
}
int main() { int* bins = device<int>(64); count<<<8, 256>>>(ascending<int>(8192), bins, 8192); return finish(bins, 64); }
