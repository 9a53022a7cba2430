// Kernels of different character, timed in processor time of this process. Prints one line per kernel:
//   <kernel> <threads> <accesses> <nanoseconds of each launch after the first ...>
// and for the same work in plain host loops lines that begin with "host". The first launch is left out: it
// maps memory and, without records, is the one that is looked at.
//
//   emulator_speed <launches> <matrix rows> <elements> [<only this kernel>]
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <vector>

constexpr int kTile = 16, kBlock = 256;

__global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void strided_copy(const float* a, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[int((long long)i * 33 % n)];
}

__global__ void histogram(const int* labels, unsigned* bins, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[labels[i]], 1u);
}

__global__ void atomic_sum(const float* a, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, a[i]);
}

__global__ void block_sum(const float* a, float* sums, int n) {
  __shared__ float part[kBlock];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? a[i] : 0.0f;
  __syncthreads();
  for (int half = kBlock / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

__global__ void barriers_only(float* c) {
  float value = c[threadIdx.x];
  for (int round = 0; round < 32; ++round) {
    value = value * 0.5f + 1.0f;
    __syncthreads();
  }
  c[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void transpose(const float* a, float* c, int n) {
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  c[x * n + y] = a[y * n + x];
}

__global__ void transpose_tiled(const float* a, float* c, int n) {
  __shared__ float tile[kTile][kTile + 1];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = a[y * n + x];
  __syncthreads();
  c[(blockIdx.x * kTile + threadIdx.y) * n + blockIdx.y * kTile + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
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

static const char* only = nullptr;

static double now_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) * 1e9 + double(now.tv_nsec);
}

static void measure(const char* name, double threads, double accesses, int launches, const std::function<void()>& run) {
  if (only && std::strcmp(only, name) != 0) return;
  std::printf("%s %.0f %.0f", name, threads, accesses);
  run();
  for (int i = 1; i < launches; ++i) {
    const double begun = now_ns();
    run();
    std::printf(" %.0f", now_ns() - begun);
  }
  std::printf("\n");
  std::fflush(stdout);
}

static volatile float kept;

// What a processor does for the same work, one element after another.
static void measure_host(int launches, int rows, int n) {
  std::vector<float> a(n, 1.0f), b(n, 2.0f), c(n);
  measure("host.vector_add", n, 3.0 * n, launches, [&] {
#pragma clang loop vectorize(disable) unroll(disable)
    for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];
    kept = c[n / 2];
  });
  const int size = rows * rows;
  std::vector<float> left(size, 1.0f), right(size, 2.0f), out(size);
  measure("host.product", size, 2.0 * size * rows, launches, [&] {
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < rows; ++x) {
        float sum = 0;
#pragma clang loop vectorize(disable) unroll(disable)
        for (int k = 0; k < rows; ++k) sum += left[y * rows + k] * right[k * rows + x];
        out[y * rows + x] = sum;
      }
    kept = out[size / 2];
  });
}

template <class T>
static T* device_copy(const std::vector<T>& from) {
  T* copy = nullptr;
  if (hipMalloc(reinterpret_cast<void**>(&copy), from.size() * sizeof(T)) != hipSuccess) std::abort();
  if (hipMemcpy(copy, from.data(), from.size() * sizeof(T), hipMemcpyHostToDevice) != hipSuccess) std::abort();
  return copy;
}

int main(int count, char** words) {
  if (count < 4 || count > 5) return 2;
  if (count == 5) only = words[4];
  const int launches = std::atoi(words[1]), rows = std::atoi(words[2]), n = std::atoi(words[3]);
  const int size = rows * rows;
  std::vector<int> picked(n);
  for (int i = 0; i < n; ++i) picked[i] = int(unsigned(i) * 2654435761u >> 22);
  const int* labels = device_copy(picked);
  unsigned* bins = device_copy(std::vector<unsigned>(1024));
  const float* a = device_copy(std::vector<float>(n, 1.0f));
  const float* b = device_copy(std::vector<float>(n, 2.0f));
  float* c = device_copy(std::vector<float>(n));
  const float* left = device_copy(std::vector<float>(size, 1.0f));
  const float* right = device_copy(std::vector<float>(size, 2.0f));
  float* out = device_copy(std::vector<float>(size));
  const dim3 line((n + kBlock - 1) / kBlock), square(rows / kTile, rows / kTile), tile(kTile, kTile);
  const double threads = double(line.x) * kBlock, cells = size, blocks = line.x;

  measure_host(launches, rows, n);
  const auto launch = [&](const char* name, double all, double accesses, const std::function<void()>& run) {
    measure(name, all, accesses, launches, [&] {
      run();
      if (hipDeviceSynchronize() != hipSuccess) std::abort();
    });
  };
  launch("vector_add", threads, 3.0 * n, [&] { vector_add<<<line, kBlock>>>(a, b, c, n); });
  launch("strided_copy", threads, 2.0 * n, [&] { strided_copy<<<line, kBlock>>>(a, c, n); });
  launch("histogram", threads, 2.0 * n, [&] { histogram<<<line, kBlock>>>(labels, bins, n); });
  launch("atomic_sum", threads, 2.0 * n, [&] { atomic_sum<<<line, kBlock>>>(a, c, n); });
  launch("block_sum", threads, 2.0 * n + blocks * (3 * (kBlock - 1) + 2), [&] { block_sum<<<line, kBlock>>>(a, c, n); });
  launch("barriers_only", threads / 8, threads / 4, [&] { barriers_only<<<line.x / 8, kBlock>>>(c); });
  launch("transpose", cells, 2 * cells, [&] { transpose<<<square, tile>>>(left, out, rows); });
  launch("transpose_tiled", cells, 4 * cells, [&] { transpose_tiled<<<square, tile>>>(left, out, rows); });
  launch("product", cells, cells * (2.0 * rows + 1), [&] { product<<<square, tile>>>(left, right, out, rows); });
  launch("product_tiled", cells, cells * (2.0 * rows + 4.0 * rows / kTile + 1),
         [&] { product_tiled<<<square, tile>>>(left, right, out, rows); });
  return 0;
}
