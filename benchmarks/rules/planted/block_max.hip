// Largest of many integers: a tree in LDS whose active threads lie further and further apart, an atomic per block.
//// both
#include "hip_support.h"
constexpr int kBlock = 256, kCount = 1 << 23;
//// planted
__global__ void largest(const int* values, int* result, int count) {
  __shared__ int held[kBlock];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  held[threadIdx.x] = i < count ? values[i] : -2147483647;
  __syncthreads();
  for (int step = 1; step < kBlock; step *= 2) {
    if (threadIdx.x % (2 * step) == 0) held[threadIdx.x] = max(held[threadIdx.x], held[threadIdx.x + step]);
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicMax(result, held[0]);
}
void launch(const int* values, int* result) { largest<<<kCount / kBlock, kBlock>>>(values, result, kCount); }
//// expert
__global__ void largest(const int* values, int* result, int count) {
  __shared__ int held[4];
  int best = -2147483647;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    best = max(best, values[i]);
  for (int step = 32; step; step /= 2) best = max(best, __shfl_down(best, step));
  if (threadIdx.x % 64 == 0) held[threadIdx.x / 64] = best;
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(result, max(max(held[0], held[1]), max(held[2], held[3])));
}
void launch(const int* values, int* result) { largest<<<1216, kBlock>>>(values, result, kCount); }
//// both
int main() {
  std::vector<int> values(kCount);
  int expected = 0;
  for (int i = 0; i < kCount; ++i) {
    values[i] = int(noise(i) * 1e9f) - 500000000;
    if (values[i] > expected) expected = values[i];
  }
  int* result = zeros<int>(1);
  launch(upload(values), result);
  return told(download(result, 1)[0] == expected);
}
