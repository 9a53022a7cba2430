// Cycles per turn of loops whose turns depend on one another: what one warp waits for, and four.
#include <cuda_runtime.h>
#include <cstdio>
#include <vector>
constexpr int kTurns = 1024;
__constant__ int table[4096];
__constant__ char letters[64];
#define TIMED(BODY)                                     \
  const long long t0 = clock64();                       \
  BODY;                                                 \
  const long long t1 = clock64();                       \
  out[blockIdx.x * blockDim.x + threadIdx.x] = int(at); \
  if (threadIdx.x == 0) cycles[blockIdx.x] = t1 - t0;
__global__ void constant_chain(long long* cycles, int* out, int mask, const char*, int) {
  int at = 0;
  TIMED(_Pragma("unroll 1") for (int k = 0; k < kTurns; ++k) at = (table[at] + 3) & mask)
}
__global__ void constant_free(long long* cycles, int* out, int mask, const char*, int from) {
  int at = 0;
  TIMED(_Pragma("unroll 8") for (int k = 0; k < kTurns; ++k) at += table[(k * 3 + from) & mask])
}
__global__ void byte_chain(long long* cycles, int* out, int stride, const char* text, int) {
  int at = threadIdx.x % 32 * stride;
  TIMED(_Pragma("unroll 1") for (int k = 0; k < kTurns; ++k) at += text[at])
}
__global__ void word_chain(long long* cycles, int* out, int stride, const char* text, int) {
  int at = threadIdx.x % 32 * stride;
  TIMED(_Pragma("unroll 1") for (int k = 0; k < kTurns; ++k) at += *(const int*)(text + at * 4))
}
// Every turn goes on only if the letters agree: nothing can be loaded ahead.
__global__ void compare_constant(long long* cycles, int* out, int stride, const char* text, int length) {
  int at = 0;
  const char* mine = text + threadIdx.x % 32 * stride;
  TIMED(_Pragma("unroll 1") for (int r = 0; r < kTurns / 32; ++r) {
    _Pragma("unroll 1") for (int j = 0; j < length; ++j) {
      if (mine[j] != letters[j]) break;
      ++at;
    }
  })
}
__global__ void compare_global(long long* cycles, int* out, int stride, const char* text, int length) {
  int at = 0;
  const char* mine = text + threadIdx.x % 32 * stride;
  TIMED(_Pragma("unroll 1") for (int r = 0; r < kTurns / 32; ++r) {
    _Pragma("unroll 1") for (int j = 0; j < length; ++j) {
      if (mine[j] != text[4096 + j]) break;
      ++at;
    }
  })
}
__global__ void alu_chain(long long* cycles, int* out, int y, const char*, int) {
  unsigned at = threadIdx.x;
  TIMED(_Pragma("unroll 16") for (int k = 0; k < kTurns; ++k) at = at * 31u + y)
}
__global__ void branch_chain(long long* cycles, int* out, int y, const char*, int) {
  unsigned at = threadIdx.x + 1000000;
  TIMED(_Pragma("unroll 1") for (int k = 0; k < kTurns; ++k) {
    at = at * 3u + y;
    if (at == 12345u) break;
  })
}
__global__ void float_chain(long long* cycles, int* out, int y, const char*, int) {
  float at = threadIdx.x, z = y;
  TIMED(_Pragma("unroll 16") for (int k = 0; k < kTurns; ++k) at = at * z + 1.5f)
}
__global__ void store_between(long long* cycles, int* out, int stride, char* text, int) {
  int at = 0;
  char* mine = text + threadIdx.x % 32 * stride;
  TIMED(_Pragma("unroll 1") for (int k = 0; k < kTurns; ++k) {
    at += mine[k & 31];
    ((int*)(text + 65536))[threadIdx.x * 3] = at;
  })
}
template <class K, class T>
void run(const char* name, K kernel, int argument, T* text, int more) {
  long long* cycles;
  int* out;
  cudaMalloc(&cycles, 132 * 8), cudaMalloc(&out, 132 * 1024 * 4);
  printf("%s %d:", name, argument);
  for (int threads : {32, 64, 128, 512}) {
    for (int k = 0; k < 2; ++k) kernel<<<25, threads>>>(cycles, out, argument, text, more);
    std::vector<long long> seen(25);
    cudaMemcpy(seen.data(), cycles, 25 * 8, cudaMemcpyDeviceToHost);
    double sum = 0;
    for (long long s : seen) sum += double(s) / 25 / kTurns;
    printf(" %d warps %.1f", threads / 32, sum);
  }
  printf(" %s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(cycles), cudaFree(out);
}
int main() {
  std::vector<int> host(4096);
  for (int k = 0; k < 4096; ++k) host[k] = k;
  cudaMemcpyToSymbol(table, host.data(), 4096 * 4);
  char* text;
  cudaMalloc(&text, 1 << 20);
  cudaMemset(text, 0, 1 << 20);
  for (int mask : {3, 15, 127, 255, 511, 1023, 4095}) run("constant_chain", constant_chain, mask, text, 0);
  for (int mask : {15, 255, 1023}) run("constant_free", constant_free, mask, text, 1);
  for (int stride : {0, 1, 4, 8, 16, 32, 64, 128}) run("byte_chain", byte_chain, stride, text, 0);
  for (int stride : {0, 1, 2, 4, 8, 16, 32}) run("word_chain", word_chain, stride, text, 0);
  for (int stride : {1, 64}) run("compare_constant", compare_constant, stride, text, 32);
  for (int stride : {1, 64}) run("compare_global", compare_global, stride, text, 32);
  run("alu_chain", alu_chain, 7, text, 0);
  run("branch_chain", branch_chain, 7, text, 0);
  run("float_chain", float_chain, 7, text, 0);
  for (int stride : {1, 64}) run("store_between", store_between, stride, text, 0);
}
