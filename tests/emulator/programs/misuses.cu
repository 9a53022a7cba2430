// One misuse per run, named by the argument; marked lines are what `check` is to name.
#ifdef __CUDA__
#error "nvcc defines no such macro: programs know clang by it"
#endif
#include <cassert>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

__global__ void neighbours(const float* in, float* out, int n) {
  int i = threadIdx.x;
  if (i < n) {
    float v = in[i];
    v += __shfl_down_sync(0xffffffffu, v, 16);  // shuffle-from-ended-lane
    out[i] = v;
  }
}
__global__ void unnamed(float* data) {
  float v = data[threadIdx.x];
  v += __shfl_down_sync(0x7fffffffu, v, 16);  // lane-outside-mask
  data[threadIdx.x] = v;
}
__global__ void tail(float* data, int n) {
  __shared__ float s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  s[threadIdx.x] = data[i];
  __syncthreads();  // barrier-after-exit
  data[i] = s[threadIdx.x ^ 1];
}
__global__ void bins(const int* keys, int* out) {
  __shared__ int h[64];
  atomicAdd(&h[keys[threadIdx.x] & 63], 1);  // uninitialised-read
  __syncthreads();
  if (threadIdx.x < 64) out[threadIdx.x] = 0;
}
__global__ void claimed(int* out) {
  __shared__ int owner;
  atomicExch(&owner, 7);  // fine: what was there does not matter
  __syncthreads();
  if (threadIdx.x == 0) *out = owner;
}
__global__ void partly(float* data) {
  float v = data[threadIdx.x];
  if (threadIdx.x < 4) v += __shfl_down_sync(0xffffffffu, v, 2);  // deadlock
  __syncthreads();
  data[threadIdx.x] = v;
}
__global__ void touch(float* data) { data[threadIdx.x] = 1; }  // use-after-free
__global__ void sorted(const int* keys) {
  int i = threadIdx.x;
  if (i > 0) assert(keys[i] > keys[i - 1]);  // assertion
}
__global__ void marked(int* found, const int* keys) {
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (keys[threadIdx.x * 4 + k] == 0) found[0] = 1;  // fine: all store the same
}
template <int Turns>
__global__ void shifted(int* data) {
#pragma unroll
  for (int k = 0; k < Turns; ++k) data[threadIdx.x + 1 + k] = data[threadIdx.x + k];  // race
}

int main(int, char** argv) {
  const char* which = argv[1];
  float *a, *b;
  cudaMalloc(&a, 4096);
  cudaMalloc(&b, 4096);
  cudaMemset(a, 0, 4096);
  cudaMemset(b, 0, 4096);
  if (!strcmp(which, "neighbours")) neighbours<<<1, 64>>>(a, b, 40);
  if (!strcmp(which, "unnamed")) unnamed<<<1, 32>>>(a);
  if (!strcmp(which, "tail")) tail<<<8, 128>>>(a, 1000);
  if (!strcmp(which, "bins")) bins<<<1, 128>>>(reinterpret_cast<int*>(a), reinterpret_cast<int*>(b));
  if (!strcmp(which, "claimed")) claimed<<<1, 32>>>(reinterpret_cast<int*>(a));
  if (!strcmp(which, "partly")) partly<<<8, 64>>>(a);
  if (!strcmp(which, "freed")) cudaFree(a), touch<<<1, 128>>>(a);
  if (!strcmp(which, "large")) touch<<<1, 2048>>>(a);
  if (!strcmp(which, "both")) touch<<<1, 2048>>>(a), touch<<<1, 128>>>(b);
  if (!strcmp(which, "sorted")) sorted<<<1, 64>>>(reinterpret_cast<int*>(a));
  if (!strcmp(which, "marked")) marked<<<2, 64>>>(reinterpret_cast<int*>(b), reinterpret_cast<int*>(a));
  if (!strcmp(which, "shifted")) {
    shifted<2><<<1, 64>>>(reinterpret_cast<int*>(a));
    shifted<3><<<1, 64>>>(reinterpret_cast<int*>(a));
  }
  cudaDeviceSynchronize();
  return 0;
}
