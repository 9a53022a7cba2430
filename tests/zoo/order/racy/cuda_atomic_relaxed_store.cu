// expect: race grid no_release_fence
#include "../zoo.h"
#include <cuda/atomic>
__global__ void pass(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      *data = 42;
      cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).store(1, cuda::std::memory_order_relaxed);
    }
  } else if (threadIdx.x == 0) {
    while (cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).load(cuda::std::memory_order_acquire) == 0) {}
    *out = *data;
  }
}
int main() { int* out = device<int>(1); pass<<<2, 64>>>(device<int>(1), device<int>(1), out); return finish(out, 1); }
