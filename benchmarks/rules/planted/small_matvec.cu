// A batch of products of 16 by 16 matrices with vectors, one thread for each.
//// both
#include "cuda_support.h"
constexpr int kBatch = 3 << 14, kSize = 16;
//// planted
__global__ void multiply(const float* matrices, const float* vectors, float* products, int batch) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= batch) return;
  const float* m = matrices + b * kSize * kSize;
  const float* v = vectors + b * kSize;
  for (int i = 0; i < kSize; ++i) {
    float sum = 0;
    for (int j = 0; j < kSize; ++j) sum += m[i * kSize + j] * v[j];
    products[b * kSize + i] = sum;
  }
}
void launch(const float* matrices, const float* vectors, float* products) {
  multiply<<<kBatch / 128, 128>>>(matrices, vectors, products, kBatch);
}
//// expert
__global__ void multiply(const float* matrices, const float* vectors, float* products, int batch) {
  int at = blockIdx.x * blockDim.x + threadIdx.x, row = at / 4, part = at % 4;
  if (row >= batch * kSize) return;
  float4 m = reinterpret_cast<const float4*>(matrices)[at];
  float4 v = reinterpret_cast<const float4*>(vectors)[row / kSize * 4 + part];
  float sum = m.x * v.x + m.y * v.y + m.z * v.z + m.w * v.w;
  sum += __shfl_xor_sync(~0u, sum, 1);
  sum += __shfl_xor_sync(~0u, sum, 2);
  if (part == 0) products[row] = sum;
}
void launch(const float* matrices, const float* vectors, float* products) {
  multiply<<<kBatch * kSize * 4 / 256, 256>>>(matrices, vectors, products, kBatch);
}
//// both
int main() {
  const auto matrices = noises(size_t(kBatch) * kSize * kSize, -1, 1), vectors = noises(size_t(kBatch) * kSize);
  float* products = zeros<float>(kBatch * kSize);
  launch(upload(matrices), upload(vectors), products);
  const auto found = download(products, kBatch * kSize);
  bool right = true;
  for (int row = 0; row < kBatch * kSize; row += 7) {
    double sum = 0;
    for (int j = 0; j < kSize; ++j) sum += matrices[size_t(row) * kSize + j] * vectors[row / kSize * kSize + j];
    right &= near(found[row], sum, 1e-4);
  }
  return told(right);
}
