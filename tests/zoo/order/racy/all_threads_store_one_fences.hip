// expect: race grid
#include "../zoo.h"
__device__ unsigned int tickets;
__global__ void total(const int* in, int* parts, int* out, int n) {
  __shared__ bool last;
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  parts[i] = in[i] * 3;
  if (t == 0) __threadfence();  // of its own stores only: no barrier before it
  if (t == 0) last = atomicInc(&tickets, gridDim.x) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  int sum = 0;
  for (int k = t; k < n; k += 128) sum += parts[k];
  atomicAdd(out, sum);
}
int main() {
  const int n = 2048;
  int* out = device<int>(1);
  total<<<n / 128, 128>>>(ascending<int>(n), device<int>(n), out, n);
  return finish(out, 1);
}
