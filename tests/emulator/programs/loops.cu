// Loops in which the lanes of a wave part: they meet again before the next turn. Not unrolled, so that nvcc's
// instructions are those of the source.
#include <cuda_runtime.h>

__global__ void some_store(const int* __restrict__ a, int* __restrict__ b, int n) {
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 32) {
    const int v = a[i];
    if (v > 0) b[i] = v * 2;
  }
}

__global__ void some_skip(const int* __restrict__ a, int* __restrict__ b, int n) {
  int sum = 0;
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 32) {
    if ((i * 7 + i / 64) % 5 == 0) continue;
    sum += a[i];
    b[i] = sum;
  }
}

__global__ void rows(const int* __restrict__ first, const int* __restrict__ a, int* __restrict__ b, int n) {
#pragma unroll 1
  for (int row = threadIdx.x; row < n; row += 32) {
    int sum = 0;
    const int end = first[row + 1];
#pragma unroll 1
    for (int j = first[row]; j < end; ++j) sum += a[j];
    b[row] = sum;
  }
}

__device__ __noinline__ int total(const int* __restrict__ a, int from, int to) {
  int sum = 0;
#pragma unroll 1
  for (int j = from; j < to; ++j) {
    if (a[j] < 0) continue;
    sum += a[j + 1];
  }
  return sum;
}

__global__ void rows_called(const int* __restrict__ first, const int* __restrict__ a, int* __restrict__ b, int n) {
#pragma unroll 1
  for (int row = threadIdx.x; row < n; row += 32) {
    const int from = first[row], to = first[row + 1];
    if (to - from > 2) b[row] = total(a, from, to);
  }
}

int main() {
  constexpr int n = 256, count = 4096;
  static int a[count], first[n + 1];
  for (int i = 0; i < count; ++i) a[i] = (i * 37) % 11 - 5;
  for (int i = 0; i < n; ++i) first[i + 1] = first[i] + (i * 13) % 8;
  int *da, *db, *df;
  cudaMalloc(&da, sizeof a);
  cudaMalloc(&db, sizeof a);
  cudaMalloc(&df, sizeof first);
  cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
  cudaMemcpy(df, first, sizeof first, cudaMemcpyHostToDevice);
  some_store<<<1, 32>>>(da, db, n);
  some_skip<<<1, 32>>>(da, db, n);
  rows<<<1, 32>>>(df, da, db, n);
  rows_called<<<1, 32>>>(df, da, db, n);
  return cudaDeviceSynchronize();
}
