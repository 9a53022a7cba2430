// expect: unacquired grid no_acquire_fence
#include "../zoo.h"
__global__ void running(const int* in, int* out, volatile int* sums, volatile int* totals, volatile int* states) {
  __shared__ int before;
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    states[blockIdx.x] = 1;
    int sum = 0;
    for (int b = int(blockIdx.x) - 1; b >= 0; --b) {
      int state;
      while ((state = states[b]) == 0) {}
      sum += state == 2 ? totals[b] : sums[b];
      if (state == 2) break;
    }
    before = sum;
    totals[blockIdx.x] = sum + in[blockIdx.x];
    __threadfence();
    states[blockIdx.x] = 2;
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = before;
}
int main() {
  int* out = device<int>(40);
  running<<<40, 64>>>(ascending<int>(40), out, device<int>(40), device<int>(40), device<int>(40));
  return finish(out, 40);
}
