// expect: nothing
#include "../zoo.h"
__global__ void meet(unsigned int* arrived, int* out) {
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < gridDim.x) {}
    out[blockIdx.x] = 1;
  }
}
int main() { const int n = 200; int* out = device<int>(n); meet<<<n, 64>>>(device<unsigned int>(1), out); return finish(out, n); }
