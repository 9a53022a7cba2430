// The transpose of an n × n matrix of floats.
#include "corpus.h"
__global__ void writes_apart(const float* a, float* b, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  b[x * n + y] = a[y * n + x];
}
__global__ void reads_apart(const float* a, float* b, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  b[y * n + x] = a[x * n + y];
}
template <int Padding>
__device__ void by_tile(const float* a, float* b, int n) {
  __shared__ float tile[32][32 + Padding];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = a[(y + k) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) b[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}
__global__ void tile_conflicts(const float* a, float* b, int n) { by_tile<0>(a, b, n); }
__global__ void tile_padded(const float* a, float* b, int n) { by_tile<1>(a, b, n); }
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1024);
  const auto values = floats(size_t(n) * n);
  const float* a = c.input(values);
  float* b = c.output(made<float>(size_t(n) * n, [&](size_t i) { return values[i % n * n + i / n]; }));
  const dim3 block(32, 8), lines(n / 32, n / 8), tiles(n / 32, n / 32);
  c.variant("writes_apart", [&] { writes_apart<<<lines, block>>>(a, b, n); });
  c.variant("reads_apart", [&] { reads_apart<<<lines, block>>>(a, b, n); });
  c.variant("tile_conflicts", [&] { tile_conflicts<<<tiles, block>>>(a, b, n); });
  c.variant("tile_padded", [&] { tile_padded<<<tiles, block>>>(a, b, n); });
  return c.end();
}
