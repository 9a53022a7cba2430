// The largest of an array: by one atomic per thread, by compare and swap, by warp, by block.
#include "corpus.h"
__global__ void atomic_each(const int* x, int* most, int n) {
  if (INDEX < n) atomicMax(most, x[INDEX]);
}
__global__ void checked_first(const int* x, int* most, int n) {
  if (INDEX < n && x[INDEX] > *(volatile int*)most) atomicMax(most, x[INDEX]);
}
__global__ void swapped(const int* x, int* most, int n) {
  if (INDEX >= n) return;
  int seen = *most;
  while (x[INDEX] > seen) {
    const int before = atomicCAS(most, seen, x[INDEX]);
    if (before == seen) return;
    seen = before;
  }
}
__device__ int warp_max(int value) {
  for (int step = 16; step; step /= 2) value = max(value, __shfl_down_sync(0xFFFFFFFF, value, step));
  return value;
}
__global__ void per_warp(const int* x, int* most, int n) {
  const int value = warp_max(INDEX < n ? x[INDEX] : 0);
  if (threadIdx.x % 32 == 0) atomicMax(most, value);
}
__global__ void per_block(const int* x, int* most, int n) {
  __shared__ int part[8];
  int value = 0;
  for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) value = max(value, x[i]);
  value = warp_max(value);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x) return;
  for (int k = 1; k < 8; ++k) value = max(value, part[k]);
  atomicMax(most, value);
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 18), blocks = (n + 255) / 256;
  const auto values = made<int>(n, [](size_t i) { return noise(unsigned(i)); });
  const int* x = c.input(values);
  int* most = c.output(std::vector<int>{*std::max_element(values.begin(), values.end())});
  c.variant("atomic_each", [&] { atomic_each<<<blocks, 256>>>(x, most, n); });
  c.variant("swapped", [&] { swapped<<<blocks, 256>>>(x, most, n); });
  c.variant("checked_first", [&] { checked_first<<<blocks, 256>>>(x, most, n); });
  c.variant("per_warp", [&] { per_warp<<<blocks, 256>>>(x, most, n); });
  c.variant("per_block", [&] { per_block<<<std::min(blocks, 264), 256>>>(x, most, n); });
  return c.end();
}
