// expect: race wave
#include "../zoo.h"
__global__ void sum(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = in[t];  // counts on 64 lanes in step: the upper half has stored before the lower half reads
  if (t < 32) out[t] = s[t] + s[t + 32];
}
int main() {
  int* out = device<int>(32);
  sum<<<1, 64>>>(ascending<int>(64), out);
  return finish(out, 32);
}
