// expect: race grid lost_update
#include "../zoo.h"
__global__ void count(const int* in, int* counter) {
  if (threadIdx.x) return;
  const int seen = __hip_atomic_load(counter, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_store(counter, seen + in[blockIdx.x], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
int main() { int* c = device<int>(1); count<<<16, 64>>>(ascending<int>(256), c); return finish(c, 1); }
