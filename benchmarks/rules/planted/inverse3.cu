// Inverses of a batch of 3 by 3 matrices that lie one after the other.
//// both
#include "cuda_support.h"
constexpr int kBatch = 1 << 20;
struct Matrix {
  float at[9];
};
__host__ __device__ inline void invert(const float* m, float* r) {
  const float a = m[4] * m[8] - m[5] * m[7], b = m[5] * m[6] - m[3] * m[8], c = m[3] * m[7] - m[4] * m[6];
  const float scale = 1.0f / (m[0] * a + m[1] * b + m[2] * c);
  r[0] = a * scale, r[3] = b * scale, r[6] = c * scale;
  r[1] = (m[2] * m[7] - m[1] * m[8]) * scale;
  r[4] = (m[0] * m[8] - m[2] * m[6]) * scale;
  r[7] = (m[1] * m[6] - m[0] * m[7]) * scale;
  r[2] = (m[1] * m[5] - m[2] * m[4]) * scale;
  r[5] = (m[2] * m[3] - m[0] * m[5]) * scale;
  r[8] = (m[0] * m[4] - m[1] * m[3]) * scale;
}
//// planted
__global__ void inverses(const Matrix* in, Matrix* out, int batch) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= batch) return;
  invert(in[i].at, out[i].at);
}
//// expert
__global__ void inverses(const Matrix* in, Matrix* out, int batch) {
  __shared__ float held[256 * 9];
  const int first = blockIdx.x * 256, count = min(256, batch - first) * 9;
  const float* from = in[first].at;
  for (int k = threadIdx.x; k < count; k += 256) held[k] = from[k];
  __syncthreads();
  float mine[9];
  if (first + threadIdx.x < batch) {
    invert(held + 9 * threadIdx.x, mine);
    for (int k = 0; k < 9; ++k) held[9 * threadIdx.x + k] = mine[k];
  }
  __syncthreads();
  float* to = out[first].at;
  for (int k = threadIdx.x; k < count; k += 256) to[k] = held[k];
}
//// both
int main() {
  std::vector<Matrix> in(kBatch);
  for (int i = 0; i < kBatch; ++i)
    for (int k = 0; k < 9; ++k) in[i].at[k] = noise(i * 9 + k) + (k % 4 == 0 ? 3 : 0);
  Matrix* out = zeros<Matrix>(kBatch);
  inverses<<<(kBatch + 255) / 256, 256>>>(upload(in), out, kBatch);
  const auto found = download(out, kBatch);
  bool right = true;
  for (int i = 0; i < kBatch; i += 13) {
    Matrix expected;
    invert(in[i].at, expected.at);
    for (int k = 0; k < 9; ++k) right &= near(found[i].at[k], expected.at[k], 1e-4);
  }
  return told(right);
}
