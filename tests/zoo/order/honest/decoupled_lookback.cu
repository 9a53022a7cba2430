// expect: nothing
#include "../zoo.h"
struct alignas(8) Tile { int status, value; };
__global__ void scan(const int* in, int* out, Tile* tiles, unsigned int* ticket) {
  __shared__ int s[256], before;
  __shared__ unsigned int tile;
  if (threadIdx.x == 0) tile = atomicAdd(ticket, 1u);
  __syncthreads();
  const int t = threadIdx.x, i = tile * 256 + t;
  s[t] = in[i];
  __syncthreads();
  for (int k = 1; k < 256; k *= 2) {
    const int v = t >= k ? s[t - k] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  if (t == 0) {
    volatile Tile* all = tiles;
    int sum = 0;
    all[tile].value = s[255];
    __threadfence();
    all[tile].status = 1;
    for (int p = int(tile) - 1; p >= 0; --p) {
      while (all[p].status == 0) {}
      __threadfence();
      sum += all[p].value;
    }
    before = sum;
  }
  __syncthreads();
  out[i] = s[t] + before;
}
int main() { int* out = device<int>(4096); scan<<<16, 256>>>(ascending<int>(4096), out, device<Tile>(16), device<unsigned int>(1)); return finish(out, 4096); }
