// Matrix products of a warp, in the layouts that kernels load their factors in.
#include <mma.h>

#include "check.h"

using namespace nvcuda;

template <class LayoutA, class LayoutB>
__global__ void multiply(const half* a, const half* b, float* c, int n) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, LayoutA> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, LayoutB> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 1.0f);
  wmma::load_matrix_sync(left, a, n);
  wmma::load_matrix_sync(right, b, n);
  wmma::mma_sync(sum, left, right, sum);
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] *= 2;
  wmma::store_matrix_sync(c, sum, n, wmma::mem_row_major);
}

template <class LayoutA, class LayoutB>
void try_layouts(bool a_by_rows, bool b_by_rows, const char* name) {
  constexpr int n = 16;
  half host_a[n * n], host_b[n * n], *a, *b;
  float host_c[n * n], *c;
  for (int i = 0; i < n * n; ++i) host_a[i] = __float2half(i % 5), host_b[i] = __float2half(i % 7);
  cudaMalloc(&a, sizeof host_a);
  cudaMalloc(&b, sizeof host_b);
  cudaMalloc(&c, sizeof host_c);
  cudaMemcpy(a, host_a, sizeof host_a, cudaMemcpyHostToDevice);
  cudaMemcpy(b, host_b, sizeof host_b, cudaMemcpyHostToDevice);
  multiply<LayoutA, LayoutB><<<1, 32>>>(a, b, c, n);
  cudaMemcpy(host_c, c, sizeof host_c, cudaMemcpyDeviceToHost);
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column) {
      int sum = 1;
      for (int k = 0; k < n; ++k)
        sum += (a_by_rows ? row * n + k : k * n + row) % 5 * ((b_by_rows ? k * n + column : column * n + k) % 7);
      expect(host_c[row * n + column] == 2.0f * static_cast<float>(sum), name);
    }
}

int main() {
  try_layouts<wmma::row_major, wmma::col_major>(true, false, "row by column");
  try_layouts<wmma::col_major, wmma::row_major>(false, true, "column by row");
  return verdict();
}
