// expect: uninitialized
#include "../zoo.h"
__global__ void sum(const float* in, float* out) {
  __shared__ float s[256];
  if (threadIdx.x < 200) s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0;
    for (int k = 0; k < 256; ++k) total += s[k];
    *out = total;
  }
}
int main() { float* out = device<float>(1); sum<<<1, 256>>>(ascending<float>(256), out); return finish(out, 1); }
