// expect: race wave lost_update
#include "../zoo.h"
__global__ void count(const int* in, int* bins) {
  __shared__ int own[16];
  const int t = threadIdx.x;
  if (t < 16) own[t] = 0;
  __syncthreads();
  own[in[t] % 16] += 1;
  __syncthreads();
  if (t < 16) bins[t] = own[t];
}
int main() { int* bins = device<int>(16); count<<<1, 64>>>(ascending<int>(64), bins); return finish(bins, 16); }
