// Total and largest of a vector by one thread that keeps both in memory.
//// both
#include "hip_support.h"
constexpr int kCount = 20000;
//// planted
__global__ void totals(const float* values, float* result, int count) {
  result[0] = 0;
  result[1] = values[0];
  for (int i = 0; i < count; ++i) {
    result[0] += values[i];
    if (values[i] > result[1]) result[1] = values[i];
  }
}
void launch(const float* values, float* result) { totals<<<1, 1>>>(values, result, kCount); }
//// expert
__global__ void totals(const float* values, float* result, int count) {
  __shared__ float sums[16], largest[16];
  float sum = 0, most = values[0];
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    sum += values[i];
    most = fmaxf(most, values[i]);
  }
  for (int step = 32; step; step /= 2) {
    sum += __shfl_down(sum, step);
    most = fmaxf(most, __shfl_down(most, step));
  }
  if (threadIdx.x % 64 == 0) sums[threadIdx.x / 64] = sum, largest[threadIdx.x / 64] = most;
  __syncthreads();
  if (threadIdx.x) return;
  for (int wave = 1; wave < 16; ++wave) {
    sum += sums[wave];
    most = fmaxf(most, largest[wave]);
  }
  result[0] = sum;
  result[1] = most;
}
void launch(const float* values, float* result) { totals<<<1, 1024>>>(values, result, kCount); }
//// both
int main() {
  const auto values = noises(kCount, -1, 2);
  double sum = 0, most = values[0];
  for (float value : values) {
    sum += value;
    if (value > most) most = value;
  }
  float* result = zeros<float>(2);
  launch(upload(values), result);
  const auto found = download(result, 2);
  return told(near(found[0], sum, 1e-3) && found[1] == float(most));
}
