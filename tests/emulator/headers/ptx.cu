// Inline PTX as libraries and tutorials write it: atomics, conversions, votes, shuffles, barriers, matrix products.
#include <cmath>
#include <cstdint>
#include <cuda_fp16.h>

#include "check.h"

constexpr int kThreads = 64;

__global__ void registers(const float* in, unsigned int* out) {
  const unsigned int i = threadIdx.x;
  unsigned int* mine = out + 24 * i;
  unsigned int index, size, converted, saturated, packed, carry_low, carry_high, kept = 100, picked, dotted, apart;
  int rounded, quotient;
  unsigned long long wide;
  float clamped, down;
  unsigned short half;
  asm("mov.u32 %0, %%tid.x; mov.u32 %1, %%ntid.x;" : "=r"(index), "=r"(size));
  asm("cvt.rni.s32.f32 %0, %1;" : "=r"(rounded) : "f"(in[i]));
  asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(converted) : "f"(in[i]));
  asm("{ .reg .u8 b; cvt.sat.u8.s32 b, %1; cvt.u32.u8 %0, b; }" : "=r"(saturated) : "r"(int(i) * 8 - 100));
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(in[i]), "f"(1.5f));
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(in[i]));
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(wide) : "r"(0x80000000u + i), "r"(i), "l"(7ull));
  asm("{ mad.lo.cc.u32 %0, %2, %3, %4; madc.hi.u32 %1, %2, %3, 0; }" : "=&r"(carry_low), "=&r"(carry_high)
      : "r"(0xffffffffu), "r"(i), "r"(0xfffffff0u));
  asm("{ .reg .pred p, q; setp.lt.u32 p|q, %1, 20; @p add.u32 %0, %0, %1; @q sub.u32 %0, %0, 1; }" : "+r"(kept) : "r"(i));
  asm("{\n\t.reg .pred %%p1, %%p2;\n\tsetp.ge.u32 %%p1, %1, 10;\n\tsetp.lt.and.u32 %%p2, %1, 30, %%p1;\n\tselp.u32 %0, 7, 9, %%p2;\n\t}"
      : "=r"(picked) : "r"(i));
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(dotted) : "r"(0x01020304u), "r"(i), "r"(5u));
  asm("sad.u32 %0, %1, %2, %3;" : "=r"(apart) : "r"(i), "r"(30u), "r"(1u));
  asm("div.s32 %0, %1, %2;" : "=r"(quotient) : "r"(int(i) - 40), "r"(7));
  asm("add.sat.f32 %0, %1, %2;" : "=f"(clamped) : "f"(in[i]), "f"(0.25f));
  asm("add.rm.f32 %0, %1, %2;" : "=f"(down) : "f"(in[i]), "f"(1e-9f));
  unsigned int looped = i;
  asm volatile("{\n\t.reg .pred done;\nAGAIN_%=:\n\tsetp.lt.u32 done, %0, 5;\n\t@done bra OUT_%=;\n\tsub.u32 %0, %0, 5;\n\tbra AGAIN_%=;\nOUT_%=:\n\t}"
               : "+r"(looped));
  unsigned long long from_bits;
  asm("bfe.u64 %0, %1, %2, %3;" : "=l"(from_bits) : "l"(0xabcd00000000ull + i), "r"(32), "n"(8));
  mine[0] = index, mine[1] = size, mine[2] = unsigned(rounded), mine[3] = converted, mine[4] = saturated;
  mine[5] = packed, mine[6] = half, mine[7] = unsigned(wide), mine[8] = unsigned(wide >> 32), mine[9] = carry_low;
  mine[10] = carry_high, mine[11] = kept, mine[12] = picked, mine[13] = dotted, mine[14] = apart, mine[15] = unsigned(quotient);
  mine[16] = __float_as_uint(clamped), mine[17] = __float_as_uint(down), mine[18] = looped, mine[19] = unsigned(from_bits);
}

void check_registers() {
  float in[kThreads], *device_in;
  unsigned int out[24 * kThreads], *device_out;
  for (int i = 0; i < kThreads; ++i) in[i] = 0.37f * float(i);
  cudaMalloc(&device_in, sizeof in);
  cudaMalloc(&device_out, sizeof out);
  cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice);
  registers<<<1, kThreads>>>(device_in, device_out);
  cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost);
  for (unsigned int i = 0; i < kThreads; ++i) {
    const unsigned int* at = out + 24 * i;
    const auto half_bits = [](float v) { return __half_as_ushort(__float2half(v)); };
    const uint64_t wide = uint64_t(0x80000000u + i) * i + 7, sum = uint64_t(0xffffffffu) * i + 0xfffffff0u;
    const int in_byte = int(i) * 8 - 100;
    expect(at[0] == i && at[1] == kThreads, "tid and ntid");
    expect(int(at[2]) == int(std::nearbyint(in[i])), "cvt.rni");
    expect(at[3] == unsigned(in[i]), "cvt.rzi");
    expect(at[4] == unsigned(in_byte < 0 ? 0 : in_byte > 255 ? 255 : in_byte), "cvt.sat");
    expect(at[5] == (unsigned(half_bits(in[i])) << 16 | half_bits(1.5f)), "cvt to a pair");
    expect(at[6] == half_bits(in[i]), "cvt to f16");
    expect((uint64_t(at[8]) << 32 | at[7]) == wide, "mad.wide");
    expect((uint64_t(at[10]) << 32 | at[9]) == sum, "mad with carry");
    expect(at[11] == (i < 20 ? 100 + i : 99), "guarded instructions");
    expect(at[12] == (i >= 10 && i < 30 ? 7u : 9u), "setp with and");
    expect(at[13] == 4 * i + 5, "dp4a");
    expect(at[14] == unsigned(std::abs(int(i) - 30)) + 1, "sad");
    expect(int(at[15]) == (int(i) - 40) / 7, "div");
    expect(at[16] == __builtin_bit_cast(unsigned int, std::fmin(in[i] + 0.25f, 1.0f)), "add.sat");
    expect(at[17] == __builtin_bit_cast(unsigned int, i == 0 ? 1e-9f : in[i]), "add.rm");
    expect(at[18] == i % 5, "branches");
    expect(at[19] == 0xcd, "bfe.u64");
  }
}

__global__ void memory(unsigned int* counters, float* values, unsigned int* out) {
  __shared__ float line[kThreads];
  __shared__ unsigned int total;
  const unsigned int i = threadIdx.x;
  if (i == 0) total = 0;
  asm volatile("bar.sync 0;" ::: "memory");
  const auto place = static_cast<unsigned int>(__cvta_generic_to_shared(&line[i]));
  const auto shared_total = static_cast<unsigned int>(__cvta_generic_to_shared(&total));
  unsigned int old, seen, taken;
  asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(counters), "r"(1) : "memory");
  asm volatile("red.release.gpu.global.max.s32 [%0], %1;" ::"l"(counters + 1), "r"(int(i) - 10) : "memory");
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(values + kThreads), "f"(0.5f) : "memory");
  asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;" : "=r"(seen) : "l"(counters + 2), "r"(0), "r"(i + 1) : "memory");
  asm volatile("atom.shared.add.u32 %0, [%1], 2;" : "=r"(taken) : "r"(shared_total) : "memory");
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(values + i), "n"(4));
  asm volatile("cp.async.commit_group;\n cp.async.wait_group %0;" ::"n"(0));
  __syncthreads();
  float other, next;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(other) : "r"(place ^ 4));
  asm volatile("ld.global.nc.L1::no_allocate.f32 %0, [%1+4];" : "=f"(next) : "l"(values + i));
  unsigned int generic;
  asm("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(generic) : "l"(&line[i]));
  out[i] = __float_as_uint(other);
  out[kThreads + i] = __float_as_uint(next);
  out[2 * kThreads + i] = old * 1000 + (seen == 0 ? 500 : 0) + taken;
  out[3 * kThreads + i] = generic * 10 + total / kThreads;
}

void check_memory() {
  unsigned int *counters, *out;
  float* values;
  cudaMallocManaged(&counters, 3 * sizeof *counters);
  cudaMallocManaged(&out, 4 * kThreads * sizeof *out);
  cudaMallocManaged(&values, (kThreads + 1) * sizeof *values);
  for (int i = 0; i < 3; ++i) counters[i] = 0;
  for (int i = 0; i <= kThreads; ++i) values[i] = i < kThreads ? float(i) : 0.0f;
  memory<<<1, kThreads>>>(counters, values, out);
  expect(cudaDeviceSynchronize() == cudaSuccess, "memory kernel");
  expect(counters[0] == kThreads && counters[1] == kThreads - 11, "atom.add and red.max");
  expect(values[kThreads] == 0.5f * kThreads, "red.add.f32");
  unsigned int winners = 0, sum = 0;
  for (unsigned int i = 0; i < kThreads; ++i) {
    expect(out[i] == __builtin_bit_cast(unsigned int, float(i ^ 1)), "cp.async and ld.shared");
    if (i + 1 < kThreads) expect(out[kThreads + i] == __builtin_bit_cast(unsigned int, float(i + 1)), "ld.global.nc");
    winners += out[2 * kThreads + i] % 1000 >= 500;
    sum += out[2 * kThreads + i] / 1000;
    expect(out[3 * kThreads + i] == 12, "isspacep and atom.shared");
  }
  expect(winners == 1 && sum == kThreads * (kThreads - 1) / 2, "atom.cas and the old values");
}

__global__ void together(unsigned int* out) {
  const unsigned int i = threadIdx.x, lane = i % 32;
  unsigned int odd, up, down, same, active, warp_sum, any;
  int least;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(odd) : "r"(lane & 1));
  asm volatile("{ .reg .pred p, q; setp.gt.u32 p, %1, 90; vote.sync.any.pred q, !p, 0xffffffff; selp.u32 %0, 1, 0, q; }"
               : "=r"(any) : "r"(lane));
  asm volatile("{ .reg .u32 r; .reg .pred p; shfl.sync.up.b32 r|p, %1, 1, 0, -1; @p add.u32 r, r, %1; mov.u32 %0, r; }"
               : "=r"(up) : "r"(i));
  asm volatile("shfl.sync.down.b32 %0, %1, 2, 0x181f, 0xffffffff;" : "=r"(down) : "r"(i));  // in groups of 8
  asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(same) : "r"(lane / 8));
  asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(warp_sum) : "r"(lane));
  asm volatile("redux.sync.min.s32 %0, %1, 0xffffffff;" : "=r"(least) : "r"(int(lane) - 5));
  asm volatile("activemask.b32 %0;" : "=r"(active));
  out += 8 * i;
  out[0] = odd, out[1] = up, out[2] = down, out[3] = same, out[4] = warp_sum, out[5] = unsigned(least), out[6] = active, out[7] = any;
}

// One warp fills, the other empties: each waits at a barrier of its own name for the other to arrive.
__global__ void hand_over(int* sums) {
  __shared__ int box[32];
  const int lane = int(threadIdx.x) % 32;
  if (threadIdx.x < 32) {
    for (int round = 0; round < 4; ++round) {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      box[lane] = 10 * round + lane;
      asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
  } else {
    int sum = 0;
    for (int round = 0; round < 4; ++round) {
      asm volatile("bar.arrive %0, %1;" ::"r"(1), "r"(64) : "memory");
      asm volatile("barrier.sync 2, 64;" ::: "memory");
      sum += box[31 - lane];
    }
    sums[lane] = sum;
  }
}

void check_together() {
  unsigned int* out;
  int* sums;
  cudaMallocManaged(&out, 8 * kThreads * sizeof *out);
  cudaMallocManaged(&sums, 32 * sizeof *sums);
  together<<<1, kThreads>>>(out);
  hand_over<<<1, 64>>>(sums);
  expect(cudaDeviceSynchronize() == cudaSuccess, "collective kernels");
  for (unsigned int i = 0; i < kThreads; ++i) {
    const unsigned int* at = out + 8 * i;
    const unsigned int lane = i % 32;
    expect(at[0] == 0xaaaaaaaau, "vote.ballot");
    expect(at[1] == (lane == 0 ? i : 2 * i - 1), "shfl.up and its predicate");
    expect(at[2] == (lane % 8 < 6 ? i + 2 : i), "shfl.down within eight lanes");
    expect(at[3] == 0xffu << lane / 8 * 8, "match.any");
    expect(at[4] == 496 && int(at[5]) == -5, "redux");
    expect(at[6] == 0xffffffffu && at[7] == 1, "activemask and vote.any");
  }
  for (int lane = 0; lane < 32; ++lane) expect(sums[lane] == 60 + 4 * (31 - lane), "named barriers");
}

// C = A B of 16x16 and 16x8 halves: fragments through ldmatrix, the product through mma.
__global__ void multiply(const __half* a, const __half* b, float* c) {
  __shared__ __half left[16 * 16], right[16 * 8];
  const int lane = int(threadIdx.x);
  for (int i = lane; i < 16 * 16; i += 32) left[i] = a[i];
  for (int i = lane; i < 16 * 8; i += 32) right[i] = b[i];
  __syncwarp();
  unsigned int x[4], y[2];
  float sum[4] = {};
  const auto from = static_cast<unsigned int>(__cvta_generic_to_shared(left + lane % 16 * 16 + lane / 16 * 8));
  const auto other = static_cast<unsigned int>(__cvta_generic_to_shared(right + lane % 16 * 8));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(from));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(y[0]), "=r"(y[1]) : "r"(other));
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  for (int i = 0; i < 4; ++i) c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = sum[i];
}

void check_matrices() {
  __half *a, *b;
  float* c;
  cudaMallocManaged(&a, 16 * 16 * sizeof *a);
  cudaMallocManaged(&b, 16 * 8 * sizeof *b);
  cudaMallocManaged(&c, 16 * 8 * sizeof *c);
  for (int i = 0; i < 16 * 16; ++i) a[i] = __float2half(float(i % 7) - 3.0f);
  for (int i = 0; i < 16 * 8; ++i) b[i] = __float2half(float(i % 5) * 0.5f);
  multiply<<<1, 32>>>(a, b, c);
  expect(cudaDeviceSynchronize() == cudaSuccess, "matrix kernel");
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      float sum = 0;
      for (int k = 0; k < 16; ++k) sum += __half2float(a[row * 16 + k]) * __half2float(b[k * 8 + column]);
      expect(c[row * 8 + column] == sum, "ldmatrix and mma");
    }
}

int main() {
  check_registers();
  check_memory();
  check_together();
  check_matrices();
  return verdict();
}
