// Inner product of two vectors of doubles, one atomic of the grid for each product.
//// both
#include "cuda_support.h"
constexpr int kCount = 300000;
//// planted
__global__ void dot(const double* a, const double* b, double* sum, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(sum, a[i] * b[i]);
}
void launch(const double* a, const double* b, double* sum) {
  dot<<<(kCount + 255) / 256, 256>>>(a, b, sum, kCount);
}
//// expert
__global__ void dot(const double* a, const double* b, double* sum, int count) {
  __shared__ double parts[8];
  double mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) mine += a[i] * b[i];
  for (int step = 16; step; step /= 2) mine += __shfl_down_sync(~0u, mine, step);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x) return;
  for (int k = 1; k < 8; ++k) mine += parts[k];
  atomicAdd(sum, mine);
}
void launch(const double* a, const double* b, double* sum) { dot<<<264, 256>>>(a, b, sum, kCount); }
//// both
int main() {
  std::vector<double> a(kCount), b(kCount);
  double expected = 0;
  for (int i = 0; i < kCount; ++i) {
    a[i] = noise(i);
    b[i] = noise(i + 7) - 0.25;
    expected += a[i] * b[i];
  }
  double* sum = zeros<double>(1);
  launch(upload(a), upload(b), sum);
  return told(near(download(sum, 1)[0], expected, 1e-9));
}
