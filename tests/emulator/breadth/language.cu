// What CUDA programs of many authors rely on beyond the language's core; each check prints a line if it fails.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <nvfunctional>

#include <cstdio>

#include "helper.h"

namespace cg = cooperative_groups;
static int failures = 0;
#define EXPECT(condition) \
  if (!(condition)) ++failures, std::printf("line %d: %s\n", __LINE__, #condition)

// Managed variables: written by both sides, with and without initial values.
struct Pair {
  int first, second;
};
__managed__ int counters[4] = {1, 2, 3, 4};
__device__ __managed__ Pair pair;
__global__ void use_managed() {
  atomicAdd(&counters[threadIdx.x % 4], 1);
  if (threadIdx.x == 0) pair.second = pair.first * 2;
}

// Warp-aggregated filter: only the leader's value of `base` is ever set.
__device__ int broadcast(unsigned int mask, int value, int leader) { return __shfl_sync(mask, value, leader); }
__global__ void filter(const int* in, int n, int* kept, int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || in[i] <= 0) return;
  const unsigned int active = __activemask();
  const int leader = __ffs(active) - 1;
  const int rank = __popc(active & ((1u << (threadIdx.x % 32)) - 1));
  int base;
  if (rank == 0) base = atomicAdd(count, __popc(active));
  base = broadcast(active, base, leader);
  kept[base + rank] = in[i];
}

// Eight lanes sum while their warp's other lanes take no part: what they would read counts as zero.
__global__ void partial_shuffle(float* out) {
  if (threadIdx.x >= 8) return;
  float sum = 1;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffu, sum, offset);
  if (threadIdx.x == 0) *out = sum;
}

// Two warps that hand buffers to each other, each waiting for the other's arrivals.
using barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void hand_over(const int* in, int* out, int rounds) {
  __shared__ int buffer[2][32];
  __shared__ barrier ready[2], filled[2];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 2) init(&ready[threadIdx.x], 64), init(&filled[threadIdx.x], 64);
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int i = 0; i < rounds; ++i) {
      ready[i % 2].arrive_and_wait();
      buffer[i % 2][lane] = in[i * 32 + lane];
      (void)filled[i % 2].arrive();
    }
  } else {
    (void)ready[0].arrive();
    (void)ready[1].arrive();
    for (int i = 0; i < rounds; ++i) {
      filled[i % 2].arrive_and_wait();
      out[i * 32 + lane] = buffer[i % 2][lane] + 1;
      (void)ready[i % 2].arrive();
    }
  }
}

__device__ int mutex, guarded;
__global__ void with_lock() {
  if (threadIdx.x % 8 != 0) return;
  while (atomicCAS(&mutex, 0, 1) != 0) __nanosleep(32);
  guarded = guarded + 1;
  __threadfence();
  atomicExch(&mutex, 0);
}

__global__ void staged(const int* in, int* out, int stages) {
  __shared__ int buffer[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  for (int next = 0, done = 0; done < stages; ++done) {
    for (; next < stages && next < done + 2; ++next) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, buffer[next % 2], in + next * 64, cuda::aligned_size_t<4>(256), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    out[done * 64 + threadIdx.x] = buffer[done % 2][63 - threadIdx.x];
    pipeline.consumer_release();
  }
}

// The first quarter copies for the others, so that lanes of one warp wait for each other.
__global__ void by_roles(const int* in, int* out, int stages) {
  __shared__ int buffer[2][16];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  const bool copies = threadIdx.x < 16;
  auto pipeline = cuda::make_pipeline(
      block, &state, copies ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  for (int at = 0; at < stages; ++at) {
    if (copies) {
      pipeline.producer_acquire();
      cuda::memcpy_async(&buffer[at % 2][threadIdx.x], in + at * 16 + threadIdx.x, 4, pipeline);
      pipeline.producer_commit();
    } else {
      pipeline.consumer_wait();
      out[at * 48 + threadIdx.x - 16] = buffer[at % 2][15 - threadIdx.x % 16];
      pipeline.consumer_release();
    }
  }
}

// Each group is parted by a size known at run time: the block, a part of it, the lanes that took a branch.
__global__ void parts(int* out) {
  const auto wide = cg::tiled_partition(cg::this_thread_block(), 16);
  const auto narrow = cg::tiled_partition(wide, 4);
  out[threadIdx.x] = narrow.shfl(static_cast<int>(threadIdx.x), 0);
  if (threadIdx.x % 3 == 0) {
    const auto thirds = cg::tiled_partition(cg::coalesced_threads(), 2);
    out[64 + threadIdx.x] = thirds.shfl(static_cast<int>(threadIdx.x), 1) + 100 * thirds.meta_group_rank();
  }
}

// A reduction of the program's own, which that of cooperative_groups/reduce.h would hide.
template <class Group>
__device__ int reduce(Group group, int* values, int value) {
  values[group.thread_rank()] = value;
  group.sync();
  return values[0] + values[group.size() - 1];
}
__global__ void reduce_alone(int* out) {
  auto four = cg::tiled_partition(cg::this_thread_block(), 4);
  out[threadIdx.x] = reduce(four, out + 64 + threadIdx.x / 4 * 4, static_cast<int>(threadIdx.x));
}

__global__ void standard_parts(int* out) {
  static_assert(cuda::std::is_same<cuda::std::tuple_element<0, cuda::std::tuple<int>>::type, int>::value, "");
  const nvstd::function<int(int)> twice = [](int x) { return 2 * x; };
  out[0] = twice(21);
  float4 copyload = *reinterpret_cast<const float4*>(out + 4);  // the name is an opcode's ending
  out[1] = static_cast<int>(copyload.x + copyload.w);
}

int main() {
  int *in, *out, *count;
  cudaMallocManaged(&in, 4096);
  cudaMallocManaged(&out, 4096);
  cudaMallocManaged(&count, 4);

  EXPECT(counters[3] == 4);
  counters[0] = 10, pair.first = 21;
  use_managed<<<1, 64>>>();
  cudaDeviceSynchronize();
  EXPECT(counters[0] == 26 && counters[3] == 20 && pair.second == 42);

  for (int i = 0; i < 1000; ++i) in[i] = i % 3 - 1;
  *count = 0;
  filter<<<4, 256>>>(in, 1000, out, count);
  cudaDeviceSynchronize();
  EXPECT(*count == 333 && out[332] == 1);

  float* sum = reinterpret_cast<float*>(out);
  partial_shuffle<<<1, 32>>>(sum);
  cudaDeviceSynchronize();
  EXPECT(*sum == 8.0f);

  hand_over<<<1, 64>>>(in, out, 8);
  cudaDeviceSynchronize();
  bool same = true;
  for (int i = 0; i < 256; ++i) same &= out[i] == in[i] + 1;
  EXPECT(same);

  with_lock << <4, 64 >> >();
  int total = 0;
  cudaMemcpyFromSymbol(&total, guarded, sizeof total);
  EXPECT(total == 32);

  staged<<<1, 64>>>(in, out, 4);
  cudaDeviceSynchronize();
  EXPECT(out[0] == in[63] && out[255] == in[192]);
  by_roles<<<1, 64>>>(in, out, 5);
  cudaDeviceSynchronize();
  EXPECT(out[0] == in[15] && out[239] == in[64]);
  const cudaMemLocation device = {cudaMemLocationTypeDevice, 0};
  EXPECT(cudaMemPrefetchAsync(out, 4096, device, 0) == cudaSuccess);
  EXPECT(cudaMemAdvise(out, 4096, cudaMemAdviseSetPreferredLocation, device) == cudaSuccess);
  reduce_alone<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  EXPECT(out[0] == 3 && out[63] == 60 + 63);
  int layers = 0;
  EXPECT(cudaDeviceGetAttribute(&layers, cudaDevAttrMaxTexture2DLayeredLayers, 0) == cudaSuccess && layers == 2048);
  parts<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  EXPECT(out[3] == 0 && out[23] == 20 && out[63] == 60);
  EXPECT(out[64] == 3 && out[64 + 6] == 9 + 100 && out[64 + 27] == 27 + 400);

  for (int i = 4; i < 8; ++i) reinterpret_cast<float*>(out)[i] = 1.5f;
  standard_parts<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  EXPECT(out[0] == 42 && out[1] == 3);
  EXPECT(launch_from_header(out) == 7);
  std::printf("%s\n", failures == 0 ? "all good" : "FAILED");
  return failures;
}
