// expect: divergent_barrier
#include "../zoo.h"
__global__ void rounds(const int* in, int* out, int n) {
  __shared__ int kept;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    if (in[i] % 3 == 0) continue;
    if (threadIdx.x == 0) kept = i;
    __syncthreads();
    out[threadIdx.x] += kept;
  }
}
int main() { int* out = device<int>(64); rounds<<<1, 64>>>(ascending<int>(640), out, 640); return finish(out, 64); }
