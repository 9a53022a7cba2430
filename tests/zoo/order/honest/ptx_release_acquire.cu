// expect: nothing
#include "../zoo.h"
__device__ int acquire(int* p) { int v; asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
__device__ void release(int* p, int v) { asm volatile("st.release.gpu.global.s32 [%0], %1;" :: "l"(p), "r"(v) : "memory"); }
__global__ void pass(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      *data = 42;
      release(flag, 1);
    }
  } else if (threadIdx.x == 0) {
    while (acquire(flag) == 0) {}
    *out = *data;
  }
}
int main() { int* out = device<int>(1); pass<<<2, 64>>>(device<int>(1), device<int>(1), out); return finish(out, 1); }
