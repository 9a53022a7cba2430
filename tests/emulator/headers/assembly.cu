// The inline PTX that programs use for what CUDA has no function for.
#include "check.h"

__global__ void ask(unsigned int* out) {
  unsigned int lane, below, warp, field, sign, merged, bytes, copy;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  asm("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(field) : "r"(0xabcd1234u), "r"(8u), "r"(8u));
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(sign) : "r"(0x0000f000u), "r"(12u), "r"(4u));
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(merged) : "r"(0x5u), "r"(0xffffffffu), "r"(4u), "r"(4u));
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(0x44332211u), "r"(0x88776655u), "r"(0x0174u));
  asm("mov.b32 %0, %1;" : "=r"(copy) : "r"(threadIdx.x));
  asm volatile("membar.gl;" ::: "memory");
  unsigned int* mine = out + 8 * threadIdx.x;
  mine[0] = lane, mine[1] = below, mine[2] = warp, mine[3] = field, mine[4] = sign, mine[5] = merged, mine[6] = bytes;
  mine[7] = copy;
}

// `mask` has two words for each pair of amounts, `field` four.
__global__ void masks(const unsigned int* amounts, unsigned int* mask, unsigned int* field) {
  const unsigned int first = amounts[threadIdx.x], second = amounts[threadIdx.y], value = 0x89abcdefu;
  const unsigned int at = threadIdx.y * blockDim.x + threadIdx.x;
  asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(mask[2 * at]) : "r"(first), "r"(second));
  asm("bmsk.wrap.b32 %0, %1, %2;" : "=r"(mask[2 * at + 1]) : "r"(first), "r"(second));
  asm("szext.clamp.u32 %0, %1, %2;" : "=r"(field[4 * at]) : "r"(value), "r"(second));
  asm("szext.clamp.s32 %0, %1, %2;" : "=r"(field[4 * at + 1]) : "r"(value), "r"(second));
  asm("szext.wrap.u32 %0, %1, %2;" : "=r"(field[4 * at + 2]) : "r"(value), "r"(second));
  asm("szext.wrap.s32 %0, %1, %2;" : "=r"(field[4 * at + 3]) : "r"(value), "r"(second));
}
unsigned int ones(unsigned int position, unsigned int width) {
  unsigned int made = 0;
  for (unsigned int i = position; i < position + width && i < 32; ++i) made |= 1u << i;
  return made;
}
unsigned int low_bits(unsigned int value, unsigned int width, bool is_signed) {
  if (width == 0) return 0;
  const bool negative = is_signed && (value >> (width - 1) & 1);
  return (value & ones(0, width)) | (negative ? ~ones(0, width) : 0);
}
void check_masks() {
  constexpr unsigned int kAmounts[] = {0, 1, 5, 16, 31, 32, 33, 40}, kCount = 8;
  unsigned int *amounts, *mask, *field, masks_of[2 * kCount * kCount], fields[4 * kCount * kCount];
  cudaMalloc(&amounts, sizeof kAmounts), cudaMalloc(&mask, sizeof masks_of), cudaMalloc(&field, sizeof fields);
  cudaMemcpy(amounts, kAmounts, sizeof kAmounts, cudaMemcpyHostToDevice);
  masks<<<1, dim3(kCount, kCount)>>>(amounts, mask, field);
  cudaMemcpy(masks_of, mask, sizeof masks_of, cudaMemcpyDeviceToHost);
  cudaMemcpy(fields, field, sizeof fields, cudaMemcpyDeviceToHost);
  for (unsigned int at = 0; at < kCount * kCount; ++at) {
    const unsigned int first = kAmounts[at % kCount], second = kAmounts[at / kCount], value = 0x89abcdefu;
    expect(masks_of[2 * at] == ones(first, second), "bmsk.clamp");
    expect(masks_of[2 * at + 1] == ones(first % 32, second % 32), "bmsk.wrap");
    for (const bool is_signed : {false, true}) {
      const unsigned int clamped = second > 31 ? value : low_bits(value, second, is_signed);
      expect(fields[4 * at + is_signed] == clamped, "szext.clamp");
      expect(fields[4 * at + 2 + is_signed] == low_bits(value, second % 32, is_signed), "szext.wrap");
    }
  }
}

__global__ void clusters(unsigned int* out) {
  unsigned int block, blocks, inside, within, rank;
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(block));
  asm("mov.u32 %0, %%nclusterid.x;" : "=r"(blocks));
  asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(inside));
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(within));
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("red.release.cluster.global.add.u32 [%0], %1;" ::"l"(out), "r"(block + 10 * blocks + 100 * within + inside + rank) : "memory");
}

int main() {
  check_masks();
  constexpr unsigned int n = 70;
  unsigned int *device, host[8 * n];
  cudaMalloc(&device, sizeof host);
  ask<<<1, n>>>(device);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  for (unsigned int i = 0; i < n; ++i) {
    const unsigned int* at = host + 8 * i;
    expect(at[0] == i % 32, "laneid");
    expect(at[1] == (1u << i % 32) - 1, "lanemask_lt");
    expect(at[2] == i / 32, "warpid");
    expect(at[3] == 0x12, "bfe.u32");
    expect(at[4] == 0xffffffffu, "bfe.s32");
    expect(at[5] == 0xffffff5fu, "bfi");
    expect(at[6] == 0x11228855u, "prmt");
    expect(at[7] == i, "mov");
  }
  cudaMemset(device, 0, sizeof *device);
  clusters<<<3, 1>>>(device);
  cudaMemcpy(host, device, sizeof *host, cudaMemcpyDeviceToHost);
  expect(host[0] == (0 + 1 + 2) + 3 * (10 * 3 + 100), "each block is a cluster");
  return verdict();
}
