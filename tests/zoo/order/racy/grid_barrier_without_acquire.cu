// expect: race grid no_acquire_fence
#include "../zoo.h"
__device__ volatile unsigned int arrived;
__global__ void rounds(float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned k = 1; k <= 3; ++k) {
    b[i] = a[i] + k;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(const_cast<unsigned int*>(&arrived), 1u);
      while (arrived < 2 * k * gridDim.x - gridDim.x) {}
    }
    __syncthreads();
    a[i] = b[(i + 128) % n];
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(const_cast<unsigned int*>(&arrived), 1u);
      while (arrived < 2 * k * gridDim.x) {}
      __threadfence();
    }
    __syncthreads();
  }
}
int main() { float* a = ascending<float>(1024); rounds<<<8, 128>>>(a, device<float>(1024), 1024); return finish(a, 1024); }
