// expect: race grid no_release_fence
#include "../zoo.h"
__global__ void pass(volatile int* sent, volatile int* flag, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *sent = 42;
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    out[0] = *sent;
  }
}
int main() {
  int *sent = device<int>(1), *flag = device<int>(1), *out = device<int>(1);
  pass<<<2, 32>>>(sent, flag, out);
  return finish(out, 1);
}
