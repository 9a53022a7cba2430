// A tile without padding.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
#define TILE 32

__global__ void transposeTile(const float* in, float* out, int n) {
  __shared__ float tile[TILE][TILE];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

int main() {
  const int n = 2048;
  std::vector<float> h(n * n);
  for (int i = 0; i < n * n; ++i) h[i] = i % 57;
  float *a, *b;
  hipMalloc(&a, h.size() * 4);
  hipMalloc(&b, h.size() * 4);
  hipMemcpy(a, h.data(), h.size() * 4, hipMemcpyHostToDevice);
  transposeTile<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(a, b, n);
  hipMemcpy(h.data(), b, h.size() * 4, hipMemcpyDeviceToHost);
  double s = 0;
  for (size_t i = 0; i < h.size(); ++i) s += h[i] * (i % 3);
  printf("%.0f\n", s);
}
