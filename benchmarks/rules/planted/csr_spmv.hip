// Sparse matrix times vector in doubles, compressed rows, a thread for each row.
//// both
#include "hip_support.h"
constexpr int kRows = 4096, kColumns = 8192, kMost = 288;
//// planted
__global__ void spmv(const int* starts, const int* columns, const double* values, const double* x, double* y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    double sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; ++k) sum += values[k] * x[columns[k]];
    y[row] = sum;
  }
}
void launch(const int* starts, const int* columns, const double* values, const double* x, double* y) {
  spmv<<<(kRows + 255) / 256, 256>>>(starts, columns, values, x, y, kRows);
}
//// expert
__global__ void spmv(const int* starts, const int* columns, const double* values, const double* x, double* y, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 64, lane = threadIdx.x % 64;
  if (row < rows) {
    double sum = 0;
    for (int k = starts[row] + lane; k < starts[row + 1]; k += 64) sum += values[k] * x[columns[k]];
    for (int step = 32; step; step /= 2) sum += __shfl_down(sum, step);
    if (lane == 0) y[row] = sum;
  }
}
void launch(const int* starts, const int* columns, const double* values, const double* x, double* y) {
  spmv<<<kRows / 4, 256>>>(starts, columns, values, x, y, kRows);
}
//// both
int main() {
  std::vector<int> starts(1, 0), columns;
  std::vector<double> values, x(kColumns), expected(kRows, 0);
  for (int i = 0; i < kColumns; ++i) x[i] = noise(i) - 0.5;
  for (int row = 0; row < kRows; ++row) {
    const int entries = kMost / 2 + int(noise(row) * kMost / 2);
    for (int k = 0; k < entries; ++k) {
      columns.push_back(int(noise(row * 1000 + k) * (kColumns - 1)));
      values.push_back(noise(row + k * 3));
      expected[row] += values.back() * x[columns.back()];
    }
    starts.push_back(int(columns.size()));
  }
  double* y = zeros<double>(kRows);
  launch(upload(starts), upload(columns), upload(values), upload(x), y);
  const auto found = download(y, kRows);
  bool right = true;
  for (int row = 0; row < kRows; ++row) right &= near(found[row], expected[row], 1e-9);
  return told(right);
}
