// expect: nothing
#include "../zoo.h"
__global__ void add(int* lock, int* sum, const int* in) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *sum += in[threadIdx.x];
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}
int main() {
  int* sum = device<int>(1);
  add<<<4, 64>>>(device<int>(1), sum, ascending<int>(64));
  return finish(sum, 1);
}
