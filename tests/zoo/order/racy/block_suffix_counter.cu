// expect: race grid narrow_atomic
#include "../zoo.h"
__global__ void count(const int* in, int* counter) {
  atomicAdd_block(counter, in[blockIdx.x * 64 + threadIdx.x]);
}
int main() { int* c = device<int>(1); count<<<4, 64>>>(ascending<int>(256), c); return finish(c, 1); }
