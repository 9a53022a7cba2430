// Offsets of the parts of each block: the first thread adds up the counts of the block, which lie in shared memory.
//// both
#include "cuda_support.h"
constexpr int kBlock = 256, kBlocks = 32768, kCount = kBlock * kBlocks;
//// planted
__global__ void offsets(const int* counts, int* starts, int* totals) {
  __shared__ int held[kBlock];
  int i = blockIdx.x * kBlock + threadIdx.x;
  held[threadIdx.x] = counts[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int k = 0; k < kBlock; ++k) {
      int count = held[k];
      held[k] = sum;
      sum += count;
    }
    totals[blockIdx.x] = sum;
  }
  __syncthreads();
  starts[i] = held[threadIdx.x];
}
//// expert
__global__ void offsets(const int* counts, int* starts, int* totals) {
  __shared__ int sums[kBlock / 32];
  int i = blockIdx.x * kBlock + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int mine = counts[i], value = mine;
  for (int step = 1; step < 32; step *= 2) {
    int other = __shfl_up_sync(~0u, value, step);
    if (lane >= step) value += other;
  }
  if (lane == 31) sums[warp] = value;
  __syncthreads();
  if (warp == 0) {
    int sum = lane < kBlock / 32 ? sums[lane] : 0;
    for (int step = 1; step < kBlock / 32; step *= 2) {
      int other = __shfl_up_sync(~0u, sum, step);
      if (lane >= step) sum += other;
    }
    if (lane < kBlock / 32) sums[lane] = sum;
  }
  __syncthreads();
  value += warp ? sums[warp - 1] : 0;
  starts[i] = value - mine;
  if (threadIdx.x == kBlock - 1) totals[blockIdx.x] = value;
}
//// both
int main() {
  std::vector<int> counts(kCount);
  for (int i = 0; i < kCount; ++i) counts[i] = int(noise(i) * 50);
  int *starts = zeros<int>(kCount), *totals = zeros<int>(kBlocks);
  offsets<<<kBlocks, kBlock>>>(upload(counts), starts, totals);
  const auto found = download(starts, kCount), total = download(totals, kBlocks);
  bool right = true;
  for (int block = 0; block < kBlocks; ++block) {
    int sum = 0;
    for (int k = 0; k < kBlock; ++k) {
      right &= found[block * kBlock + k] == sum;
      sum += counts[block * kBlock + k];
    }
    right &= total[block] == sum;
  }
  return told(right);
}
