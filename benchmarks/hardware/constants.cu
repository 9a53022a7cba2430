// Cycles per load of constant memory whose lanes read `apart` addresses, of dependent loads from the LDS, and others.
#include <cuda_runtime.h>
#include <cstdio>
#include <vector>
constexpr int kRounds = 512;
__constant__ int table[8192];
// Each lane's index comes from the value before it: `table` holds i -> (i + 32) % 1024 or so, so that nothing is hoisted.
template <int APART>
__global__ void constant_chain(long long* cycles, int* out, int stride) {
  int at = (threadIdx.x % APART) * stride;
  const long long t0 = clock64();
#pragma unroll 1
  for (int k = 0; k < kRounds; ++k) at = table[at];
  const long long t1 = clock64();
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
  if (threadIdx.x == 0) cycles[blockIdx.x] = t1 - t0;
}
// Independent loads: indices from arithmetic only.
template <int APART>
__global__ void constant_free(long long* cycles, int* out, int stride) {
  int sum = 0;
  const int mine = (threadIdx.x % APART) * stride;
  const long long t0 = clock64();
#pragma unroll 8
  for (int k = 0; k < kRounds; ++k) sum += table[(mine + k * 3) & 1023];
  const long long t1 = clock64();
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  if (threadIdx.x == 0) cycles[blockIdx.x] = t1 - t0;
}
__global__ void lds_chain(long long* cycles, int* out, int step) {
  __shared__ int next[2048];
  for (int k = threadIdx.x; k < 2048; k += blockDim.x) next[k] = (k + step) & 2047;
  __syncthreads();
  int at = threadIdx.x & 1023;
  const long long t0 = clock64();
#pragma unroll 1
  for (int k = 0; k < kRounds; ++k) at = next[at];
  const long long t1 = clock64();
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
  if (threadIdx.x == 0) cycles[blockIdx.x] = t1 - t0;
}
// The same with conflicts: lanes `stride` words apart.
__global__ void lds_chain_conflicts(long long* cycles, int* out, int stride) {
  __shared__ int next[4096];
  for (int k = threadIdx.x; k < 4096; k += blockDim.x) next[k] = (k + stride) & 4095;
  __syncthreads();
  int at = (threadIdx.x * stride) & 4095;
  const long long t0 = clock64();
#pragma unroll 1
  for (int k = 0; k < kRounds; ++k) at = next[at];
  const long long t1 = clock64();
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
  if (threadIdx.x == 0) cycles[blockIdx.x] = t1 - t0;
}
// A store and a load of the LDS with a barrier between, as in sorting networks and scans.
__global__ void lds_barrier(long long* cycles, int* out) {
  __shared__ int box[1024];
  int at = threadIdx.x, value = at;
  const long long t0 = clock64();
#pragma unroll 1
  for (int k = 0; k < kRounds; ++k) {
    box[at] = value;
    __syncthreads();
    value += box[at ^ (1 << (k & 4))];
    __syncthreads();
  }
  const long long t1 = clock64();
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
  if (threadIdx.x == 0) cycles[blockIdx.x] = t1 - t0;
}
template <class F>
void run(const char* name, int arg, F launch) {
  long long* cycles;
  int* out;
  cudaMalloc(&cycles, 4096 * 8);
  cudaMalloc(&out, 4 << 20);
  int sms = 132;
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  for (int threads : {32, 128, 256, 1024}) {
    for (int per : {1, 2}) {
      if (per == 2 && threads < 1024) continue;
      const int blocks = sms * per;
      cudaEvent_t a, b;
      cudaEventCreate(&a), cudaEventCreate(&b);
      launch(blocks, threads, cycles, out);
      cudaEventRecord(a);
      launch(blocks, threads, cycles, out);
      cudaEventRecord(b);
      cudaDeviceSynchronize();
      float ms = 0;
      cudaEventElapsedTime(&ms, a, b);
      std::vector<long long> seen(blocks);
      cudaMemcpy(seen.data(), cycles, blocks * 8, cudaMemcpyDeviceToHost);
      double sum = 0;
      for (long long s : seen) sum += double(s);
      printf("%s arg %d warps_per_sm %d cycles_per_turn %.2f event_us %.2f %s\n", name, arg, threads * per / 32,
             sum / blocks / kRounds, ms * 1e3, cudaGetErrorString(cudaGetLastError()));
    }
  }
}
#define APARTS(CASE) CASE(1) CASE(2) CASE(4) CASE(8) CASE(16) CASE(32)
int main() {
  for (int stride : {1, 2, 32}) {
    std::vector<int> host(8192);
    for (int k = 0; k < 8192; ++k) host[k] = (k + 32 * stride) % (stride == 32 ? 8192 : 1024);
    cudaMemcpyToSymbol(table, host.data(), 8192 * 4);
    printf("stride %d\n", stride);
#define CHAIN(A) \
  run("constant_chain", A, [&](int b, int t, long long* c, int* o) { constant_chain<A><<<b, t>>>(c, o, stride); });
#define FREE(A) \
  run("constant_free", A, [&](int b, int t, long long* c, int* o) { constant_free<A><<<b, t>>>(c, o, stride); });
    APARTS(CHAIN)
    if (stride < 32) {
      APARTS(FREE)
    }
  }
  run("lds_chain", 1, [&](int b, int t, long long* c, int* o) { lds_chain<<<b, t>>>(c, o, 1); });
  for (int s : {2, 4, 8, 32})
    run("lds_chain_conflicts", s, [&](int b, int t, long long* c, int* o) { lds_chain_conflicts<<<b, t>>>(c, o, s); });
  run("lds_barrier", 0, [&](int b, int t, long long* c, int* o) { lds_barrier<<<b, t>>>(c, o); });
}
