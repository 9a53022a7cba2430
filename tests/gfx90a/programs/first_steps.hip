// A scaled sum, an atomic reduction and a transpose through LDS, each checked on the host.
#include <hip/hip_runtime.h>

#include "check.h"

constexpr int kTile = 16;

__global__ void saxpy(double* y, const double* x, double a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

__global__ void sum(const int* x, int* total, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, x[i]);
}

__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[kTile][kTile + 1];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  out[(blockIdx.x * kTile + threadIdx.y) * n + blockIdx.y * kTile + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

int main() {
  const int n = 1000, side = 64;
  Buffer<double> x(n), y(n);
  Buffer<int> numbers(n), total(1);
  for (int i = 0; i < n; ++i) {
    x.host[i] = i;
    y.host[i] = 2 * i;
    numbers.host[i] = i;
  }
  total.host[0] = 5;
  x.upload(), y.upload(), numbers.upload(), total.upload();
  saxpy<<<8, 128>>>(y.device, x.device, 0.5, n);
  sum<<<8, 128>>>(numbers.device, total.device, n);
  y.download(), total.download();
  for (int i = 0; i < n; ++i) expect("saxpy", i, y.host[i], 2.5 * i);
  expect("sum", 0, total.host[0], 5 + n * (n - 1) / 2);

  Buffer<float> in(side * side), out(side * side);
  for (int i = 0; i < side * side; ++i) in.host[i] = float(i);
  in.upload();
  transpose<<<dim3(side / kTile, side / kTile), dim3(kTile, kTile)>>>(in.device, out.device, side);
  out.download();
  for (int i = 0; i < side * side; ++i) expect("transpose", i, out.host[i], in.host[i % side * side + i / side]);
  return finish();
}
