// Pairs of kernels of which one must be modelled as slower, and readings of the clocks.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <initializer_list>

constexpr int kTile = 16;

__global__ void copy(const float* a, float* c, int stride, int mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = a[(i * stride) & mask];
}

__global__ void copy_wide(const float4* a, float4* c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = a[i];
}

// The same, but a sixteenth of the blocks does it all, and a large one comes first.
__global__ void copy_unevenly(const float* a, float* c, int n) {
  const int first = 64, active = gridDim.x / 16, each = n / active;
  if (int(blockIdx.x) < first || int(blockIdx.x) >= first + active) return;
  for (int k = threadIdx.x; k < each; k += blockDim.x) {
    const int i = (int(blockIdx.x) - first) * each + k;
    c[i] = a[i];
  }
}

// One block has as much to do as all others together, or more.
__global__ void sums(const float* a, float* c, int longest) {
  float sum = 0;
  const int n = blockIdx.x == gridDim.x / 2 ? longest : int(blockDim.x);
  for (int k = threadIdx.x; k < n; k += blockDim.x) sum += a[k];
  c[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void add_to(float* sums, int spread) {
  atomicAdd(&sums[(blockIdx.x * blockDim.x + threadIdx.x) & (spread - 1)], 1.0f);
}

template <int kPitch>
__global__ void columns(float* c) {
  __shared__ float tile[64 * kPitch];
  for (int k = 0; k < 64; ++k) tile[(threadIdx.x & 63) * kPitch + (k & 31)] = float(k);
  __syncthreads();
  c[blockIdx.x * blockDim.x + threadIdx.x] = tile[threadIdx.x];
}

__global__ void chase(const float* a, float* c, int rounds) {
  extern __shared__ float unused[];
  unused[threadIdx.x] = 0;
  float sum = 0;
  for (int k = 0; k < rounds; ++k) sum += a[(k * 64 + threadIdx.x) & 4095];
  c[blockIdx.x * blockDim.x + threadIdx.x] = sum + unused[threadIdx.x];
}

// Each wave through lines of its own, most of which its L1 has.
__global__ void walk(const float* a, float* c, int rounds) {
  int at = (blockIdx.x * blockDim.x + threadIdx.x) / 64 * rounds;
  for (int k = 0; k < rounds; ++k) at += 1 + int(a[at]);
  c[blockIdx.x * blockDim.x + threadIdx.x] = float(at);
}

__global__ void product(const float* a, const float* b, float* c, int n) {
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}

__global__ void product_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float left[kTile][kTile], right[kTile][kTile];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  float sum = 0;
  for (int at = 0; at < n; at += kTile) {
    left[threadIdx.y][threadIdx.x] = a[y * n + at + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(at + threadIdx.y) * n + x];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

// Pieces of work of differing length, each thread's, wave's or block's own by its number or drawn from a counter.
enum class Taker { kThread, kWave, kBlock };
template <Taker kTaker, bool kDraws>
__global__ void pieces(int* next, const float* a, float* c, int all) {
  __shared__ int drawn;
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % warpSize;
  const int size = kTaker == Taker::kThread ? 1 : kTaker == Taker::kWave ? warpSize : blockDim.x;
  const int takers = gridDim.x * blockDim.x / size, at = threadIdx.x % size;
  for (int piece = thread / size;; piece += takers) {
    if (kDraws && kTaker == Taker::kThread) piece = atomicAdd(next, 1);
    if (kDraws && kTaker == Taker::kWave) {
      if (lane == 0) piece = atomicAdd(next, 1);
      piece = __shfl(piece, 0);
    }
    if (kDraws && kTaker == Taker::kBlock) {
      if (threadIdx.x == 0) drawn = atomicAdd(next, 1);
      __syncthreads();
      piece = drawn;
      __syncthreads();
    }
    if (piece >= all) break;
    float sum = 0;
    for (int k = at; k < (16 + piece % 7 * 8) * size; k += size) sum += a[(piece * 64 + k) & 65535];
    c[piece * size + at] = sum;
  }
}

__global__ void read_clock(const float* a, long long* cycles) {
  const long long begun = clock64();
  float sum = 0;
  for (int k = 0; k < 64; ++k) sum += a[k * 64 + threadIdx.x];
  cycles[threadIdx.x] = clock64() - begun + (sum < 0);
}

template <class Launch>
static void timed(const char* name, Launch launch) {
  hipEvent_t begin, end;
  (void)hipEventCreate(&begin);
  (void)hipEventCreate(&end);
  (void)hipEventRecord(begin);
  launch();
  (void)hipEventRecord(end);
  float milliseconds = 0;
  (void)hipEventElapsedTime(&milliseconds, begin, end);
  std::printf("%s %.9f\n", name, milliseconds);
}

int main() {
  constexpr int n = 1 << 20, rows = 256;
  float *a, *b, *c;
  long long* cycles;
  (void)hipMalloc(&a, n * sizeof(float));
  (void)hipMalloc(&b, n * sizeof(float));
  (void)hipMalloc(&c, n * sizeof(float));
  (void)hipMalloc(&cycles, 64 * sizeof(long long));
  for (float* each : {a, b, c}) (void)hipMemset(each, 0, n * sizeof(float));
  timed("copy", [&] { copy<<<1024, 256>>>(a, c, 1, n - 1); });
  timed("copy_wide", [&] { copy_wide<<<256, 256>>>((const float4*)a, (float4*)c); });
  timed("copy_unevenly", [&] { copy_unevenly<<<1024, 256>>>(a, c, 1024 * 256); });
  timed("sum_alone", [&] { sums<<<1, 64>>>(a, c, 8192); });
  timed("sum_among_short_ones", [&] { sums<<<512, 64>>>(a, c, 8192); });
  timed("copy_strided", [&] { copy<<<1024, 256>>>(a, c, 33, n - 1); });
  timed("copy_cached", [&] { copy<<<1024, 256>>>(a, c, 1, 1023); });
  timed("copy_twice", [&] { copy<<<2048, 256>>>(a, c, 1, n - 1); });
  timed("atomics_spread", [&] { add_to<<<256, 256>>>(c, 65536); });
  timed("atomics_hot", [&] { add_to<<<256, 256>>>(c, 1); });
  timed("columns", [&] { columns<33><<<1024, 256>>>(c); });
  timed("columns_conflicting", [&] { columns<32><<<1024, 256>>>(c); });
  timed("chase", [&] { chase<<<1216, 64, 1024>>>(a, c, 64); });
  timed("chase_alone", [&] { chase<<<1216, 64, 65536>>>(a, c, 64); });
  timed("walk_alone", [&] { walk<<<8, 64>>>(a, c, 256); });
  timed("walk_together", [&] { walk<<<8, 512>>>(a, c, 256); });
  const dim3 grid(rows / kTile, rows / kTile), block(kTile, kTile);
  timed("product", [&] { product<<<grid, block>>>(a, b, c, rows); });
  timed("product_tiled", [&] { product_tiled<<<grid, block>>>(a, b, c, rows); });
  const auto taken = [&](auto kernel, int all) {
    (void)hipMemset(cycles, 0, 64 * sizeof(long long));
    kernel<<<110, 128>>>((int*)cycles, a, c, all);
  };
  timed("blocks_own", [&] { taken(pieces<Taker::kBlock, false>, 1100); });
  timed("blocks_drawn", [&] { taken(pieces<Taker::kBlock, true>, 1100); });
  timed("waves_own", [&] { taken(pieces<Taker::kWave, false>, 2200); });
  timed("waves_drawn", [&] { taken(pieces<Taker::kWave, true>, 2200); });
  timed("threads_own", [&] { taken(pieces<Taker::kThread, false>, 140800); });
  timed("threads_drawn", [&] { taken(pieces<Taker::kThread, true>, 140800); });
  read_clock<<<1, 64>>>(a, cycles);
  long long read = 0;
  (void)hipMemcpy(&read, cycles, sizeof read, hipMemcpyDeviceToHost);
  std::printf("clock %lld\n", read);
  return 0;
}
