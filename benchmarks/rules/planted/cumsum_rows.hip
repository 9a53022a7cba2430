// Running totals along the rows of a matrix, in place, by one thread for each row.
//// both
#include "hip_support.h"
constexpr int kRows = 1024, kWidth = 1024;
//// planted
__global__ void cumsum(int* table, int rows, int width) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int* line = &table[row * width];
  for (int i = 1; i < width; ++i) line[i] += line[i - 1];
}
void launch(int* table) { cumsum<<<kRows / 128, 128>>>(table, kRows, kWidth); }
//// expert
__global__ void cumsum(int* table, int rows, int width) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 64, lane = threadIdx.x % 64;
  if (row >= rows) return;
  int* line = &table[row * width];
  int before = 0;
  for (int first = 0; first < width; first += 64) {
    int value = first + lane < width ? line[first + lane] : 0;
    for (int step = 1; step < 64; step *= 2) {
      int other = __shfl_up(value, step);
      if (lane >= step) value += other;
    }
    value += before;
    if (first + lane < width) line[first + lane] = value;
    before = __shfl(value, 63);
  }
}
void launch(int* table) { cumsum<<<kRows / 4, 256>>>(table, kRows, kWidth); }
//// both
int main() {
  std::vector<int> table(kRows * kWidth);
  for (size_t i = 0; i < table.size(); ++i) table[i] = int(noise(i) * 100) - 30;
  int* device = upload(table);
  launch(device);
  const auto found = download(device, table.size());
  bool right = true;
  for (int row = 0; row < kRows; ++row) {
    int sum = 0;
    for (int i = 0; i < kWidth; ++i) right &= found[row * kWidth + i] == (sum += table[row * kWidth + i]);
  }
  return told(right);
}
