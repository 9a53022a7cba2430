#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

constexpr int kTile = 32;

// Neighbouring threads walk down columns of a tile, each in an order of its own round.
__global__ void columns(const float* in, float* out, int rounds) {
  __shared__ float tile[kTile][kTile];
  for (int k = threadIdx.y; k < kTile; k += 8) tile[k][threadIdx.x] = in[(blockIdx.x * kTile + k) * kTile + threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int r = 0; r < rounds; ++r) sum = sum * 0.5f + tile[threadIdx.x][(threadIdx.y + r * 5) % kTile];
  out[(blockIdx.x * 8 + threadIdx.y) * kTile + threadIdx.x] = sum;
}

int main() {
  const int blocks = 110, n = blocks * kTile * kTile;
  std::vector<float> host(n), sums(blocks * 8 * kTile);
  for (int i = 0; i < n; ++i) host[i] = static_cast<float>(i % 37);
  float *in, *out;
  if (hipMalloc(reinterpret_cast<void**>(&in), n * sizeof(float)) != hipSuccess) return 1;
  if (hipMalloc(reinterpret_cast<void**>(&out), sums.size() * sizeof(float)) != hipSuccess) return 1;
  if (hipMemcpy(in, host.data(), n * sizeof(float), hipMemcpyHostToDevice) != hipSuccess) return 1;
  columns<<<blocks, dim3(kTile, 8)>>>(in, out, 20);
  if (hipMemcpy(sums.data(), out, sums.size() * sizeof(float), hipMemcpyDeviceToHost) != hipSuccess) return 1;
  std::printf("%.1f\n", sums[65]);
}
