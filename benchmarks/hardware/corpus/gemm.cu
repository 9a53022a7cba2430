// The product of two n × n matrices of floats; n is a multiple of 64.
#include "corpus.h"
__global__ void columns_first(const float* a, const float* b, float* c, int n) {
  int row = blockIdx.x * 16 + threadIdx.x, column = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
__global__ void direct(const float* a, const float* b, float* c, int n) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
__global__ void tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float left[16][16], right[16][16];
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int at = 0; at < n; at += 16) {
    left[threadIdx.y][threadIdx.x] = a[row * n + at + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(at + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
__global__ void in_registers(const float* a, const float* b, float* c, int n) {  // 4 × 4 results per thread
  __shared__ float left[16][65], right[16][64];
  const int thread = threadIdx.y * 16 + threadIdx.x, row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sum[4][4] = {};
  for (int at = 0; at < n; at += 16) {
    for (int k = thread; k < 1024; k += 256) {
      left[k % 16][k / 16] = a[(row + k / 16) * n + at + k % 16];
      right[k / 64][k % 64] = b[(at + k / 64) * n + column + k % 64];
    }
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += left[k][threadIdx.y + 16 * i] * right[k][threadIdx.x + 16 * j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(row + threadIdx.y + 16 * i) * n + column + threadIdx.x + 16 * j] = sum[i][j];
}
int main(int argc, char** argv) {
  Corpus corpus(argc, argv);
  const int n = corpus.argument(0, 128);
  const auto left = floats(n * n), right = floats(n * n, 2);
  const float *a = corpus.input(left), *b = corpus.input(right);
  std::vector<float> product(n * n);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) product[i * n + j] += left[i * n + k] * right[k * n + j];
  float* c = corpus.output(product, 1e-3);
  const dim3 block(16, 16), grid(n / 16, n / 16);
  corpus.variant("columns_first", [&] { columns_first<<<grid, block>>>(a, b, c, n); });
  corpus.variant("direct", [&] { direct<<<grid, block>>>(a, b, c, n); });
  corpus.variant("tiled", [&] { tiled<<<grid, block>>>(a, b, c, n); });
  corpus.variant("in_registers", [&] { in_registers<<<dim3(n / 64, n / 64), block>>>(a, b, c, n); });
  return corpus.end();
}
