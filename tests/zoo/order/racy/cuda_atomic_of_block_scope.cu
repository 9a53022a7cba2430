// expect: race grid narrow_atomic
#include "../zoo.h"
#include <cuda/atomic>
__global__ void count(const int* in, int* counter) {
  cuda::atomic_ref<int, cuda::thread_scope_block> c(*counter);
  c.fetch_add(in[blockIdx.x * 64 + threadIdx.x], cuda::std::memory_order_relaxed);
}
int main() { int* c = device<int>(1); count<<<4, 64>>>(ascending<int>(256), c); return finish(c, 1); }
