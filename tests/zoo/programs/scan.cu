// A prefix sum in three kernels. ./app [count] [kind]
#include "zoo.h"

constexpr int BLOCK = 256;

__global__ void scan_blocks(const int* in, int* out, int* totals, int n) {
  __shared__ int s[BLOCK];
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  s[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int d = 1; d < BLOCK; d *= 2) {
    const int before = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
    __syncthreads();
    s[threadIdx.x] += before;
    __syncthreads();
  }
  if (i < n) out[i] = s[threadIdx.x];
  if (threadIdx.x == BLOCK - 1) totals[blockIdx.x] = s[BLOCK - 1];
}

__global__ void scan_totals(int* totals, int blocks) {
  int sum = 0;
  for (int b = 0; b < blocks; ++b) {
    const int own = totals[b];
    totals[b] = sum;
    sum += own;
  }
}

__global__ void add_totals(int* out, const int* totals, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) out[i] += totals[blockIdx.x];
}

int main(int argc, char** argv) {
  const int n = zoo::number(argc, argv, 1, 20000);
  const char* kind = zoo::word(argc, argv, 2, "plain");
  const std::vector<int> in = zoo::ints(n, 1000, kind);
  const int blocks = (n + BLOCK - 1) / BLOCK;
  const int* di = zoo::device(in);
  int* out = zoo::device<int>(n);
  int* totals = zoo::device<int>(blocks);
  scan_blocks<<<blocks, BLOCK>>>(di, out, totals, n);
  scan_totals<<<1, 1>>>(totals, blocks);
  add_totals<<<blocks, BLOCK>>>(out, totals, n);
  std::vector<int> expected(n);
  int sum = 0;
  for (int i = 0; i < n; ++i) expected[i] = sum += in[i];
  zoo::same("scan", zoo::host(out, n), expected);
  return zoo::failed;
}
