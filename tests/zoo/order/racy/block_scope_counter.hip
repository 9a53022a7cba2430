// expect: race grid narrow_atomic
#include "../zoo.h"
__global__ void count(const int* in, int* counter) {
  __hip_atomic_fetch_add(counter, in[blockIdx.x * 64 + threadIdx.x], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}
int main() { int* c = device<int>(1); count<<<4, 64>>>(ascending<int>(256), c); return finish(c, 1); }
