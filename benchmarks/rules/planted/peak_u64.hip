// Highest sample of a recording and where it is: value and place packed into 64 bits, raised by a wrapper.
//// both
#include "hip_support.h"
constexpr int kCount = 1 << 22;
typedef unsigned long long u64;
__host__ __device__ inline u64 packed(unsigned value, unsigned place) { return (u64(value) << 32) | place; }
//// planted
__device__ void raise(u64* peak, u64 candidate) { atomicMax(peak, candidate); }
__global__ void find_peak(const unsigned* samples, u64* peak, unsigned count) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  raise(peak, packed(samples[i], i));
}
void launch(const unsigned* samples, u64* peak) { find_peak<<<kCount / 256, 256>>>(samples, peak, kCount); }
//// expert
__global__ void find_peak(const unsigned* samples, u64* peak, unsigned count) {
  __shared__ u64 parts[4];
  u64 best = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    u64 candidate = packed(samples[i], i);
    if (candidate > best) best = candidate;
  }
  for (int step = 32; step; step /= 2) {
    u64 other = __shfl_down(best, step);
    if (other > best) best = other;
  }
  if (threadIdx.x % 64 == 0) parts[threadIdx.x / 64] = best;
  __syncthreads();
  if (threadIdx.x) return;
  for (int k = 1; k < 4; ++k)
    if (parts[k] > best) best = parts[k];
  atomicMax(peak, best);
}
void launch(const unsigned* samples, u64* peak) { find_peak<<<304, 256>>>(samples, peak, kCount); }
//// both
int main() {
  std::vector<unsigned> samples(kCount);
  u64 expected = 0;
  for (int i = 0; i < kCount; ++i) {
    samples[i] = unsigned(noise(i) * 1e9f);
    if (packed(samples[i], i) > expected) expected = packed(samples[i], i);
  }
  u64* peak = zeros<u64>(1);
  launch(upload(samples), peak);
  return told(download(peak, 1)[0] == expected);
}
