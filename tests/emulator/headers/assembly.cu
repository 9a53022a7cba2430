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

int main() {
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
  return verdict();
}
