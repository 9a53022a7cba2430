// Sparse matrix times vector, compressed rows, one thread per row.
#include <cstdio>
#include <vector>

__device__ double warpSum(double v) {
  for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d, 16);
  return v;
}

__global__ void spmv(int n, const int* start, const int* column, const double* value, const double* x, double* y) {
  const int row = (blockDim.x * blockIdx.x + threadIdx.x) / 16, lane = threadIdx.x % 16;
  if (row < n) {
    double dot = 0;
    int first = start[row];
    int last = start[row + 1];
    for (int k = first + lane; k < last; k += 16) dot += value[k] * x[column[k]];
    dot = warpSum(dot);
    if (lane == 0) y[row] = dot;
  }
}

int main() {
  const int n = 8192;
  std::vector<int> start{0}, column;
  std::vector<double> value, x(n), y(n);
  for (int r = 0; r < n; ++r) {
    x[r] = 1 + r % 3;
    for (int k = 0; k < 48 + r % 33; ++k) {
      column.push_back((r + k) % n);
      value.push_back(0.5 + (r * 7 + k) % 5);
    }
    start.push_back((int)column.size());
  }
  int *ds, *dc;
  double *dv, *dx, *dy;
  cudaMalloc(&ds, start.size() * 4); cudaMalloc(&dc, column.size() * 4);
  cudaMalloc(&dv, value.size() * 8); cudaMalloc(&dx, n * 8); cudaMalloc(&dy, n * 8);
  cudaMemcpy(ds, start.data(), start.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dc, column.data(), column.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dv, value.data(), value.size() * 8, cudaMemcpyHostToDevice);
  cudaMemcpy(dx, x.data(), n * 8, cudaMemcpyHostToDevice);
  const int BLOCK = 128;
  spmv<<<(n * 16 + BLOCK - 1) / BLOCK, BLOCK>>>(n, ds, dc, dv, dx, dy);
  cudaMemcpy(y.data(), dy, n * 8, cudaMemcpyDeviceToHost);
  double s = 0;
  for (double v : y) s += v;
  printf("%.1f\n", s);
}
