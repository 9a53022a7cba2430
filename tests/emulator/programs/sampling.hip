// Kernels whose blocks, waves and requests differ in many ways: what a sample of them says is held against all of them.
// Usage: sampling CASE
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int kThreads = 128;

unsigned next_random(unsigned& state) { return state = state * 1664525u + 1013904223u; }

template <class T>
T* on_device(const std::vector<T>& values) {
  T* device = nullptr;
  if (hipMalloc(&device, values.size() * sizeof(T)) != hipSuccess) abort();
  (void)hipMemcpy(device, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice);
  return device;
}

std::vector<float> ramp(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = float(i % 977) * 0.25f;
  return values;
}

std::vector<int> random_below(size_t count, unsigned limit, unsigned seed = 7) {
  std::vector<int> values(count);
  for (int& value : values) value = int((next_random(seed) >> 8) % limit);
  return values;
}

__global__ void few_blocks_work(const int* keys, unsigned* histogram, int count) {
  if (blockIdx.x % 43 != 7) return;
  for (int i = blockIdx.x * 37 % 1000 + threadIdx.x; i < count; i += blockDim.x) atomicAdd(&histogram[keys[i]], 1u);
}

__global__ void triangle(const float* a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int j = 0; j < i; ++j) sum += a[j * 3 % n] * a[i];
  out[i] = sum;
}

__global__ void tickets(const float* a, float* out, int* next, int tiles) {
  __shared__ int tile;
  for (;;) {
    if (threadIdx.x == 0) tile = atomicAdd(next, 1);
    __syncthreads();
    int mine = tile;
    __syncthreads();
    if (mine >= tiles) return;
    for (int k = 0; k < 4 + mine % 5; ++k) out[mine * blockDim.x + threadIdx.x] += a[(mine * 131 + k * 64) % 4096 + threadIdx.x];
  }
}

__global__ void search(const int* values, int* found, int n, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int at = i, result = -1;
  for (int k = 0; k < steps; ++k) {
    at = (at * 17 + 3) % n;
    if (values[at] == i % 64) {
      result = at;
      break;
    }
  }
  found[i] = result;
}

__global__ void rounds_by_block(const int* rounds, const float* a, float* out, int n) {
  float sum = 0;
  for (int k = 0; k < rounds[blockIdx.x]; ++k) sum += a[(blockIdx.x * 61 + k * blockDim.x + threadIdx.x) % n];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void sparse_rows(const int* begin, const int* column, const float* x, float* y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = begin[row]; k < begin[row + 1]; ++k) sum += x[column[k]];
  y[row] = sum;
}

__global__ void last_block_sums(const float* a, float* parts, unsigned* done, float* out, int n) {
  __shared__ bool last;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += a[i];
  atomicAdd(&parts[blockIdx.x], sum);
  __threadfence();
  if (threadIdx.x == 0) last = atomicAdd(done, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  float all = 0;
  for (unsigned round = 0; round < 40; ++round)
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) all += parts[i];
  out[threadIdx.x] = all;
}

__global__ void nested(const int* lengths, const float* a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int outer = 0; outer < lengths[i % 512] % 6; ++outer) {
    sum += a[(i + outer) % n];
    for (int inner = 0; inner < lengths[(i * 7 + outer) % 512] % 9; ++inner) {
      if ((i ^ inner) & 3) sum += a[(i * 33 + inner * 5) % n];
      else sum -= a[inner];
    }
  }
  out[i] = sum;
}

__global__ void two_histograms(const int* keys, unsigned* global, int count) {
  __shared__ unsigned local[64];
  if (threadIdx.x < 64) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[keys[i] & 63], 1u);
    if (keys[i] % 5 == 0) atomicAdd(&global[keys[i] % 300], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&global[threadIdx.x], local[threadIdx.x]);
}

__global__ void tile(const float* in, float* out, int width) {
  __shared__ float block[16][17], plain[16][16];
  int x = threadIdx.x % 16, y = threadIdx.x / 16;
  for (int part = 0; part < 16; part += 8) {
    block[y + part][x] = in[(blockIdx.y * 16 + y + part) * width + blockIdx.x * 16 + x];
    plain[y + part][x] = block[y + part][x];
  }
  __syncthreads();
  for (int part = 0; part < 16; part += 8)
    out[(blockIdx.x * 16 + y + part) * width + blockIdx.y * 16 + x] = block[x][y + part] + plain[x][y + part];
}

__global__ void frontier(const int* begin, const int* column, const int* level, int* next, int nodes, int depth) {
  int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= nodes || level[node] != depth) return;
  for (int k = begin[node]; k < begin[node + 1]; ++k)
    if (level[column[k]] < 0) next[column[k]] = depth + 1;
}

__global__ void sorted_then_random(const int* index, const float* a, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = a[index[i]];
}

__global__ void borders(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * 16 + threadIdx.x % 16, y = blockIdx.y * 8 + threadIdx.x / 16;
  if (x >= width || y >= height) return;
  float sum = 4 * in[y * width + x];
  if (x > 0) sum -= in[y * width + x - 1];
  else sum -= 1;
  if (x + 1 < width) sum -= in[y * width + x + 1];
  if (y > 0) sum -= in[(y - 1) * width + x];
  if (y + 1 < height) sum -= in[(y + 1) * width + x];
  out[y * width + x] = sum;
}

__global__ void one_block_most(const float* a, float* out, int n) {
  int rounds = blockIdx.x == 77 ? 20000 : 4;
  float sum = 0;
  for (int k = 0; k < rounds; ++k) sum += a[(k * 128 + threadIdx.x * 3) % n];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

struct Particle {
  float position[3], velocity[3], mass, charge, more[24];
};
__global__ void copy_records(const Particle* from, Particle* to, const int* order, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && order[i] % 3) to[i] = from[order[i]];
}

__global__ void wave_sums(const float* a, float* out, int rows) {
  int lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  float sum = 0;
  for (int k = lane; k < 32 + row % 200; k += 32) sum += a[(row * 50 + k) % 60000];
  for (int step = 16; step; step >>= 1) sum += __shfl_down(sum, step, 32);
  if (lane == 0) out[row] = sum;
}

__device__ __attribute__((noinline)) float walk(const float* a, int from, int steps, int n) {
  float sum = 0;
  for (int k = 0; k < steps; ++k) {
    from = (from * 5 + 1) % n;
    if (from & 1) sum += a[from];
    else if (from & 2) sum -= a[from / 2];
  }
  return sum;
}
__global__ void calls(const float* a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 3; ++k)
    if ((i + k) % 3) sum += walk(a, i + k, (i * 7 + k) % 13, n);
  out[i] = sum;
}

__global__ void giant_blocks(const float* a, float* out, int rounds, int n) {
  __shared__ float part[kThreads];
  float sum = 0;
  for (int k = 0; k < rounds; ++k) {
    int at = (blockIdx.x * 7919 + k * (1 + k / 500) * kThreads + int(threadIdx.x) * (k % 3 + 1)) % n;
    if ((k + threadIdx.x / 8) % 4) sum += a[at];
    part[(threadIdx.x * (k % 5)) % kThreads] = sum;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum + part[threadIdx.x];
}

__global__ void escape_time(int* out, const int* limits, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float cx = float(i % width) / width * 3 - 2, cy = float(i / width) / width * 2 - 1, x = 0, y = 0;
  int k = 0;
  while (x * x + y * y < 4 && k < limits[k % 64]) {
    float t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
    ++k;
  }
  out[i] = k;
}

__global__ void halves(const int* sorted, const int* keys, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, low = 0, high = n;
  while (low < high) {
    int middle = (low + high) / 2;
    if (sorted[middle] < keys[i]) low = middle + 1;
    else high = middle;
  }
  out[i] = low;
}

__global__ void steps_with_barriers(float* a, int steps) {
  __shared__ float row[2 * kThreads];
  int from = blockIdx.x * kThreads;
  row[threadIdx.x] = a[from + threadIdx.x];
  for (int step = 0; step < steps + int(blockIdx.x % 4); ++step) {
    __syncthreads();
    int stride = 1 << (step % 7);
    if (threadIdx.x % (2 * stride) == 0) row[threadIdx.x] += row[(threadIdx.x + stride) % kThreads];
  }
  __syncthreads();
  a[from + threadIdx.x] = row[threadIdx.x];
}

template <class T>
T* zeros(size_t count) { return on_device(std::vector<T>(count)); }

void graph(int nodes, std::vector<int>& begin, std::vector<int>& column) {
  unsigned state = 99;
  begin.push_back(0);
  for (int node = 0; node < nodes; ++node) {
    int degree = node % 251 == 3 ? 300 : int(next_random(state) >> 29);
    for (int k = 0; k < degree; ++k) column.push_back(int((next_random(state) >> 8) % unsigned(nodes)));
    begin.push_back(int(column.size()));
  }
}

void run(const char* name) {
  const auto is = [&](const char* other) { return strcmp(name, other) == 0; };
  const int n = 1 << 16;
  float *a = on_device(ramp(n + 4096)), *out = zeros<float>(size_t(1) << 20);
  std::vector<int> begin, column;
  if (is("few_blocks_work"))
    few_blocks_work<<<6000, kThreads>>>(on_device(random_below(20000, 256)), zeros<unsigned>(256), 20000);
  if (is("triangle")) triangle<<<20, kThreads>>>(a, out, 2500);
  if (is("tickets")) tickets<<<40, kThreads>>>(a, out, zeros<int>(1), 3000);
  if (is("search")) search<<<1500, kThreads>>>(on_device(random_below(8192, 64)), zeros<int>(1500 * kThreads), 8192, 40);
  if (is("rounds_by_block")) {
    std::vector<int> rounds = random_below(2000, 8);
    for (size_t i = 0; i < rounds.size(); i += 97) rounds[i] = 400;
    rounds_by_block<<<2000, kThreads>>>(on_device(rounds), a, out, n);
  }
  if (is("sparse_rows")) {
    graph(200000, begin, column);
    sparse_rows<<<1563, kThreads>>>(on_device(begin), on_device(column), on_device(ramp(200000)), out, 200000);
  }
  if (is("last_block_sums")) last_block_sums<<<2000, kThreads>>>(a, zeros<float>(2000), zeros<unsigned>(1), out, n * 1);
  if (is("nested")) nested<<<1500, kThreads>>>(on_device(random_below(512, 1000)), a, out, n);
  if (is("two_histograms")) two_histograms<<<64, kThreads>>>(on_device(random_below(1200000, 5000)), zeros<unsigned>(300), 1200000);
  if (is("tile")) tile<<<dim3(64, 64), kThreads>>>(zeros<float>(1024 * 1024), out, 1024);
  if (is("frontier")) {
    const int nodes = 60000;
    graph(nodes, begin, column);
    std::vector<int> levels(nodes, -1);
    levels[3] = 0;
    int *starts = on_device(begin), *ends = on_device(column), *level = on_device(levels), *next = on_device(levels);
    for (int depth = 0; depth < 12; ++depth) {
      frontier<<<(nodes + kThreads - 1) / kThreads, kThreads>>>(starts, ends, level, next, nodes, depth);
      (void)hipMemcpy(level, next, nodes * sizeof(int), hipMemcpyDeviceToDevice);
    }
  }
  if (is("sorted_then_random")) {
    std::vector<int> index = random_below(400000, n);
    for (size_t i = 0; i < index.size(); ++i)
      if (i % 8192 < 7000) index[i] = int(i % n);
    sorted_then_random<<<3125, kThreads>>>(on_device(index), a, out);
  }
  if (is("borders")) borders<<<dim3(63, 120), kThreads>>>(zeros<float>(1000 * 960), out, 1000, 957);
  if (is("one_block_most")) one_block_most<<<1000, kThreads>>>(a, out, n);
  if (is("copy_records"))
    copy_records<<<400, kThreads>>>(zeros<Particle>(50000), zeros<Particle>(51200), on_device(random_below(51200, 50000)), 50000);
  if (is("wave_sums")) wave_sums<<<6000, kThreads>>>(a, out, 23999);
  if (is("calls")) calls<<<1500, kThreads>>>(a, out, n);
  if (is("giant_blocks")) giant_blocks<<<6, kThreads>>>(a, out, 4000, n);
  if (is("escape_time")) escape_time<<<400, kThreads>>>(zeros<int>(400 * kThreads), on_device(std::vector<int>(64, 300)), 256);
  if (is("halves")) {
    std::vector<int> sorted(20000);
    for (size_t i = 0; i < sorted.size(); ++i) sorted[i] = int(i * 3);
    halves<<<1200, kThreads>>>(on_device(sorted), on_device(random_below(1200 * kThreads, 60000)), zeros<int>(1200 * kThreads), 20000);
  }
  if (is("steps_with_barriers")) steps_with_barriers<<<1200, kThreads>>>(out, 12);
  if (hipDeviceSynchronize() != hipSuccess) abort();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  run(argv[1]);
  return 0;
}
