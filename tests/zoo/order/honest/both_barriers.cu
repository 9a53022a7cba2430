// expect: nothing
#include "../zoo.h"
__global__ void shift(const int* in, int* out, int rounds) {
  __shared__ int s[256];
  int v = in[threadIdx.x];
  for (int r = 0; r < rounds; ++r) {
    s[threadIdx.x] = v;
    __syncthreads();
    v += s[(threadIdx.x + 64) % 256];
    __syncthreads();
  }
  out[threadIdx.x] = v;
}
int main() { int* out = device<int>(256); shift<<<1, 256>>>(ascending<int>(256), out, 3); return finish(out, 256); }
