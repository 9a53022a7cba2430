// Mean and deviation of each row, gathered in an object that member functions change.
//// both
#include "cuda_support.h"
constexpr int kRows = 1024, kWidth = 2100;
struct Moments {
  float sum = 0, squares = 0;
  int count = 0;
  __device__ void add(const float& value) {
    sum += value;
    squares += value * value;
    ++count;
  }
  __device__ float mean() const { return sum / count; }
  __device__ float deviation() const { return sqrtf(fmaxf(squares / count - mean() * mean(), 0.0f)); }
};
//// planted
__global__ void moments(const float* values, float* means, float* deviations, int rows, int width) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    Moments all;
    for (int i = 0; i < width; i++) all.add(values[row * width + i]);
    means[row] = all.mean();
    deviations[row] = all.deviation();
  }
}
void launch(const float* values, float* means, float* deviations) {
  moments<<<(kRows + 127) / 128, 128>>>(values, means, deviations, kRows, kWidth);
}
//// expert
__global__ void moments(const float* values, float* means, float* deviations, int rows, int width) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row < rows) {
    Moments all;
    for (int i = lane; i < width; i += 32) all.add(values[row * width + i]);
    for (int step = 16; step; step /= 2) {
      all.sum += __shfl_xor_sync(~0u, all.sum, step);
      all.squares += __shfl_xor_sync(~0u, all.squares, step);
      all.count += __shfl_xor_sync(~0u, all.count, step);
    }
    if (lane) return;
    means[row] = all.mean();
    deviations[row] = all.deviation();
  }
}
void launch(const float* values, float* means, float* deviations) {
  moments<<<kRows / 8, 256>>>(values, means, deviations, kRows, kWidth);
}
//// both
int main() {
  const auto values = noises(size_t(kRows) * kWidth, -1, 3);
  float *means = zeros<float>(kRows), *deviations = zeros<float>(kRows);
  launch(upload(values), means, deviations);
  const auto mean = download(means, kRows), deviation = download(deviations, kRows);
  bool right = true;
  for (int row = 0; row < kRows; ++row) {
    double sum = 0, squares = 0;
    for (int i = 0; i < kWidth; ++i) {
      sum += values[row * kWidth + i];
      squares += double(values[row * kWidth + i]) * values[row * kWidth + i];
    }
    sum /= kWidth;
    right &= near(mean[row], sum, 1e-4) && near(deviation[row], std::sqrt(squares / kWidth - sum * sum), 1e-3);
  }
  return told(right);
}
