// Sums over neighbours: 17 in a row, the five of a plane, in two orders of threads.
#include "corpus.h"
__global__ void row_direct(const float* x, float* y, int n) {
  int i = INDEX;
  float sum = 0;
  for (int k = -8; k <= 8; ++k) sum += x[min(max(i + k, 0), n - 1)];
  y[i] = sum;
}
__global__ void row_wrapped(const float* x, float* y, int n) {
  int i = INDEX;
  float sum = 0;
  for (int k = -8; k <= 8; ++k) sum += i + k < 0 || i + k >= n ? x[i + k < 0 ? 0 : n - 1] : x[(i + k + n) % n];
  y[i] = sum;
}
__global__ void row_in_lds(const float* x, float* y, int n) {
  __shared__ float near[256 + 16];
  int i = INDEX;
  for (int k = threadIdx.x; k < 272; k += 256) near[k] = x[min(max(int(blockIdx.x) * 256 + k - 8, 0), n - 1)];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k <= 16; ++k) sum += near[threadIdx.x + k];
  y[i] = sum;
}
__device__ void plane(const float* x, float* y, int side, int row, int column) {
  int above = max(row - 1, 0), below = min(row + 1, side - 1), left = max(column - 1, 0), right = min(column + 1, side - 1);
  float sum = x[above * side + column] + x[below * side + column] + x[row * side + left] + x[row * side + right];
  y[row * side + column] = 4 * x[row * side + column] - sum;
}
__global__ void plane_down(const float* x, float* y, int side) {
  plane(x, y, side, blockIdx.x * 32 + threadIdx.x, blockIdx.y * 8 + threadIdx.y);
}
__global__ void plane_across(const float* x, float* y, int side) {
  plane(x, y, side, blockIdx.y * 8 + threadIdx.y, blockIdx.x * 32 + threadIdx.x);
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int side = c.argument(0, 512), n = side * side;
  const auto values = floats(n);
  const float* x = c.input(values);
  const auto at = [&](int row, int column) {
    return values[std::min(std::max(row, 0), side - 1) * side + std::min(std::max(column, 0), side - 1)];
  };
  const auto in_row = made<float>(n, [&](size_t i) {
    float sum = 0;
    for (int k = -8; k <= 8; ++k) sum += values[std::min(std::max(int(i) + k, 0), n - 1)];
    return sum;
  });
  const auto in_plane = made<float>(n, [&](size_t i) {
    const int row = int(i) / side, column = int(i) % side;
    return 4 * at(row, column) - at(row - 1, column) - at(row + 1, column) - at(row, column - 1) - at(row, column + 1);
  });
  float* y = c.checked<float>(n, [=](const std::vector<float>& found) {
    for (int i = 0; i < n; ++i)
      if (std::abs(found[i] - in_row[i]) > 1e-4 && std::abs(found[i] - in_plane[i]) > 1e-4) return std::to_string(i);
    return std::string();
  });
  c.variant("row_direct", [&] { row_direct<<<n / 256, 256>>>(x, y, n); });
  c.variant("row_wrapped", [&] { row_wrapped<<<n / 256, 256>>>(x, y, n); });
  c.variant("row_in_lds", [&] { row_in_lds<<<n / 256, 256>>>(x, y, n); });
  const dim3 block(32, 8), grid(side / 32, side / 8);
  c.variant("plane_down", [&] { plane_down<<<grid, block>>>(x, y, side); });
  c.variant("plane_across", [&] { plane_across<<<grid, block>>>(x, y, side); });
  return c.end();
}
