// Sums of the columns of a tile in LDS, over and over, without padding.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
#define TILE 32

__global__ void relax(const float* in, float* out, int rounds) {
  __shared__ float tile[TILE * 8][TILE];
  int t = threadIdx.x;
  int base = blockIdx.x * TILE * 8 * TILE;
  for (int k = 0; k < TILE; ++k) tile[(k * 256 + t) / TILE][t % TILE] = in[base + k * 256 + t];
  __syncthreads();
  float sum = 0;
  for (int r = 0; r < rounds; ++r)
    for (int k = 0; k < TILE; ++k) sum = 0.5f * sum + tile[t][k];
  out[blockIdx.x * 256 + t] = sum;
}

int main() {
  const int blocks = 512, n = blocks * TILE * 8 * TILE;
  std::vector<float> h(n);
  for (int i = 0; i < n; ++i) h[i] = i % 57;
  float *a, *b;
  hipMalloc(&a, n * 4);
  hipMalloc(&b, blocks * 256 * 4);
  hipMemcpy(a, h.data(), n * 4, hipMemcpyHostToDevice);
  relax<<<blocks, 256>>>(a, b, 8);
  hipMemcpy(h.data(), b, blocks * 256 * 4, hipMemcpyDeviceToHost);
  double s = 0;
  for (int i = 0; i < blocks * 256; ++i) s += h[i];
  printf("%.0f\n", s);
}
