// expect: nothing
#include "../zoo.h"
__global__ void pass(int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      *data = 42;
      __threadfence();
      *flag = 1;
    }
  } else if (threadIdx.x == 0) {
    while (*flag == 0) {}
    __threadfence();
    *out = *data;
  }
}
int main() { int* out = device<int>(1); pass<<<2, 64>>>(device<int>(1), device<int>(1), out); return finish(out, 1); }
