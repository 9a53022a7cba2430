// Programs that are wrong in one way each, by name.
#include <hip/hip_runtime.h>

#include <cassert>
#include <cstdio>
#include <cstring>

__global__ void outside(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = i;
}
__global__ void no_barrier(int* out) {
  __shared__ int tile[256];
  tile[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = tile[(threadIdx.x + 64) % 256];
}
__global__ void between_blocks(int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  if (blockIdx.x > 0) out[gridDim.x * blockDim.x + threadIdx.x] = out[(blockIdx.x - 1) * blockDim.x + threadIdx.x];
}
__global__ void fresh(int* out, const int* never_written) { out[threadIdx.x] = never_written[threadIdx.x] + 1; }
__global__ void forever(volatile int* flag) {
  while (*flag == 0) {
  }
}
__global__ void divergent(int* out) {
  if (threadIdx.x < 64) __syncthreads();
  else __syncthreads();
  out[threadIdx.x] = 1;
}
__global__ void asserts(int* out) {
  assert(threadIdx.x < 7);
  out[threadIdx.x] = 1;
}
__device__ unsigned tickets;
__global__ void fine(int* out) {  // the block with the last ticket reads what the others stored
  __shared__ bool last;
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  __threadfence();
  if (threadIdx.x == 0) last = atomicAdd(&tickets, 1u) == gridDim.x - 1;
  __syncthreads();
  if (last) out[300 + threadIdx.x] = out[threadIdx.x] + out[blockDim.x + threadIdx.x];
}

int main(int, char** words) {
  const char* which = words[1];
  int *out, *other;
  (void)hipMalloc(reinterpret_cast<void**>(&out), 400 * sizeof(int));
  (void)hipMalloc(reinterpret_cast<void**>(&other), 256 * sizeof(int));
  (void)hipMemset(out, 0, 400 * sizeof(int));
  if (!std::strcmp(which, "outside")) outside<<<7, 64>>>(out, 420);
  if (!std::strcmp(which, "no_barrier")) no_barrier<<<1, 256>>>(out);
  if (!std::strcmp(which, "between_blocks")) between_blocks<<<4, 64>>>(out);
  if (!std::strcmp(which, "fresh")) fresh<<<1, 256>>>(out, other);
  if (!std::strcmp(which, "forever")) forever<<<2, 64>>>(out);
  if (!std::strcmp(which, "divergent")) divergent<<<1, 128>>>(out);
  if (!std::strcmp(which, "asserts")) asserts<<<1, 64>>>(out);
  if (!std::strcmp(which, "fine")) fine<<<3, 64>>>(out);
  std::printf("%d\n", hipDeviceSynchronize());
  return 0;
}
