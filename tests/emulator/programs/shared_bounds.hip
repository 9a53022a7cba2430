// Arrays in block-shared memory that are large enough or one element too short, by name.
#include <cstdio>
#include <cstring>

#include "shared_bounds.h"

__global__ void write_over(int* out) {
  __shared__ int tile[63];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x / 2];
}
__global__ void read_over(int* out) {
  __shared__ int tile[63];
  if (threadIdx.x < 63) tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void below(int* out, int shift) {
  __shared__ int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tile[int(threadIdx.x) - shift];
}
__global__ void into_next(int* out) {
  __shared__ float first[60];
  __shared__ float second[64];
  first[threadIdx.x] = 1.0f;
  second[threadIdx.x] = 2.0f;
  __syncthreads();
  out[threadIdx.x] = int(second[63 - threadIdx.x] + first[threadIdx.x / 2]);
}
__global__ void mixed(int* out, int beyond) {
  extern __shared__ int open[];
  __shared__ int fixed[64];
  fixed[threadIdx.x] = threadIdx.x;
  open[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int* both[2] = {open, fixed};
  out[threadIdx.x] = both[threadIdx.x % 2][63 - threadIdx.x + beyond];
}
__global__ void right(int* out) {
  __shared__ float tile[2][32][33];
  __shared__ char4 bytes[64];
  __shared__ double sum;
  __shared__ float odd[7];
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  for (int row = y; row < 32; row += 2) tile[0][row][x] = tile[1][row][x] = 1.0f;
  bytes[threadIdx.x] = make_char4(1, 2, 3, 4);
  if (threadIdx.x < 7) odd[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0) sum = 0.5;
  __syncthreads();
  float all = 0;
#pragma unroll
  for (int k = 0; k < 7; ++k) all += odd[k];
  for (int row = y; row < 32; row += 2) all += tile[1][x][row];
  out[threadIdx.x] = int(all + sum) + bytes[63 - threadIdx.x].w;
}
__global__ void elsewhere(int* out, int n) { out[threadIdx.x] = reverse_in_block(threadIdx.x, n); }

int main(int, char** words) {
  const char* which = words[1];
  int* out;
  if (hipMalloc(reinterpret_cast<void**>(&out), 64 * sizeof(int)) != hipSuccess) return 1;
  if (!std::strcmp(which, "write_over")) write_over<<<2, 64>>>(out);
  if (!std::strcmp(which, "read_over")) read_over<<<2, 64>>>(out);
  if (!std::strcmp(which, "below")) below<<<2, 64>>>(out, 1);
  if (!std::strcmp(which, "into_next")) into_next<<<2, 64>>>(out);
  if (!std::strcmp(which, "mixed")) mixed<<<2, 64, 64 * sizeof(int)>>>(out, 1);
  if (!std::strcmp(which, "elsewhere")) elsewhere<<<2, 64>>>(out, 64);
  if (!std::strcmp(which, "fine")) {
    below<<<2, 64>>>(out, 0);
    mixed<<<2, 64, 64 * sizeof(int)>>>(out, 0);
    right<<<2, 64>>>(out);
    elsewhere<<<2, 60>>>(out, 60);
  }
  std::printf("%d\n", hipDeviceSynchronize());
  return 0;
}
