// The execution model as a program sees it. Each check prints "ok <name>" or "FAIL <name>".
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace cg = cooperative_groups;

#define CHECK(call)                                                                      \
  do {                                                                                   \
    hipError_t error = (call);                                                           \
    if (error != hipSuccess) {                                                           \
      std::printf("FAIL %s: %s\n", #call, hipGetErrorString(error));                     \
      std::exit(1);                                                                      \
    }                                                                                    \
  } while (0)

static int failures;
static void expect(bool holds, const char* name) {
  std::printf("%s %s\n", holds ? "ok" : "FAIL", name);
  failures += !holds;
}

template <class T>
struct Buffer {
  T* device;
  std::vector<T> host;
  explicit Buffer(size_t count, T fill = T()) : host(count, fill) {
    CHECK(hipMalloc(reinterpret_cast<void**>(&device), count * sizeof(T)));
    push();
  }
  ~Buffer() { (void)hipFree(device); }
  void push() { CHECK(hipMemcpy(device, host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice)); }
  const std::vector<T>& pull() {
    CHECK(hipMemcpy(host.data(), device, host.size() * sizeof(T), hipMemcpyDeviceToHost));
    return host;
  }
};

// ---- divergence ------------------------------------------------------------------------------------
__device__ __noinline__ float weight(const float* values, int column) { return values[column] * 2; }

__global__ void rows(const int* begin, const int* columns, const float* values, float* out, int count) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= count) return;
  float sum = 0;
  for (int i = begin[row]; i < begin[row + 1]; ++i) sum += weight(values, columns[i]);
  out[row] = sum;
}

__global__ void nested(const int* lengths, int* out) {
  const int t = threadIdx.x;
  int count = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < lengths[(t + i) % 64]; ++j) {
      if ((j + t) % 3 == 0) continue;
      count += 1;
      if (count > 8) break;
    }
  }
  out[t] = count;
}

static void check_divergence() {
  const int count = 200;
  Buffer<int> begin(count + 1), columns(count * 9);
  Buffer<float> values(count, 1), out(count);
  int at = 0;
  std::vector<float> wanted(count);
  for (int row = 0; row < count; ++row) {
    begin.host[row] = at;
    for (int k = 0; k < row * 7 % 9; ++k) columns.host[at++] = (row * 31 + k * 17) % count;
    wanted[row] = 2.0f * (row * 7 % 9);
  }
  begin.host[count] = at;
  begin.push();
  columns.push();
  rows<<<(count + 63) / 64, 64>>>(begin.device, columns.device, values.device, out.device, count);
  expect(out.pull() == wanted, "sparse rows");

  Buffer<int> lengths(64), counts(64);
  for (int i = 0; i < 64; ++i) lengths.host[i] = i * 5 % 11;
  lengths.push();
  nested<<<1, 64>>>(lengths.device, counts.device);
  counts.pull();
  bool good = true;
  for (int t = 0; t < 64; ++t) {
    int expected = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < lengths.host[(t + i) % 64]; ++j) {
        if ((j + t) % 3 == 0) continue;
        expected += 1;
        if (expected > 8) break;
      }
    good &= counts.host[t] == expected;
  }
  expect(good, "nested loops with continue and break");
}

// ---- waves -------------------------------------------------------------------------------------------
__global__ void warp_synchronous(const float* in, float* out) {  // no barrier below one wave
  __shared__ volatile float s[256];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int step = 128; step >= 32; step /= 2) {
    if (t < step) s[t] = s[t] + s[t + step];
    __syncthreads();
  }
  if (t < 16) {
    s[t] = s[t] + s[t + 16];
    s[t] = s[t] + s[t + 8];
    s[t] = s[t] + s[t + 4];
    s[t] = s[t] + s[t + 2];
    s[t] = s[t] + s[t + 1];
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void reduce_by_shuffle(const int* in, int* out) {
  int value = in[threadIdx.x];
  for (int step = warpSize / 2; step > 0; step /= 2) value += __shfl_down(value, step);
  if (threadIdx.x % warpSize == 0) out[threadIdx.x / warpSize] = value;
}

__global__ void rows_by_waves(const int* in, int* out, int rows, int columns) {  // one lane stores, all go on
  for (int row = threadIdx.x / warpSize; row < rows; row += blockDim.x / warpSize) {
    int sum = 0;
    for (int i = threadIdx.x % warpSize; i < columns; i += warpSize) sum += in[row * columns + i];
    for (int step = warpSize / 2; step > 0; step /= 2) sum += __shfl_xor(sum, step);
    if (threadIdx.x % warpSize == 0) out[row] = sum;
  }
}

__global__ void votes(unsigned long long* out) {
  unsigned long long seen = 0;
  if (threadIdx.x % 2 == 0)
    seen = __ballot(threadIdx.x % 4 == 0);
  else
    seen = __any(threadIdx.x == 3) * 2 + __all(threadIdx.x % 2);
  out[threadIdx.x] = seen;
}

__global__ void tiles(int* out) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int value = threadIdx.x;
  for (int step = 8; step; step /= 2) value += tile.shfl_down(value, step);
  if (tile.thread_rank() == 0) out[threadIdx.x / 16] = value;
}

static void check_waves() {
  Buffer<float> in(64 * 256), sums(64);
  std::iota(in.host.begin(), in.host.end(), 0.0f);
  in.push();
  warp_synchronous<<<64, 256>>>(in.device, sums.device);
  sums.pull();
  bool good = true;
  for (int b = 0; b < 64; ++b) good &= sums.host[b] == 256.0f * 256 * b + 255 * 128;
  expect(good, "warp-synchronous reduction");

  Buffer<int> numbers(128), totals(4);
  std::iota(numbers.host.begin(), numbers.host.end(), 0);
  numbers.push();
  reduce_by_shuffle<<<1, 128>>>(numbers.device, totals.device);
  totals.pull();
  expect(totals.host[0] + totals.host[1] + totals.host[2] + totals.host[3] == 8128, "reduction by shuffles");

  Buffer<int> table(12 * 100), rows_of_it(12);
  std::iota(table.host.begin(), table.host.end(), 0);
  table.push();
  rows_by_waves<<<1, 128>>>(table.device, rows_of_it.device, 12, 100);
  rows_of_it.pull();
  good = true;
  for (int r = 0; r < 12; ++r) good &= rows_of_it.host[r] == 100 * 100 * r + 4950;
  expect(good, "shuffles in a loop in which one lane stores");

  Buffer<unsigned long long> seen(32);
  votes<<<1, 32>>>(seen.device);
  seen.pull();
  expect(seen.host[0] == 0x11111111ull && seen.host[2] == seen.host[0] && seen.host[1] == 3, "divergent votes");

  Buffer<int> rows(4);
  tiles<<<1, 64>>>(rows.device);
  rows.pull();
  expect(rows.host[0] == 120 && rows.host[3] == 120 + 16 * 48, "tiles of sixteen");
}

// ---- barriers ----------------------------------------------------------------------------------------
__global__ void barriers(int* out) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = 0;
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    if (t % 2) s[t] += i;
    else s[t] -= i;
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
  }
  out[t] = s[t];
}

__global__ void early(int* out) {
  if (threadIdx.x >= 100) return;
  __syncthreads();
  out[threadIdx.x] = __syncthreads_count(threadIdx.x % 3 == 0);
}

static void check_barriers() {
  Buffer<int> out(128);
  barriers<<<1, 128>>>(out.device);
  out.pull();
  // Below 64 the upper half is added in every round.
  expect(out.host[127] == 6 && out.host[126] == -6 && out.host[1] == 6 + 0 + 1 + 3 + 6, "barriers in a loop");
  Buffer<int> counts(128);
  early<<<1, 128>>>(counts.device);
  counts.pull();
  expect(counts.host[0] == 34 && counts.host[99] == 34 && counts.host[100] == 0, "early exit before a barrier");
}

// ---- progress ----------------------------------------------------------------------------------------
__global__ void lock_convergent(int* lock, int* data) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *data = *data + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

__global__ void lock_plain(int* lock, int* data) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  *data = *data + 1;
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void wait_for_wave(volatile int* flag, int* out) {
  if (threadIdx.x == 0) {
    while (*flag == 0) {
    }
    *out = *flag + 1;
  }
  if (threadIdx.x == 100) *flag = 41;
}

__global__ void sum_blocks(const int* in, int* partial, unsigned* finished, int* total) {  // last block adds up
  __shared__ bool last;
  int sum = 0;
  for (int i = 0; i < 8; ++i) sum += in[blockIdx.x * 8 + i];
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(finished, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  int all = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) all += partial[b];
  *total = all;
}

static void check_progress() {
  Buffer<int> words(2);
  lock_convergent<<<3, 64>>>(words.device, words.device + 1);
  expect(words.pull()[1] == 192, "spin lock, released inside the loop");
  words.host = {0, 0};
  words.push();
  lock_plain<<<3, 64>>>(words.device, words.device + 1);
  expect(words.pull()[1] == 192, "spin lock, released after the loop");
  words.host = {0, 0};
  words.push();
  wait_for_wave<<<1, 128>>>(words.device, words.device + 1);
  expect(words.pull()[1] == 42, "one wave waits for another");

  Buffer<int> in(64 * 8, 1), partial(64), total(1);
  Buffer<unsigned> finished(1);
  sum_blocks<<<64, 32>>>(in.device, partial.device, finished.device, total.device);
  expect(total.pull()[0] == 512, "the last block adds up");
}

// ---- grids -------------------------------------------------------------------------------------------
__global__ void grid_steps(int* cells, int n) {
  cg::grid_group grid = cg::this_grid();
  __shared__ int kept;
  if (threadIdx.x == 0) kept = blockIdx.x;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int step = 0; step < 3; ++step) {
    const int right = cells[(i + 1) % n];
    grid.sync();
    cells[i] = right;
    grid.sync();
  }
  if (threadIdx.x == 0) cells[n + blockIdx.x] = kept;
}

static void check_grids() {
  int n = 8 * 96;
  Buffer<int> cells(n + 8);
  std::iota(cells.host.begin(), cells.host.end(), 0);
  cells.push();
  void* arguments[] = {&cells.device, &n};
  CHECK(hipLaunchCooperativeKernel(reinterpret_cast<void*>(grid_steps), dim3(8), dim3(96), arguments, 0, nullptr));
  cells.pull();
  bool good = true;
  for (int i = 0; i < n; ++i) good &= cells.host[i] == (i + 3) % n;
  for (int b = 0; b < 8; ++b) good &= cells.host[n + b] == b;
  expect(good, "grid-wide barriers keep each block's shared memory");
}

int main() {
  for (int pass = 0; pass < 2; ++pass) {  // the first launch of a kernel is traced, a later one may not be
    check_divergence();
    check_waves();
    check_barriers();
    check_progress();
    check_grids();
  }
  return failures != 0;
}
