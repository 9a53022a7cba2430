// A potential of floats whose powers are functions of doubles.
//// both
#include "hip_support.h"
constexpr int kCount = 1 << 22;
//// planted
__global__ void potential(const float* distance, float* energy, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    float r = distance[i];
    energy[i] = 4.0 * (pow(1.0 / r, 12.0) - pow(1.0 / r, 6.0)) + 0.5 * pow(r, 3.0);
  }
}
//// expert
__global__ void potential(const float* distance, float* energy, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    float r = distance[i], inverse = 1.0f / r, third = inverse * inverse * inverse, sixth = third * third;
    energy[i] = 4.0f * (sixth * sixth - sixth) + 0.5f * r * r * r;
  }
}
//// both
int main() {
  const auto distance = noises(kCount, 1.0f, 2.5f);
  float* energy = zeros<float>(kCount);
  potential<<<(kCount + 255) / 256, 256>>>(upload(distance), energy, kCount);
  const auto found = download(energy, kCount);
  bool right = true;
  for (int i = 0; i < kCount; i += 11) {
    const double r = distance[i];
    right &= near(found[i], 4 * (std::pow(r, -12) - std::pow(r, -6)) + 0.5 * r * r * r, 1e-5);
  }
  return told(right);
}
