// Programs with one known fault each, and one without: what a checker must find here (and must not) before its
// silence about anything else counts. Run as: planted memcheck|racecheck|initcheck|synccheck|clean
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

namespace {

constexpr int kThreads = 64;

__global__ void planted_memcheck(int* out) { out[threadIdx.x + 1] = 1; }  // the last thread writes past the end

__global__ void planted_racecheck(int* out) {
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];  // another warp's, without a barrier
}

__global__ void planted_initcheck(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x] + 1; }

__global__ void planted_synccheck(int* out) {
  if (threadIdx.x % 32 < 7) __syncthreads();  // a part of the warp only
  out[threadIdx.x] = 1;
}

__global__ void planted_clean(const int* in, int* out) {
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

}  // namespace

int main(int argc, char** argv) {
  const char* fault = argc > 1 ? argv[1] : "clean";
  int *in = nullptr, *out = nullptr;
  if (cudaMalloc(&in, kThreads * sizeof(int)) != cudaSuccess) {
    std::fprintf(stderr, "no CUDA device\n");
    return 3;
  }
  cudaMalloc(&out, kThreads * sizeof(int));
  if (std::strcmp(fault, "initcheck") != 0) cudaMemset(in, 0, kThreads * sizeof(int));
  if (std::strcmp(fault, "memcheck") == 0) planted_memcheck<<<1, kThreads>>>(out);
  if (std::strcmp(fault, "racecheck") == 0) planted_racecheck<<<1, kThreads>>>(out);
  if (std::strcmp(fault, "initcheck") == 0) planted_initcheck<<<1, kThreads>>>(in, out);
  if (std::strcmp(fault, "synccheck") == 0) planted_synccheck<<<1, kThreads>>>(out);
  if (std::strcmp(fault, "clean") == 0) planted_clean<<<1, kThreads>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
