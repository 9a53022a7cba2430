// expect: nothing
#include "../zoo.h"
__global__ void sum(const float* in, float* out) {
  float v = in[blockIdx.x * 256 + threadIdx.x];
  __shared__ float parts[8];
  for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(0xffffffffu, v, k);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0;
    for (int w = 0; w < 8; ++w) total += parts[w];
    atomicAdd(out, total);
  }
}
int main() { float* out = device<float>(1); sum<<<8, 256>>>(ascending<float>(2048), out); return finish(out, 1); }
