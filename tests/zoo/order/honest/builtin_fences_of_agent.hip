// expect: nothing
#include "../zoo.h"
__global__ void pass(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      *data = 42;
      __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
      __hip_atomic_store(flag, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
  } else if (threadIdx.x == 0) {
    while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0) {}
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    *out = *data;
  }
}
int main() { int* out = device<int>(1); pass<<<2, 64>>>(device<int>(1), device<int>(1), out); return finish(out, 1); }
