// expect: nothing
#include "../zoo.h"
__device__ int ticket;
__global__ void running(const int* in, int* out, volatile int* sums, volatile int* totals, volatile int* states) {
  __shared__ int block, before;
  if (threadIdx.x == 0) {
    block = atomicAdd(&ticket, 1);
    sums[block] = in[block];
    __threadfence();
    states[block] = 1;
    int sum = 0;
    for (int b = block - 1; b >= 0; --b) {
      int state;
      while ((state = states[b]) == 0) {}
      __threadfence();
      sum += state == 2 ? totals[b] : sums[b];
      if (state == 2) break;
    }
    before = sum;
    totals[block] = sum + in[block];
    __threadfence();
    states[block] = 2;
  }
  __syncthreads();
  if (threadIdx.x == 0) out[block] = before;
}
int main() {
  int* out = device<int>(40);
  running<<<40, 64>>>(ascending<int>(40), out, device<int>(40), device<int>(40), device<int>(40));
  return finish(out, 40);
}
