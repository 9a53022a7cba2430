// expect: race grid no_release_fence
#include "../zoo.h"
__global__ void pass(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      *data = 42;
      __hip_atomic_store(flag, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
  } else if (threadIdx.x == 0) {
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) {}
    *out = *data;
  }
}
int main() { int* out = device<int>(1); pass<<<2, 64>>>(device<int>(1), device<int>(1), out); return finish(out, 1); }
