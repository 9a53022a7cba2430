#include "transpose.h"

#include <hip/hip_runtime.h>

#include <iostream>

namespace linalg {
namespace {

constexpr int kTile = 32;
constexpr int kRowsPerPass = 8;

// Both global accesses are contiguous; the tile is turned in LDS.
__global__ void transposeTiled(const float* __restrict__ in, float* __restrict__ out, int rows, int columns) {
  __shared__ float tile[kTile][kTile];

  const int column = blockIdx.x * kTile + threadIdx.x;
  const int row = blockIdx.y * kTile + threadIdx.y;
  for (int k = 0; k < kTile; k += kRowsPerPass) {
    if (column < columns && row + k < rows) tile[threadIdx.y + k][threadIdx.x] = in[(row + k) * columns + column];
  }
  __syncthreads();

  const int outColumn = blockIdx.y * kTile + threadIdx.x;
  const int outRow = blockIdx.x * kTile + threadIdx.y;
  for (int k = 0; k < kTile; k += kRowsPerPass) {
    if (outColumn < rows && outRow + k < columns) out[(outRow + k) * rows + outColumn] = tile[threadIdx.x][threadIdx.y + k];
  }
}

bool ok(hipError_t status, const char* step) {
  if (status != hipSuccess) std::cerr << "transpose: " << step << ": " << hipGetErrorString(status) << '\n';
  return status == hipSuccess;
}

}  // namespace

bool transpose(const float* in, float* out, std::size_t rows, std::size_t columns) {
  const std::size_t bytes = rows * columns * sizeof(float);
  float* deviceIn = nullptr;
  float* deviceOut = nullptr;
  bool good = ok(hipMalloc(reinterpret_cast<void**>(&deviceIn), bytes), "allocate") &&
              ok(hipMalloc(reinterpret_cast<void**>(&deviceOut), bytes), "allocate") &&
              ok(hipMemcpy(deviceIn, in, bytes, hipMemcpyHostToDevice), "copy in");
  if (good) {
    const dim3 block(kTile, kRowsPerPass);
    const dim3 grid((columns + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
    hipLaunchKernelGGL(transposeTiled, grid, block, 0, 0, deviceIn, deviceOut, static_cast<int>(rows),
                       static_cast<int>(columns));
    good = ok(hipGetLastError(), "launch") && ok(hipMemcpy(out, deviceOut, bytes, hipMemcpyDeviceToHost), "copy out");
  }
  (void)hipFree(deviceIn);
  (void)hipFree(deviceOut);
  return good;
}

}  // namespace linalg
