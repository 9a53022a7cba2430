// expect: nothing
#include "../zoo.h"
__global__ void any(const int* in, int* out) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (in[threadIdx.x] > 3) found = 1;
  __syncthreads();
  if (threadIdx.x == 0) *out = found;
}
int main() { int* out = device<int>(1); any<<<1, 256>>>(ascending<int>(256), out); return finish(out, 1); }
