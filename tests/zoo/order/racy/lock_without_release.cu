// expect: race grid
#include "../zoo.h"
__global__ void add(int* lock, int* sum, const int* in) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *sum += in[blockIdx.x];
    atomicExch(lock, 0);
  }
}
int main() { int* sum = device<int>(1); add<<<32, 64>>>(device<int>(1), sum, ascending<int>(32)); return finish(sum, 1); }
