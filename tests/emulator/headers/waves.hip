// Written for 64 lanes.
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_runtime.h>

#include <cstring>

#include "check.h"

namespace cg = cooperative_groups;
using u64 = unsigned long long;
struct Wide { double a; int b; float c; };

__global__ void shuffles(u64* o) {
  const int lane = threadIdx.x;
  u64* mine = o + lane * 16;
  mine[0] = __shfl(lane, 5);
  mine[1] = __shfl_up(lane, 3);
  mine[2] = __shfl_down(lane, 3, 16);
  mine[3] = __shfl_xor(lane, 32);
  mine[4] = __ballot(lane % 3 == 0);
  mine[5] = __any(lane == 63) + 2 * __all(lane < 64) + 4 * __all(lane < 63);
  mine[6] = __match_any_sync(~0ull, lane / 7);
  Wide w{lane * 0.5, lane, lane + 1.0f};
  w = __shfl(w, 9);
  mine[7] = w.a == 4.5 && w.b == 9 && w.c == 10.0f;
  mine[8] = 0;
  if (lane >= 40) mine[8] = __activemask();
  mine[9] = __reduce_add_sync(~0ull, lane);
  mine[10] = __builtin_amdgcn_readfirstlane(lane + 100);
  mine[11] = __builtin_amdgcn_ds_bpermute(4 * (63 - lane), lane);
  mine[12] = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
  mine[13] = __builtin_amdgcn_update_dpp(-1, lane, 0x111, 0xf, 0xf, false);  // row_shr:1
  mine[14] = __lane_id() + 1000u * (warpSize == 64);
  if (lane % 2)  // lanes 1, 3, 5, …
    mine[14] += __popcll(__lanemask_lt()) != lane / 2 || __lanemask_eq() >> lane != 1 ||
                __popcll(__lanemask_gt()) != 31 - lane / 2;
}

__global__ void tiles(int* o) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  const int t = threadIdx.x;
  int v = t;
  for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
  if (tile.thread_rank() == 0) o[tile.meta_group_rank()] = v;
  o[8 + t] = __popcll(tile.ballot(t % 2));
  if (t % 4 == 1) {
    auto active = cg::coalesced_threads();
    o[136 + t] = active.size() * 100 + active.thread_rank();
  }
  block.sync();
  o[264 + t] = __syncthreads_count(t % 3 == 0) + (__syncthreads_or(t == 99) << 8) + (__syncthreads_and(t < 99) << 9);
}

__global__ void atomics(int* i, unsigned* u, u64* l, float* f, double* d) {
  const int t = threadIdx.x;
  atomicAdd(&i[0], t);
  atomicMax(&i[1], t);
  atomicMin(&i[2], -t);
  atomicSub(&i[3], 1);
  atomicXor(&i[4], t);
  atomicInc(&u[0], 9u);
  atomicDec(&u[1], 9u);
  atomicOr(&u[2], 1u << (t % 32));
  atomicAdd(&l[0], (u64)t);
  atomicMax(&l[1], (u64)t << 40);
  atomicAdd(&f[0], 0.5f);
  atomicMax(&f[1], (float)t);
  atomicAdd(&d[0], 0.25);
  unsafeAtomicAdd(&f[2], 1.0f);
  __hip_atomic_fetch_add(&i[5], 2, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  int seen = i[6], old;
  do {
    old = seen;
    seen = atomicCAS(&i[6], old, old + 3);
  } while (seen != old);
  atomicAdd_system(&i[7], 1);
}

__global__ void heap(int* o) {
  int* p = new int[8];
  memset(p, 0, 32);
  p[3] = threadIdx.x;
  int q[8];
  memcpy(q, p, sizeof(q));
  delete[] p;
  o[threadIdx.x] = q[3] + q[4];
  if (threadIdx.x == 0) printf("device says %d %.2f %s %llu\n", 7, 1.5f, "text", 1ull << 40);
}

int main() {
  u64* o;
  (void)hipMallocManaged(&o, 64 * 16 * 8);
  shuffles<<<1, 64>>>(o);
  expect(hipDeviceSynchronize() == hipSuccess, "shuffles");
  u64 thirds = 0;
  for (int i = 0; i < 64; i += 3) thirds |= 1ull << i;
  for (int i = 0; i < 64; ++i) {
    const u64* m = o + i * 16;
    u64 same = 0;
    for (int j = 0; j < 64; ++j) same |= (u64)(j / 7 == i / 7) << j;
    expect(m[0] == 5, "shfl");
    expect(m[1] == (u64)(i < 3 ? i : i - 3), "shfl_up");
    expect(m[2] == (u64)(i % 16 + 3 < 16 ? i + 3 : i), "shfl_down width 16");
    expect(m[3] == (u64)(i ^ 32), "shfl_xor");
    expect(m[4] == thirds, "ballot");
    expect(m[5] == 3, "any, all");
    expect(m[6] == same, "match_any");
    expect(m[7] == 1, "shuffle of a structure");
    expect(m[8] == (i >= 40 ? ~0ull << 40 : 0), "activemask");
    expect(m[9] == 2016, "reduce_add");
    expect(m[10] == 100, "readfirstlane");
    expect(m[11] == (u64)(63 - i), "ds_bpermute");
    expect(m[12] == (u64)i, "mbcnt");
    expect((int)m[13] == (i % 16 == 0 ? -1 : i - 1), "update_dpp");
    expect(m[14] == (u64)i + 1000, "lane id");
  }
  int* t;
  (void)hipMallocManaged(&t, 400 * 4);
  tiles<<<1, 128>>>(t);
  expect(hipDeviceSynchronize() == hipSuccess, "tiles");
  for (int g = 0; g < 8; ++g) expect(t[g] == 16 * 16 * g + 120, "tile sum");
  for (int i = 0; i < 128; ++i) {
    expect(t[8 + i] == 8, "tile ballot");
    if (i % 4 == 1) expect(t[136 + i] == 1600 + i % 64 / 4, "coalesced group");
    expect(t[264 + i] == 43 + (1 << 8), "syncthreads_count, or, and");
  }
  int* i;
  (void)hipMallocManaged(&i, 4096);
  memset(i, 0, 4096);
  unsigned* u = (unsigned*)i + 16;
  u64* l = (u64*)(i + 32);
  float* f = (float*)i + 64;
  double* d = (double*)(i + 96);
  atomics<<<2, 128>>>(i, u, l, f, d);
  expect(hipDeviceSynchronize() == hipSuccess, "atomics");
  expect(i[0] == 2 * 8128 && i[1] == 127 && i[2] == -127 && i[3] == -256 && i[4] == 0, "int atomics");
  expect(i[5] == 512 && i[6] == 768 && i[7] == 256, "builtin, compare and swap, system");
  expect(u[0] == 256 % 10 && u[1] == 4 && u[2] == ~0u, "inc, dec, or");
  expect(l[0] == 2 * 8128 && l[1] == 127ull << 40, "64-bit atomics");
  expect(f[0] == 128.0f && f[1] == 127.0f && f[2] == 256.0f && d[0] == 64.0, "float atomics");
  heap<<<1, 64>>>(t);
  expect(hipDeviceSynchronize() == hipSuccess, "heap");
  for (int j = 0; j < 64; ++j) expect(t[j] == j, "new, memset, memcpy");
  return verdict();
}
