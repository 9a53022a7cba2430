// Rounds of reads of a block's LDS in patterns with more or fewer bank conflicts; the sum is the same for all.
#include "corpus.h"
template <int Width, int Stride>
__device__ void rounds_of(const float* x, float* y, int rounds) {
  __shared__ float own[32 * 33];
  for (int k = threadIdx.x; k < 32 * 33; k += 256) own[k] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < 1024; k += 256) own[k / 32 * Width + k % 32] = x[k];
  __syncthreads();
  float sum = 0;
  const int lane = threadIdx.x % 32;
  for (int k = 0; k < rounds; ++k) sum += own[Stride == 1 ? k % 32 * Width + lane : lane * Width + k % 32];
  y[INDEX] = sum;
}
__global__ void by_columns(const float* x, float* y, int rounds) { rounds_of<32, 0>(x, y, rounds); }
__global__ void by_columns_padded(const float* x, float* y, int rounds) { rounds_of<33, 0>(x, y, rounds); }
__global__ void by_rows(const float* x, float* y, int rounds) { rounds_of<32, 1>(x, y, rounds); }
__global__ void records(const float* x, float* y, int rounds) {  // of 24 bytes: two-way conflicts
  __shared__ float own[256 * 6];
  for (int k = 0; k < 6; ++k) own[threadIdx.x * 6 + k] = x[(threadIdx.x * 6 + k) % 1024];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < rounds; ++k) sum += own[(threadIdx.x + k) % 256 * 6];
  y[INDEX] = sum;
}
__global__ void fields(const float* x, float* y, int rounds) {
  __shared__ float own[6][256];
  for (int k = 0; k < 6; ++k) own[k][threadIdx.x] = x[(threadIdx.x * 6 + k) % 1024];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < rounds; ++k) sum += own[0][(threadIdx.x + k) % 256];
  y[INDEX] = sum;
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int blocks = c.argument(0, 512), rounds = c.argument(1, 128);
  const auto values = std::vector<float>(1024, 0.5f);
  const float* x = c.input(values);
  float* y = c.output(std::vector<float>(blocks * 256, 0.5f * rounds), 1e-5);
  c.variant("by_columns", [&] { by_columns<<<blocks, 256>>>(x, y, rounds); });
  c.variant("by_columns_padded", [&] { by_columns_padded<<<blocks, 256>>>(x, y, rounds); });
  c.variant("by_rows", [&] { by_rows<<<blocks, 256>>>(x, y, rounds); });
  c.variant("records", [&] { records<<<blocks, 256>>>(x, y, rounds); });
  c.variant("fields", [&] { fields<<<blocks, 256>>>(x, y, rounds); });
  return c.end();
}
