// expect: race grid narrow_release_fence
#include "../zoo.h"
__device__ unsigned int tickets;
__global__ void total(const float* in, float* parts, float* out, int n) {
  __shared__ float s[256];
  __shared__ bool last;
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int k = 128; k > 0; k /= 2) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) {
    parts[blockIdx.x] = s[0];
    __threadfence_block();
    last = atomicAdd(&tickets, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && t == 0) {
    float sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += parts[b];
    *out = sum;
  }
}
int main() {
  const int n = 4096;
  float* out = device<float>(1);
  total<<<n / 256, 256>>>(ascending<float>(n), device<float>(n / 256), out, n);
  return finish(out, 1);
}
