// Threads that end in the middle, and the names that libraries of headers call as functions.
#include <cstdio>
#include <nvtx3/nvToolsExt.h>
extern "C" __device__ void __syncthreads(void);
using ::__syncthreads;
static_assert(__CUDA_ARCH_LIST__ == 900, "on both sides");
__device__ __noinline__ void leave(int depth) {
  if (depth > 30) asm volatile("exit;");
  leave(depth + 1);
}
__global__ void some_end(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x % 3 == 1) leave(threadIdx.x);
  asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 5; @p exit; }" ::"r"(threadIdx.x));
  ::__syncthreads();
  out[i] = i;
}
int main() {
  nvtxEventAttributes_t event = {};
  event.payloadType = NVTX_PAYLOAD_TYPE_INT32;
  nvtxDomainHandle_t domain = nvtxDomainCreateA("test");
  nvtxDomainRangePushEx(domain, &event);
  int* out;
  cudaMallocManaged(&out, 4096);
  for (int i = 0; i < 1024; ++i) out[i] = -1;
  some_end<<<4, 256>>>(out);
  int wrong = cudaDeviceSynchronize() != cudaSuccess;
  for (int i = 0; i < 1024; ++i) wrong += out[i] != (i % 256 % 3 == 1 || i % 256 == 5 ? -1 : i);
  if (wrong == 0) puts("all good");
  return wrong;
}
