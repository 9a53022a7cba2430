// What the parts of a GPU can do, one at a time: for the figures of emulator/devicefigures.py and the time model.
// Built and timed like a family of the corpus, on hardware only; each name says how much work the variant is.
#include "corpus/corpus.h"
constexpr int kSms = 132, kThreads = 256, kFull = kSms * 8;  // blocks that fill the device

__global__ void empty() {}
__global__ void read_all(const float4* x, float* y, int n) {
  float4 sum = {};
  for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) sum.x += x[i].x, sum.y += x[i].w;
  if (sum.x + sum.y == 12345) *y = sum.x;
}
__global__ void read_l2(const float4* x, float* y, int n, int rounds) {
  float sum = 0;
  for (int k = 0; k < rounds; ++k)
    for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) {
      const float4 value = __ldcg(x + (i + k * 4096) % n);
      sum += value.x + value.w;
    }
  if (sum == 12345) *y = sum;
}
__global__ void read_l1(const float* x, float* y, int rounds) {
  float sum = 0;
  for (int k = 0; k < rounds; ++k) sum += x[(threadIdx.x + k * 32) % 4096];
  if (sum == 12345) *y = sum;
}
__global__ void write_all(float4* y, int n) {
  for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) y[i] = make_float4(i, 1, 2, 3);
}
__global__ void write_sectors(float* y, int n) {  // 4 bytes of each 32
  for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) y[size_t(i) * 8] = i;
}
enum Kind { kAdd, kAddOld, kMax, kSwap };
// `per` lanes of a warp on one address; `spread` addresses in all, `apart` elements from one another.
template <class T, Kind K>
__global__ void atomics(T* y, int* old, int per, int spread, int apart) {
  const unsigned i = INDEX;
  T* at = y + size_t((i / per) % spread) * apart;
  T before = T(0);
  if (K == kAdd || K == kAddOld) before = atomicAdd(at, T(threadIdx.x));
  if constexpr (sizeof(T) == 4 && T(0.5) == T(0)) {
    if (K == kMax) before = atomicMax(at, T(i));
    if (K == kSwap) before = atomicCAS(at, T(i), T(i + 1));
  }
  if (K == kAddOld && before == T(-1)) *old = 1;
}
template <class T, bool One>
__global__ void lds_atomics(T* y, int per, int rounds) {
  __shared__ T part[1024];
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) part[k] = 0;
  __syncthreads();
  for (int k = 0; k < rounds; ++k) atomicAdd(&part[(threadIdx.x / per + k) % 1024], One ? T(1) : T(threadIdx.x + k));
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = part[3];
}
__global__ void chase(const int* next, int* y, int at, int rounds) {
  for (int k = 0; k < rounds; ++k) at = next[at];
  *y = at;
}
template <class T>
__global__ void fused(T* y, T a, int rounds) {
  T sum[4] = {T(threadIdx.x), a, 1, 2};
  for (int k = 0; k < rounds; ++k)
    for (int j = 0; j < 4; ++j) sum[j] = sum[j] * a + T(0.25);
  if (sum[0] + sum[1] + sum[2] + sum[3] == T(12345)) *y = sum[0];
}
__global__ void one_chain(float* y, float a, int rounds) {
  float sum = threadIdx.x;
  for (int k = 0; k < rounds; ++k) sum = sum * a + 0.25f;
  if (sum == 12345) *y = sum;
}
__global__ void whole(int* y, int a, int rounds) {
  int sum[4] = {int(threadIdx.x), a, 1, 2};
  for (int k = 0; k < rounds; ++k)
    for (int j = 0; j < 4; ++j) sum[j] = (sum[j] ^ a) + (sum[j] >> 1);
  if (sum[0] + sum[1] + sum[2] + sum[3] == 12345) *y = sum[0];
}
__global__ void divisions(int* y, int a, int rounds) {
  int sum = threadIdx.x + 1000000;
  for (int k = 0; k < rounds; ++k) sum = sum / a + 1000000;
  if (sum == 12345) *y = sum;
}
__global__ void roots(float* y, float a, int rounds) {
  float sum[4] = {float(threadIdx.x), a, 1, 2};
  for (int k = 0; k < rounds; ++k)
    for (int j = 0; j < 4; ++j) sum[j] = rsqrtf(sum[j] + a);
  if (sum[0] + sum[1] + sum[2] + sum[3] == 12345) *y = sum[0];
}
__global__ void float_divisions(float* y, float a, int rounds) {
  float sum[4] = {float(threadIdx.x), a, 1, 2};
  for (int k = 0; k < rounds; ++k)
    for (int j = 0; j < 4; ++j) sum[j] = a / (sum[j] + 2);
  if (sum[0] + sum[1] + sum[2] + sum[3] == 12345) *y = sum[0];
}
__global__ void shuffles(float* y, int rounds) {
  float value = threadIdx.x;
  for (int k = 0; k < rounds; ++k) value += __shfl_xor_sync(0xFFFFFFFF, value, 1);
  if (value == 12345) *y = value;
}
__global__ void barriers(float* y, int rounds) {
  for (int k = 0; k < rounds; ++k) __syncthreads();
  if (threadIdx.x == 5000) *y = 1;
}
__global__ void lds_reads(float* y, int stride, int rounds) {
  __shared__ float part[4096];
  for (int k = threadIdx.x; k < 4096; k += blockDim.x) part[k] = 0;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < rounds; ++k) sum += part[(threadIdx.x * stride + k * 32) % 4096];
  if (sum == 12345) *y = sum;
}
__global__ void lds_chain(int* y, int rounds) {
  __shared__ int part[256];
  part[threadIdx.x] = threadIdx.x * 7 % 256;
  __syncthreads();
  int at = threadIdx.x;
  for (int k = 0; k < rounds; ++k) at = part[at];
  *y = at;
}

int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const size_t bytes = size_t(512) << 20;
  float4* x;
  float* y;
  CHECK(cudaMalloc(&x, bytes));
  CHECK(cudaMalloc(&y, bytes));
  CHECK(cudaMemset(x, 0, bytes));
  CHECK(cudaMemset(y, 0, bytes));
  int* z = reinterpret_cast<int*>(y);
  const auto named = [](auto... parts) {
    std::string name;
    ((name += std::string(name.empty() ? "" : " ") + parts), ...);
    return name;
  };
  const auto number = [](long value) { return std::to_string(value); };

  for (const auto [blocks, threads] : {std::pair(1, 32), {132, 256}, {2112, 256}, {1 << 14, 32}, {1 << 16, 32}, {1 << 16, 256}, {1 << 14, 1024}})
    c.variant(named("empty", number(blocks), number(threads)).c_str(), [&] { empty<<<blocks, threads>>>(); });
  for (const size_t mib : {4, 16, 64, 512}) {
    const int n = int((mib << 20) / 16);
    c.variant(named("read", number(mib), "MiB").c_str(), [&] { read_all<<<kFull, kThreads>>>(x, y, n); });
    c.variant(named("write", number(mib), "MiB").c_str(), [&] { write_all<<<kFull, kThreads>>>((float4*)y, n); });
  }
  c.variant("write_sectors 1/8 of 512 MiB", [&] { write_sectors<<<kFull, kThreads>>>(y, int(bytes / 32)); });
  for (const int blocks : {1, 16, 132})
    c.variant(named("read 16 MiB by", number(blocks), "blocks").c_str(), [&] { read_all<<<blocks, 1024>>>(x, y, 1 << 20); });
  c.variant("read_l2 16 x 16 MiB", [&] { read_l2<<<kFull, kThreads>>>(x, y, 1 << 20, 16); });
  c.variant("read_l1 1024 per thread", [&] { read_l1<<<kFull, kThreads>>>((float*)x, y, 1024); });

  const int blocks = 4096;  // 1 Mi lanes
  for (const auto [per, spread, apart] : {std::tuple(32, 1, 1), {32, 8, 32}, {32, 1024, 32}, {32, 32768, 32}, {1, 32, 1}, {1, 1024, 1}, {1, 1 << 20, 1}, {1, 1 << 20, 8}, {1, 1 << 20, 32}, {4, 1024, 1}, {4, 1 << 18, 8}}) {
    const std::string shape = named(number(per), number(spread), number(apart));
    c.variant(named("red float", shape).c_str(), [&] { atomics<float, kAdd><<<blocks, 256>>>(y, z, per, spread, apart); });
    c.variant(named("red int", shape).c_str(), [&] { atomics<int, kAdd><<<blocks, 256>>>(z, z, per, spread, apart); });
    c.variant(named("red double", shape).c_str(), [&] { atomics<double, kAdd><<<blocks, 256>>>((double*)y, z, per, spread, apart); });
    c.variant(named("atom float", shape).c_str(), [&] { atomics<float, kAddOld><<<blocks, 256>>>(y, z, per, spread, apart); });
    c.variant(named("atom int", shape).c_str(), [&] { atomics<int, kAddOld><<<blocks, 256>>>(z, z, per, spread, apart); });
    c.variant(named("max int", shape).c_str(), [&] { atomics<int, kMax><<<blocks, 256>>>(z, z, per, spread, apart); });
    c.variant(named("cas int", shape).c_str(), [&] { atomics<int, kSwap><<<blocks, 256>>>(z, z, per, spread, apart); });
  }
  for (const int per : {32, 8, 2, 1}) {
    c.variant(named("lds float", number(per), "64").c_str(), [&] { lds_atomics<float, false><<<kFull, kThreads>>>(y, per, 64); });
    c.variant(named("lds double", number(per), "64").c_str(), [&] { lds_atomics<double, false><<<kFull, kThreads>>>((double*)y, per, 64); });
    c.variant(named("lds int", number(per), "64").c_str(), [&] { lds_atomics<int, false><<<kFull, kThreads>>>(z, per, 64); });
    c.variant(named("lds one", number(per), "64").c_str(), [&] { lds_atomics<int, true><<<kFull, kThreads>>>(z, per, 64); });
  }
  const auto ring = [&](int entries) {  // steps of 128 bytes and more, each entry once
    std::vector<int> next(size_t(entries) * 32);
    for (int i = 0; i < entries; ++i) next[size_t(i) * 32] = int((i * 1664525l + 1013904223l) % entries) * 32;
    return c.input(next);
  };
  const int *small = ring(1 << 9), *medium = ring(1 << 16), *large = ring(1 << 21);
  c.variant("chase L1 512", [&] { chase<<<1, 1>>>(small, z, 0, 512 * 8); });
  c.variant("chase L2 4096", [&] { chase<<<1, 1>>>(medium, z, 0, 4096); });
  c.variant("chase DRAM 4096", [&] { chase<<<1, 1>>>(large, z, 0, 4096); });
  c.variant("lds_chain 4096", [&] { lds_chain<<<1, 256>>>(z, 4096); });
  for (const int full : {kSms, kFull}) {
    const std::string size = number(full);
    c.variant(named("fma float 4 x 256", size).c_str(), [&] { fused<float><<<full, kThreads>>>(y, 0.5f, 256); });
    c.variant(named("fma double 4 x 256", size).c_str(), [&] { fused<double><<<full, kThreads>>>((double*)y, 0.5, 256); });
    c.variant(named("one_chain 1024", size).c_str(), [&] { one_chain<<<full, kThreads>>>(y, 0.5f, 1024); });
    c.variant(named("int 4 x 256 x 3", size).c_str(), [&] { whole<<<full, kThreads>>>(z, 12345, 256); });
    c.variant(named("idiv 256", size).c_str(), [&] { divisions<<<full, kThreads>>>(z, 77, 256); });
    c.variant(named("rsqrt 4 x 256", size).c_str(), [&] { roots<<<full, kThreads>>>(y, 0.5f, 256); });
    c.variant(named("fdiv 4 x 64", size).c_str(), [&] { float_divisions<<<full, kThreads>>>(y, 0.5f, 64); });
    c.variant(named("shfl 1024", size).c_str(), [&] { shuffles<<<full, kThreads>>>(y, 1024); });
    c.variant(named("barrier 1024", size).c_str(), [&] { barriers<<<full, kThreads>>>(y, 1024); });
    c.variant(named("lds_reads 1 1024", size).c_str(), [&] { lds_reads<<<full, kThreads>>>(y, 1, 1024); });
    c.variant(named("lds_reads 8 1024", size).c_str(), [&] { lds_reads<<<full, kThreads>>>(y, 8, 1024); });
  }
  return c.end();
}
