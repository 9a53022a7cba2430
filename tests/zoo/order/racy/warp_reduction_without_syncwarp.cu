// expect: race wave
#include "../zoo.h"
__global__ void sum(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 32) {
    s[t] += s[t + 32];
    s[t] += s[(t + 16) % 64];
    s[t] += s[(t + 8) % 64];
  }
  __syncthreads();
  if (t == 0) *out = s[0];
}
int main() { int* out = device<int>(1); sum<<<1, 64>>>(ascending<int>(64), out); return finish(out, 1); }
