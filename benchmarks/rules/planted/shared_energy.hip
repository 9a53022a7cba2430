// Energy of each of few kinds of particles: floats added in LDS by all threads, then to the grid's sums.
//// both
#include "hip_support.h"
constexpr int kCount = 1 << 23, kKinds = 4;
//// planted
__global__ void energies(const float* speed, const unsigned char* kind, float* sums, int count) {
  __shared__ float mine[kKinds];
  if (threadIdx.x < kKinds) mine[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(&mine[kind[i]], 0.5f * speed[i] * speed[i]);
  __syncthreads();
  if (threadIdx.x < kKinds) atomicAdd(&sums[threadIdx.x], mine[threadIdx.x]);
}
void launch(const float* speed, const unsigned char* kind, float* sums) {
  energies<<<(kCount + 255) / 256, 256>>>(speed, kind, sums, kCount);
}
//// expert
__global__ void energies(const float* speed, const unsigned char* kind, float* sums, int count) {
  __shared__ float mine[4][kKinds];
  float held[kKinds] = {};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    for (int k = 0; k < kKinds; ++k) held[k] += kind[i] == k ? 0.5f * speed[i] * speed[i] : 0;
  for (int k = 0; k < kKinds; ++k) {
    for (int step = 32; step; step /= 2) held[k] += __shfl_down(held[k], step);
    if (threadIdx.x % 64 == 0) mine[threadIdx.x / 64][k] = held[k];
  }
  __syncthreads();
  if (threadIdx.x >= kKinds) return;
  float sum = 0;
  for (int wave = 0; wave < 4; ++wave) sum += mine[wave][threadIdx.x];
  atomicAdd(&sums[threadIdx.x], sum);
}
void launch(const float* speed, const unsigned char* kind, float* sums) {
  energies<<<608, 256>>>(speed, kind, sums, kCount);
}
//// both
int main() {
  const auto speed = noises(kCount);
  std::vector<unsigned char> kind(kCount);
  double expected[kKinds] = {};
  for (int i = 0; i < kCount; ++i) {
    kind[i] = (i * 7 + i / 3) % kKinds;
    expected[kind[i]] += 0.5 * speed[i] * speed[i];
  }
  float* sums = zeros<float>(kKinds);
  launch(upload(speed), upload(kind), sums);
  const auto found = download(sums, kKinds);
  bool right = true;
  for (int k = 0; k < kKinds; ++k) right &= near(found[k], expected[k], 2e-3);
  return told(right);
}
