// A 7 × 7 filter over an image that is padded by three.
#include "corpus.h"
__constant__ float kept_filter[49];
__global__ void down(const float* x, const float* f, float* y, int side) {
  int row = blockIdx.x * 16 + threadIdx.x, column = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 7; ++j) sum += x[(row + i) * (side + 6) + column + j] * f[i * 7 + j];
  y[row * side + column] = sum;
}
__global__ void across(const float* x, const float* f, float* y, int side) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 7; ++j) sum += x[(row + i) * (side + 6) + column + j] * f[i * 7 + j];
  y[row * side + column] = sum;
}
__global__ void constant(const float* x, float* y, int side) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 7; ++j) sum += x[(row + i) * (side + 6) + column + j] * kept_filter[i * 7 + j];
  y[row * side + column] = sum;
}
__global__ void tiled(const float* x, float* y, int side) {
  __shared__ float tile[22][23];
  int column = blockIdx.x * 16, row = blockIdx.y * 16;
  for (int k = threadIdx.y * 16 + threadIdx.x; k < 22 * 22; k += 256)
    tile[k / 22][k % 22] = x[(row + k / 22) * (side + 6) + column + k % 22];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 7; ++j) sum += tile[threadIdx.y + i][threadIdx.x + j] * kept_filter[i * 7 + j];
  y[(row + threadIdx.y) * side + column + threadIdx.x] = sum;
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int side = c.argument(0, 512), wide = side + 6;
  const auto values = floats(wide * wide), filter = floats(49, 5);
  CHECK(cudaMemcpyToSymbol(kept_filter, filter.data(), 49 * 4));
  const float *x = c.input(values), *f = c.input(filter);
  float* y = c.output(made<float>(side * side, [&](size_t at) {
    float sum = 0;
    for (int k = 0; k < 49; ++k) sum += values[(at / side + k / 7) * wide + at % side + k % 7] * filter[k];
    return sum;
  }), 1e-4);
  const dim3 block(16, 16), grid(side / 16, side / 16);
  c.variant("down", [&] { down<<<grid, block>>>(x, f, y, side); });
  c.variant("across", [&] { across<<<grid, block>>>(x, f, y, side); });
  c.variant("constant", [&] { constant<<<grid, block>>>(x, y, side); });
  c.variant("tiled", [&] { tiled<<<grid, block>>>(x, y, side); });
  return c.end();
}
