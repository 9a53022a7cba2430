// expect: race grid
#include "../zoo.h"
__global__ void pass(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      data[0] = 42;
      __threadfence();
      atomicExch(flag, 1);
      data[1] = 43;
    }
  } else if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence();
    *out = data[0] + data[1];
  }
}
int main() { int* out = device<int>(1); pass<<<2, 64>>>(device<int>(2), device<int>(1), out); return finish(out, 1); }
