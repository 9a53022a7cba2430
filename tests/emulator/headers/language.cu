// CUDA's own ways: 32-lane masks, its own atomicMax of float, half and bfloat16, cooperative groups' reduce.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuComplex.h>
#include <cudaProfiler.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "check.h"

namespace cg = cooperative_groups;

__device__ static float atomicMax(float* address, float value) {
  int* place = reinterpret_cast<int*>(address);
  int seen = *place, old;
  do {
    old = seen;
    seen = atomicCAS(place, old, __float_as_int(fmaxf(value, __int_as_float(old))));
  } while (seen != old);
  return __int_as_float(seen);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
constexpr bool kModern = true;
#endif

// nvcc has these on both sides.
__host__ __device__ float both(float x) { return rsqrtf(x) + sinpif(x) + fminf(x, 1) + max(x, 2.0f); }

__global__ void sides(float* o) { o[0] = both(4.0f); }

__global__ void waves(unsigned* o, float* f, __half2* h, __nv_bfloat16* b) {
  const unsigned t = threadIdx.x;
  __shared__ float tile[32][33];
  tile[t][0] = t;
  __syncwarp();
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  o[t * 8] = __ballot_sync(0xffffffffu, t & 1);
  o[t * 8 + 1] = cg::reduce(warp, t, cg::plus<unsigned>());
  o[t * 8 + 2] = __reduce_max_sync(0xffffffffu, t ^ 5u);
  o[t * 8 + 3] = cg::inclusive_scan(warp, 1u);
  o[t * 8 + 4] = __shfl_xor_sync(0xffffffff, t, 1);
  if (t < 8) o[t * 8 + 5] = __shfl_down_sync(0xffu, t, 1);
  int all;
  o[t * 8 + 6] = __match_all_sync(0xffffffffu, 7, &all) + all;
  o[t * 8 + 7] = __ffsll(t & 0) + (__isShared(&tile[t][0]) & __isClusterShared(&tile[t][0])) + 2 * __isGlobal(o) +
                 (kModern ? 4 : 0);
  atomicMax(f, tile[t][0]);
  atomicAdd(h, __floats2half2_rn(1.0f, 0.5f));
  atomicAdd(b, __float2bfloat16(1.0f));
}

// Tiles of two warps each, two in a block.
__global__ void tiles(unsigned* o) {
  __shared__ cg::block_tile_memory<128> scratch;
  auto block = cg::this_thread_block(scratch);
  const cg::thread_block_tile<64> tile = cg::tiled_partition<64>(block);
  unsigned* mine = o + 4 * tile.meta_group_rank();
  const unsigned sum = cg::reduce(tile, threadIdx.x, cg::plus<unsigned>());
  const unsigned from = tile.shfl(threadIdx.x, 40);
  __shared__ cg::experimental::block_tile_memory<8, 128> older_scratch;  // the same in CUDA 11
  const auto older = cg::experimental::tiled_partition<64>(cg::experimental::this_thread_block(older_scratch));
  const unsigned ranks = cg::reduce(older, older.thread_rank(), cg::plus<unsigned>());
  const int votes = (ranks != 2016) + tile.any(threadIdx.x == 100) + 2 * tile.all(threadIdx.x < 64);
  if (tile.thread_rank() == 33) mine[0] = sum, mine[1] = from, mine[2] = votes, mine[3] = tile.size();
}

struct Shape {
  __device__ virtual int corners() const = 0;
};
struct Square : Shape {
  __device__ int corners() const override { return 4; }
};
__global__ void count_corners(int* made) {
  const Square square;
  const Shape* volatile any = &square;
  *made = any->corners();
}

__global__ void squares(int* made, int count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) made[i] = static_cast<int>(i * i);
}
// Overflow wraps on the host, too, where nobody asked for optimisation.
bool are_squares(const int* made, int count) {
  for (int i = 0; i < count; i += 1)
    if (made[i] != i * i) return false;
  return true;
}

int main() {
  int* made;
  cudaMallocManaged(&made, 100000 * sizeof(int));
  squares<<<391, 256>>>(made, 100000);
  expect(cudaDeviceSynchronize() == cudaSuccess && are_squares(made, 100000), "squares that wrap");
  count_corners<<<1, 1>>>(made);
  expect(cudaDeviceSynchronize() == cudaSuccess && *made == 4, "functions of an abstract class");
  unsigned* o;
  float* f;
  cudaMallocManaged(&o, 4096);
  cudaMallocManaged(&f, 64);
  for (int i = 0; i < 16; ++i) f[i] = 0;
  waves<<<1, 32>>>(o, f, reinterpret_cast<__half2*>(f + 1), reinterpret_cast<__nv_bfloat16*>(f + 2));
  expect(cudaDeviceSynchronize() == cudaSuccess, "kernel");
  expect(cuProfilerStart() == CUDA_SUCCESS && cuProfilerStop() == CUDA_SUCCESS, "the driver's profiler");
  for (unsigned t = 0; t < 32; ++t) {
    const unsigned* m = o + t * 8;
    expect(m[0] == 0xaaaaaaaau, "ballot");
    expect(m[1] == 496, "cg::reduce");
    expect(m[2] == 31, "reduce_max");
    expect(m[3] == t + 1, "cg::inclusive_scan");
    expect(m[4] == (t ^ 1u), "shfl_xor");
    if (t < 8) expect(m[5] == (t < 7 ? t + 1 : t) || t == 7, "shfl_down of some lanes");
    expect(m[6] == 0u, "match_all wraps to zero with its predicate");
    expect(m[7] == 7, "address spaces");
  }
  tiles<<<1, 128>>>(o);
  expect(cudaDeviceSynchronize() == cudaSuccess, "tiles");
  for (unsigned i = 0; i < 2; ++i) {
    expect(o[4 * i] == 2016 + i * 4096, "a sum over two warps");
    expect(o[4 * i + 1] == 40 + i * 64, "a value from the other warp");
    expect(o[4 * i + 2] == (i ? 1 : 2) && o[4 * i + 3] == 64, "votes of two warps");
  }
  expect(f[0] == 31.0f, "the program's own atomicMax");
  const __half2 sums = *reinterpret_cast<__half2*>(f + 1);
  expect(__low2float(sums) == 32.0f && __high2float(sums) == 16.0f, "half2 atomics");
  expect(__bfloat162float(*reinterpret_cast<__nv_bfloat16*>(f + 2)) == 32.0f, "bfloat16 atomics");
  const cuDoubleComplex z = cuCdiv(make_cuDoubleComplex(1, 2), make_cuDoubleComplex(3, -4));
  expect_close(z.x, -0.2, 1e-15, "complex division");
  expect_close(cuCabs(make_cuDoubleComplex(3, 4)), 5, 1e-15, "complex magnitude");
  sides<<<1, 1>>>(f);
  expect(cudaDeviceSynchronize() == cudaSuccess, "sides");
  expect(f[0] == both(4.0f) && f[0] == 5.5f, "functions of both sides");
  expect_close(normcdfinv(0.975), 1.959963984540054, 1e-14, "normcdfinv on the host");
  return verdict();
}
