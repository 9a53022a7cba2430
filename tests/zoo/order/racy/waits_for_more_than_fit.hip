// expect: deadlock
#include "../zoo.h"
__global__ void meet(unsigned int* arrived, int* out) {
  __shared__ char all[60000];
  all[threadIdx.x] = 1;
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < gridDim.x) {}
    out[blockIdx.x] = all[0];
  }
}
int main() { const int n = 512; int* out = device<int>(n); meet<<<n, 64>>>(device<unsigned int>(1), out); return finish(out, n); }
