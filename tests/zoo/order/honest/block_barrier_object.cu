// expect: nothing
#include "../zoo.h"
#include <cuda/barrier>
__global__ void pipe(const int* in, int* out) {
  __shared__ int s[128];
  __shared__ cuda::barrier<cuda::thread_scope_block> ready;
  if (threadIdx.x == 0) init(&ready, blockDim.x);
  __syncthreads();
  for (int r = 0; r < 3; ++r) {
    s[threadIdx.x] = in[threadIdx.x] + r;
    ready.arrive_and_wait();
    out[threadIdx.x] = s[127 - threadIdx.x];
    ready.arrive_and_wait();
  }
}
int main() { int* out = device<int>(128); pipe<<<1, 128>>>(ascending<int>(128), out); return finish(out, 128); }
