// A tiled product of matrices. ./app [m] [n] [k] [kind]
#include "zoo.h"

constexpr int TILE = 16;

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[TILE][TILE], bs[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int t = 0; t < k; t += TILE) {
    as[threadIdx.y][threadIdx.x] = row < m && t + threadIdx.x < k ? a[row * k + t + threadIdx.x] : 0.0f;
    bs[threadIdx.x][threadIdx.y] = t + threadIdx.y < k && column < n ? b[(t + threadIdx.y) * n + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += as[threadIdx.y][i] * bs[threadIdx.x][i];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

int main(int argc, char** argv) {
  const int m = zoo::number(argc, argv, 1, 50), n = zoo::number(argc, argv, 2, 70), k = zoo::number(argc, argv, 3, 48);
  const char* kind = zoo::word(argc, argv, 4, "signed");
  const std::vector<float> a = zoo::floats(m * k, kind, 3), b = zoo::floats(k * n, kind, 4);
  const float *da = zoo::device(a), *db = zoo::device(b);
  float* dc = zoo::device<float>(m * n);
  const dim3 blocks((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
  product<<<blocks, dim3(TILE, TILE)>>>(da, db, dc, m, n, k);
  std::vector<double> exact(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int t = 0; t < k; ++t) exact[i * n + j] += double(a[i * k + t]) * b[t * n + j];
  zoo::check("product", zoo::host(dc, m * n), exact, 1e-4);
  return zoo::failed;
}
