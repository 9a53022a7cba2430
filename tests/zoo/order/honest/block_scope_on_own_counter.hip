// expect: nothing
#include "../zoo.h"
__global__ void count(const int* in, int* counters) {
  __shared__ int own;
  if (threadIdx.x == 0) own = 0;
  __syncthreads();
  __hip_atomic_fetch_add(&own, in[blockIdx.x * 64 + threadIdx.x], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  __hip_atomic_fetch_add(&counters[blockIdx.x], in[threadIdx.x], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&counters[gridDim.x], own);
}
int main() { int* c = device<int>(5); count<<<4, 64>>>(ascending<int>(256), c); return finish(c, 5); }
