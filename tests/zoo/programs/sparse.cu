// A sparse matrix in rows times a vector. ./app [rows] [kind] [longest row]
#include "zoo.h"

__global__ void multiply(const int* starts, const int* columns, const float* values, const float* x, float* y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    for (int at = starts[row]; at < starts[row + 1]; ++at) sum += values[at] * x[columns[at]];
    y[row] = sum;
  }
}

int main(int argc, char** argv) {
  const int rows = zoo::number(argc, argv, 1, 700);
  const char* kind = zoo::word(argc, argv, 2, "plain");
  const int longest = zoo::number(argc, argv, 3, 40);
  const std::vector<int> lengths = zoo::ints(rows, longest, "plain", 5);
  std::vector<int> starts(rows + 1);
  for (int r = 0; r < rows; ++r) starts[r + 1] = starts[r] + lengths[r];
  const std::vector<int> columns = zoo::ints(starts[rows], rows, "plain", 6);
  const std::vector<float> values = zoo::floats(starts[rows], kind, 7), x = zoo::floats(rows, kind, 8);
  float* y = zoo::device(std::vector<float>(rows, -1.0f));
  multiply<<<(rows + 127) / 128, 128>>>(
      zoo::device(starts), zoo::device(columns), zoo::device(values), zoo::device(x), y, rows);
  std::vector<double> exact(rows);
  for (int r = 0; r < rows; ++r)
    for (int at = starts[r]; at < starts[r + 1]; ++at) exact[r] += double(values[at]) * x[columns[at]];
  zoo::check("y", zoo::host(y, rows), exact, 1e-5);
  return zoo::failed;
}
