// expect: nothing
#include "../zoo.h"
__global__ void pipe(const int* in, int* out, int rounds) {
  __shared__ int box[64];
  __shared__ int full;
  const int t = threadIdx.x;
  if (t == 0) full = 0;
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    if (t < 64) {
      box[t] = in[r * 64 + t];
      __threadfence_block();
      if (t == 0) atomicExch(&full, r + 1);
    }
    if (t >= 64) {
      while (atomicAdd(&full, 0) != r + 1) {}
      __threadfence_block();
      out[r * 64 + t - 64] = box[t - 64];
    }
    __syncthreads();
  }
}
int main() { int* out = device<int>(256); pipe<<<1, 128>>>(ascending<int>(256), out, 4); return finish(out, 256); }
