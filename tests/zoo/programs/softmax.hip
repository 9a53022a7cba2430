// Rows of numbers to probabilities. ./app [rows] [columns] [kind]
#include "zoo.h"

__global__ void softmax(const float* in, float* out, int columns) {
  __shared__ float part[256];
  const float* row = in + blockIdx.x * (size_t)columns;
  const int t = threadIdx.x;
  float most = -INFINITY;
  for (int c = t; c < columns; c += blockDim.x) most = fmaxf(most, row[c]);
  part[t] = most;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d) part[t] = fmaxf(part[t], part[t + d]);
    __syncthreads();
  }
  most = part[0];
  __syncthreads();
  float sum = 0.0f;
  for (int c = t; c < columns; c += blockDim.x) sum += expf(row[c] - most);
  part[t] = sum;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d) part[t] += part[t + d];
    __syncthreads();
  }
  sum = part[0];
  for (int c = t; c < columns; c += blockDim.x) out[blockIdx.x * (size_t)columns + c] = expf(row[c] - most) / sum;
}

int main(int argc, char** argv) {
  const int rows = zoo::number(argc, argv, 1, 12), columns = zoo::number(argc, argv, 2, 300);
  const char* kind = zoo::word(argc, argv, 3, "signed");
  const std::vector<float> in = zoo::floats(rows * columns, kind);
  float* out = zoo::device<float>(rows * columns);
  softmax<<<rows, 256>>>(zoo::device(in), out, columns);
  std::vector<double> exact(in.size());
  for (int r = 0; r < rows; ++r) {
    double most = -INFINITY, sum = 0;
    for (int c = 0; c < columns; ++c) most = std::fmax(most, in[r * columns + c]);
    for (int c = 0; c < columns; ++c) sum += std::exp(in[r * columns + c] - most);
    for (int c = 0; c < columns; ++c) exact[r * columns + c] = std::exp(in[r * columns + c] - most) / sum;
  }
  zoo::check("probabilities", zoo::host(out, in.size()), exact, 1e-5);
  return zoo::failed;
}
