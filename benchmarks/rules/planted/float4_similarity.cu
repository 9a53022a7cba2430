// Similarity of descriptors to a query: descriptors of float4, a thread for each.
//// both
#include "cuda_support.h"
constexpr int kDescriptors = 2048, kVectors = 800;
//// planted
__device__ float dot4(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
__global__ void similarity(const float4* descriptors, const float4* query, float* scores, int count) {
  int d = blockIdx.x * blockDim.x + threadIdx.x;
  if (d >= count) return;
  float score = 0;
  for (int v = 0; v < kVectors; ++v) score += dot4(descriptors[d * kVectors + v], query[v]);
  scores[d] = score;
}
void launch(const float4* descriptors, const float4* query, float* scores) {
  similarity<<<(kDescriptors + 127) / 128, 128>>>(descriptors, query, scores, kDescriptors);
}
//// expert
__device__ float dot4(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
__global__ void similarity(const float4* descriptors, const float4* query, float* scores, int count) {
  int d = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (d >= count) return;
  float score = 0;
  for (int v = lane; v < kVectors; v += 32) score += dot4(descriptors[d * kVectors + v], query[v]);
  for (int step = 16; step; step /= 2) score += __shfl_down_sync(~0u, score, step);
  if (lane == 0) scores[d] = score;
}
void launch(const float4* descriptors, const float4* query, float* scores) {
  similarity<<<kDescriptors / 8, 256>>>(descriptors, query, scores, kDescriptors);
}
//// both
int main() {
  const auto flat = noises(size_t(kDescriptors) * kVectors * 4, -1, 1), asked = noises(kVectors * 4);
  std::vector<float4> descriptors(flat.size() / 4), query(kVectors);
  for (size_t i = 0; i < descriptors.size(); ++i)
    descriptors[i] = make_float4(flat[4 * i], flat[4 * i + 1], flat[4 * i + 2], flat[4 * i + 3]);
  for (int i = 0; i < kVectors; ++i)
    query[i] = make_float4(asked[4 * i], asked[4 * i + 1], asked[4 * i + 2], asked[4 * i + 3]);
  float* scores = zeros<float>(kDescriptors);
  launch(upload(descriptors), upload(query), scores);
  const auto found = download(scores, kDescriptors);
  bool right = true;
  for (int d = 0; d < kDescriptors; ++d) {
    double sum = 0;
    for (int k = 0; k < kVectors * 4; ++k) sum += double(flat[size_t(d) * kVectors * 4 + k]) * asked[k];
    right &= near(found[d], sum, 1e-4);
  }
  return told(right);
}
