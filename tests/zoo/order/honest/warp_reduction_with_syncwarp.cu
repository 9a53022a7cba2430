// expect: nothing
#include "../zoo.h"
__global__ void sum(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 32) {
    for (int k = 32; k > 0; k /= 2) {
      const int other = s[t + k < 64 ? t + k : t];
      __syncwarp();
      s[t] += other;
      __syncwarp();
    }
  }
  __syncthreads();
  if (t == 0) *out = s[0];
}
int main() { int* out = device<int>(1); sum<<<1, 64>>>(ascending<int>(64), out); return finish(out, 1); }
