// threadIdx, blockIdx, blockDim, gridDim, warpSize. Reading a member calls the target's primitive.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

#define SIMT_COORDINATE(member, value)                                             \
  __declspec(property(get = __read_##member)) unsigned int member;                 \
  SIMT_DT unsigned int __read_##member() const { return value; }
#define SIMT_COORDINATES(type, prefix)                                             \
  struct type {                                                                    \
    SIMT_COORDINATE(x, __simt::prefix##_x())                                       \
    SIMT_COORDINATE(y, __simt::prefix##_y())                                       \
    SIMT_COORDINATE(z, __simt::prefix##_z())                                       \
    SIMT_DT operator dim3() const { return dim3(x, y, z); }                        \
    SIMT_DT operator uint3() const { return uint3{x, y, z}; }                      \
  };

namespace __simt {
SIMT_COORDINATES(thread_index_t, thread_index)
SIMT_COORDINATES(block_index_t, block_index)
SIMT_COORDINATES(block_dim_t, block_dim)
SIMT_COORDINATES(grid_dim_t, grid_dim)

SIMT_D unsigned int block_threads() { return block_dim_x() * block_dim_y() * block_dim_z(); }
SIMT_D unsigned long long block_rank() {
  return (static_cast<unsigned long long>(block_index_z()) * grid_dim_y() + block_index_y()) * grid_dim_x() +
         block_index_x();
}
SIMT_D unsigned long long grid_blocks() {
  return static_cast<unsigned long long>(grid_dim_x()) * grid_dim_y() * grid_dim_z();
}
}  // namespace __simt
#undef SIMT_COORDINATES
#undef SIMT_COORDINATE

extern const __device__ __attribute__((weak)) __simt::thread_index_t threadIdx;
extern const __device__ __attribute__((weak)) __simt::block_index_t blockIdx;
extern const __device__ __attribute__((weak)) __simt::block_dim_t blockDim;
extern const __device__ __attribute__((weak)) __simt::grid_dim_t gridDim;
static constexpr int warpSize = SIMT_WAVE_SIZE;
