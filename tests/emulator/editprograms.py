"""Programs of different shape for the edit gate: what each is, and the kernel that a candidate is for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """`texts` by path, the file that patches are for first."""

    kernel: str
    texts: dict[str, str]


CHECK = """#define CHECK(call)                                              \\
  do {                                                           \\
    hipError_t status = (call);                                  \\
    if (status != hipSuccess) {                                  \\
      fprintf(stderr, "%s:%d: %s\\n", __FILE__, __LINE__, hipGetErrorString(status)); \\
      exit(1);                                                   \\
    }                                                            \\
  } while (0)
"""

REDUCTION = Program(
    "sum",
    {
        "sum.hip": """#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
"""
        + CHECK
        + """__global__ void sum(const float* in, float* out, int n) {
  __shared__ __align__(16) float part[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, part[0]);
}

int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 100000;
  std::vector<float> host(n, 0.5f);
  float *in, *out, total = 0;
  CHECK(hipMalloc(&in, n * sizeof(float)));
  CHECK(hipMalloc(&out, sizeof(float)));
  CHECK(hipMemcpy(in, host.data(), n * sizeof(float), hipMemcpyHostToDevice));
  CHECK(hipMemset(out, 0, sizeof(float)));
  const int threads = 256;
  const int blocks = (n + threads - 1) / threads;
  sum<<<blocks, threads>>>(in, out, n);
  CHECK(hipGetLastError());
  CHECK(hipMemcpy(&total, out, sizeof(float), hipMemcpyDeviceToHost));
  printf("%f %s\\n", total, total == 0.5f * n ? "PASS" : "FAIL");
  CHECK(hipFree(in));
  CHECK(hipFree(out));
  return total == 0.5f * n ? 0 : 1;
}
""",
    },
)

STENCIL = Program(
    "smooth",
    {
        "kernels.cuh": """#pragma once
#define TILE 16
template <typename T>
__device__ __forceinline__ T blend(T a, T b, T c) { return T(0.25) * a + T(0.5) * b + T(0.25) * c; }

template <typename T>
__global__ void smooth(const T* in, T* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int left = max(x - 1, 0), right = min(x + 1, width - 1);
  out[y * width + x] = blend(in[y * width + left], in[y * width + x], in[y * width + right]);
}
""",
        "grid.h": """#pragma once
struct Grid { int width = 200, height = 120; float* front = nullptr; float* back = nullptr; };
inline int div_up(int a, int b) { return (a + b - 1) / b; }
void run(Grid& grid, int steps);
""",
        "run.cu": """#include <cuda_runtime.h>
#include <cstdio>
#include <utility>
#include "grid.h"
#include "kernels.cuh"

void run(Grid& grid, int steps) {
  dim3 block(TILE, TILE);
  dim3 grids(div_up(grid.width, block.x), div_up(grid.height, block.y));
  for (int i = 0; i < steps; ++i) {
    smooth<float><<<grids, block>>>(grid.front, grid.back, grid.width, grid.height);
    std::swap(grid.front, grid.back);
  }
  if (steps > 100) {
    dim3 grids(1);
    smooth<float><<<grids, 64>>>(grid.front, grid.back, 64, 1);
  }
}
""",
        "main.cu": """#include <cuda_runtime.h>
#include <cstdio>
#include <vector>
#include "grid.h"

int main() {
  Grid grid;
  size_t bytes = sizeof(float) * grid.width * grid.height;
  cudaMalloc(&grid.front, bytes);
  cudaMalloc(&grid.back, bytes);
  std::vector<float> host(grid.width * grid.height);
  for (size_t i = 0; i < host.size(); ++i) host[i] = float(i % 97);
  cudaMemcpy(grid.front, host.data(), bytes, cudaMemcpyHostToDevice);
  run(grid, 10);
  cudaMemcpy(host.data(), grid.front, bytes, cudaMemcpyDeviceToHost);
  double total = 0;
  for (float value : host) total += value;
  printf("%.3f\\n", total);
  cudaFree(grid.front);
  cudaFree(grid.back);
}
""",
    },
)

HISTOGRAM = Program(
    "count",
    {
        "histogram.cu": """#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include "device.inc.cu"

template <typename T>
class Buffer {
 public:
  explicit Buffer(size_t n) : size_(n) { cudaMalloc(&data_, n * sizeof(T)); }
  ~Buffer() { cudaFree(data_); }
  T* data() { return data_; }
  size_t bytes() const { return size_ * sizeof(T); }
 private:
  T* data_ = nullptr;
  size_t size_;
};

static void launch(const unsigned char* in, unsigned* bins, int n, int block) {
  int grid = (n + block - 1) / block;
  count<<<grid, block>>>(in, bins, n);
}

int main() {
  const int n = 1 << 16;
  unsigned char* host = static_cast<unsigned char*>(malloc(n));
  for (int i = 0; i < n; ++i) host[i] = (i * 7919) >> 4;
  Buffer<unsigned char> in(n);
  Buffer<unsigned> bins(256);
  cudaMemcpy(in.data(), host, n, cudaMemcpyHostToDevice);
  cudaMemset(bins.data(), 0, bins.bytes());
  launch(in.data(), bins.data(), n, 128);
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) { puts(cudaGetErrorString(error)); return 1; }
  unsigned result[256];
  cudaMemcpy(result, bins.data(), sizeof result, cudaMemcpyDeviceToHost);
  unsigned total = 0;
  for (unsigned value : result) total += value;
  puts(total == unsigned(n) ? "PASS" : "FAIL");
  free(host);
  return total != unsigned(n);
}
""",
        "device.inc.cu": """__device__ inline int bin_of(unsigned char value) { return value; }
__global__ void count(const unsigned char* in, unsigned* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[bin_of(in[i])], 1u);
}
""",
    },
)

SOFTMAX = Program(
    "softmax",
    {
        "softmax.hip": """#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdio>
#include <vector>
"""
        + CHECK
        + """namespace nn {
struct Shape { int rows, columns; };
__constant__ float temperature = 1.0f;
__device__ float row_max(const float* row, int n) {
  float best = row[0];
  for (int i = 1; i < n; ++i) best = fmaxf(best, row[i]);
  return best;
}
__global__ void softmax(const float* in, float* out, Shape shape) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= shape.rows) return;
  const float* mine = in + row * shape.columns;
  float best = row_max(mine, shape.columns), total = 0;
  for (int i = 0; i < shape.columns; ++i) total += expf((mine[i] - best) * temperature);
  for (int i = 0; i < shape.columns; ++i) {
    out[row * shape.columns + i] = expf((mine[i] - best) * temperature) / total;
  }
}
}  // namespace nn

int main() {
  const nn::Shape shape{300, 70};
  const int n = shape.rows * shape.columns;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = float(i % 13) * 0.1f;
  float *in, *out;
  CHECK(hipMalloc(&in, n * sizeof(float)));
  CHECK(hipMalloc(&out, n * sizeof(float)));
  CHECK(hipMemcpy(in, host.data(), n * sizeof(float), hipMemcpyHostToDevice));
  hipLaunchKernelGGL(nn::softmax, dim3((shape.rows + 63) / 64), dim3(64), 0, 0, in, out, shape);
  CHECK(hipDeviceSynchronize());
  CHECK(hipMemcpy(host.data(), out, n * sizeof(float), hipMemcpyDeviceToHost));
  for (int r = 0; r < shape.rows; ++r) {
    double total = 0;
    for (int c = 0; c < shape.columns; ++c) total += host[r * shape.columns + c];
    if (std::fabs(total - 1) > 1e-4) { puts("FAIL"); return 1; }
  }
  puts("PASS");
  CHECK(hipFree(in));
  CHECK(hipFree(out));
}
""",
    },
)

PRODUCT = Program(
    "product",
    {
        "product.cu": """#include <cstdio>
#include <cuda_runtime.h>

__device__ int finished;

extern "C" __global__ void product(const double* a, const double* b, double* c, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || column >= n) return;
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

static bool verify(const double* c, int n) {
  for (int i = 0; i < n * n; ++i) {
    if (c[i] != double(n)) return false;
  }
  return true;
}

int main() {
  const int n = 64;
  double *a, *b, *c;
  cudaMallocManaged(&a, n * n * sizeof(double));
  cudaMallocManaged(&b, n * n * sizeof(double));
  cudaMallocManaged(&c, n * n * sizeof(double));
  for (int i = 0; i < n * n; ++i) a[i] = b[i] = 1.0;
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
  cudaEventRecord(start);
  product<<<grid, block>>>(a, b, c, n);
  cudaEventRecord(stop);
  cudaEventSynchronize(stop);
  float spent = 0;
  cudaEventElapsedTime(&spent, start, stop);
  bool right = verify(c, n);
  printf("%.3f ms %s\\n", spent, right ? "PASS" : "FAIL");
  return right ? 0 : 1;
}
""",
    },
)

SCAN = Program(
    "scan_blocks",
    {
        "scan.hip": """#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
#ifndef BLOCK
#define BLOCK 128
#endif

__global__ void scan_blocks(const int* in, int* out, int* sums, int n) {
  __shared__ int tile[BLOCK];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  tile[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = 1; step < BLOCK; step *= 2) {
    int add = threadIdx.x >= step ? tile[threadIdx.x - step] : 0;
    __syncthreads();
    tile[threadIdx.x] += add;
    __syncthreads();
  }
  if (i < n) out[i] = tile[threadIdx.x];
  if (threadIdx.x == BLOCK - 1) sums[blockIdx.x] = tile[threadIdx.x];
}

__global__ void add_sums(int* out, const int* sums, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  int before = 0;
  for (int block = 0; block < blockIdx.x; ++block) before += sums[block];
  if (i < n) out[i] += before;
}

struct Device {
  int *in, *out, *sums;
};

int main() {
  const int n = 5000;
  const int blocks = (n + BLOCK - 1) / BLOCK;
  std::vector<int> host(n, 1);
  Device device;
  if (hipMalloc(&device.in, n * sizeof(int)) != hipSuccess) return 1;
  if (hipMalloc(&device.out, n * sizeof(int)) != hipSuccess) return 1;
  if (hipMalloc(&device.sums, blocks * sizeof(int)) != hipSuccess) return 1;
  if (hipMemcpy(device.in, host.data(), n * sizeof(int), hipMemcpyHostToDevice) != hipSuccess) return 1;
  scan_blocks<<<blocks, BLOCK>>>(device.in, device.out, device.sums, n);
  add_sums<<<blocks, BLOCK>>>(device.out, device.sums, n);
  if (hipMemcpy(host.data(), device.out, n * sizeof(int), hipMemcpyDeviceToHost) != hipSuccess) return 1;
  for (int i = 0; i < n; ++i) {
    if (host[i] != i + 1) return 2;
  }
  puts("PASS");
}
""",
    },
)

PROGRAMS = {
    "reduction": REDUCTION,
    "stencil": STENCIL,
    "histogram": HISTOGRAM,
    "softmax": SOFTMAX,
    "product": PRODUCT,
    "scan": SCAN,
}
