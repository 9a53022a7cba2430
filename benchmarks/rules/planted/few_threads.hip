// A polynomial over a long vector by four blocks of 64 threads, each with a stretch of its own.
//// both
#include "hip_support.h"
constexpr int kCount = 1 << 19;
//// planted
__global__ void polynomial(const float* x, float* y, int count) {
  int threads = gridDim.x * blockDim.x, each = (count + threads - 1) / threads;
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * each;
  int last = first + each < count ? first + each : count;
  for (int i = first; i < last; ++i) y[i] = ((x[i] * 0.5f - 1.25f) * x[i] + 2.0f) * x[i] - 0.75f;
}
void launch(const float* x, float* y) { polynomial<<<4, 64>>>(x, y, kCount); }
//// expert
__global__ void polynomial(const float* x, float* y, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = ((x[i] * 0.5f - 1.25f) * x[i] + 2.0f) * x[i] - 0.75f;
}
void launch(const float* x, float* y) { polynomial<<<(kCount + 255) / 256, 256>>>(x, y, kCount); }
//// both
int main() {
  const auto x = noises(kCount, -2, 2);
  float* y = zeros<float>(kCount);
  launch(upload(x), y);
  const auto found = download(y, kCount);
  bool right = true;
  for (int i = 0; i < kCount; ++i) {
    const double v = x[i];
    right &= near(found[i], ((v * 0.5 - 1.25) * v + 2) * v - 0.75, 1e-5);
  }
  return told(right);
}
