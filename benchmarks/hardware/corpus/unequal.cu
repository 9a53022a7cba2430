// Blocks with unequal work: sums of the rows of a triangle, and of rows of which one is very long.
#include "corpus.h"
__device__ float row_sum(const float* x, int begin, int end) {
  float sum = 0;
  for (int k = begin + threadIdx.x; k < end; k += blockDim.x) sum += x[k];
  return block_sum(sum);
}
__global__ void triangle(const float* x, float* y, int rows) {
  const float sum = row_sum(x, 0, (blockIdx.x + 1) * 16);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
__global__ void triangle_paired(const float* x, float* y, int rows) {  // a short row with a long one
  for (int row : {int(blockIdx.x), rows - 1 - int(blockIdx.x)}) {
    const float sum = row_sum(x, 0, (row + 1) * 16);
    if (threadIdx.x == 0) y[row] = sum;
    __syncthreads();
  }
}
__global__ void one_long(const float* x, float* y, int rows) {
  const float sum = row_sum(x, 0, blockIdx.x == 7 ? rows * 16 : 16);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
__global__ void one_long_shared_out(const float* x, float* y, int rows) {
  const int piece = 16 * ((rows + gridDim.x - 1) / gridDim.x);
  const float sum = row_sum(x, blockIdx.x * piece, min(int(blockIdx.x + 1) * piece, rows * 16));
  if (threadIdx.x == 0) {
    atomicAdd(&y[7], sum);
    if (blockIdx.x != 7) y[blockIdx.x] = 16 * 0.5f;
  }
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int rows = c.argument(0, 2048);
  const float* x = c.input(std::vector<float>(rows * 16, 0.5f));
  float* y = c.checked<float>(rows, [=](const std::vector<float>& found) {
    int right[2] = {};
    for (int i = 0; i < rows; ++i) {
      right[0] += found[i] == (i + 1) * 8;
      right[1] += found[i] == (i == 7 ? rows * 8 : 8);
    }
    return std::max(right[0], right[1]) == rows ? "" : "some row";
  });
  c.variant("triangle", [&] { triangle<<<rows, 128>>>(x, y, rows); });
  c.variant("triangle_paired", [&] { triangle_paired<<<rows / 2, 128>>>(x, y, rows); });
  c.variant("one_long", [&] { one_long<<<rows, 128>>>(x, y, rows); });
  c.variant("one_long_shared_out", [&] { one_long_shared_out<<<rows, 128>>>(x, y, rows); });
  return c.end();
}
