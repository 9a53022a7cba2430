// RMS norm of rows of halves, in place: a thread walks each row twice.
//// both
#include <hip/hip_fp16.h>

#include "hip_support.h"
constexpr int kRows = 1536, kWidth = 768;
//// planted
__global__ void rms_norm(__half* x, const __half* weight, int rows, int width, float eps) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  __half* mine = x + row * width;
  float squares = 0;
  for (int i = 0; i < width; ++i) squares += __half2float(mine[i]) * __half2float(mine[i]);
  float scale = rsqrtf(squares / width + eps);
  for (int i = 0; i < width; ++i)
    mine[i] = __float2half(__half2float(mine[i]) * scale * __half2float(weight[i]));
}
void launch(__half* x, const __half* weight) { rms_norm<<<(kRows + 63) / 64, 64>>>(x, weight, kRows, kWidth, 1e-5f); }
//// expert
__global__ void rms_norm(__half* x, const __half* weight, int rows, int width, float eps) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 64, lane = threadIdx.x % 64;
  if (row >= rows) return;
  __half* mine = x + row * width;
  float squares = 0;
  for (int i = lane; i < width; i += 64) squares += __half2float(mine[i]) * __half2float(mine[i]);
  for (int step = 32; step; step /= 2) squares += __shfl_xor(squares, step);
  float scale = rsqrtf(squares / width + eps);
  for (int i = lane; i < width; i += 64)
    mine[i] = __float2half(__half2float(mine[i]) * scale * __half2float(weight[i]));
}
void launch(__half* x, const __half* weight) { rms_norm<<<kRows / 4, 256>>>(x, weight, kRows, kWidth, 1e-5f); }
//// both
int main() {
  std::vector<__half> x(kRows * kWidth), weight(kWidth);
  for (size_t i = 0; i < x.size(); ++i) x[i] = __float2half(noise(i) * 4 - 2);
  for (int i = 0; i < kWidth; ++i) weight[i] = __float2half(1 + i % 5 * 0.125f);
  __half* device = upload(x);
  launch(device, upload(weight));
  const auto found = download(device, x.size());
  bool right = true;
  for (int row = 0; row < kRows; row += 41) {
    double squares = 0;
    for (int i = 0; i < kWidth; ++i) squares += std::pow(double(__half2float(x[row * kWidth + i])), 2);
    const double scale = 1 / std::sqrt(squares / kWidth + 1e-5);
    for (int i = 0; i < kWidth; ++i) {
      const double expected = __half2float(x[row * kWidth + i]) * scale * __half2float(weight[i]);
      right &= near(__half2float(found[row * kWidth + i]), expected, 2e-3);
    }
  }
  return told(right);
}
