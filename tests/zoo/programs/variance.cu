// Mean and variance of rows, in two passes. ./app [rows] [columns] [kind]
#include "zoo.h"

__device__ float block_sum(float v) {
  __shared__ float part[128];
  part[threadIdx.x] = v;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
    __syncthreads();
  }
  const float sum = part[0];
  __syncthreads();
  return sum;
}

__global__ void moments(const float* in, float* mean, float* variance, int columns) {
  const float* row = in + blockIdx.x * (size_t)columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += row[c];
  const float m = block_sum(sum) / columns;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) squares += (row[c] - m) * (row[c] - m);
  squares = block_sum(squares);
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = m;
    variance[blockIdx.x] = squares / columns;
  }
}

int main(int argc, char** argv) {
  const int rows = zoo::number(argc, argv, 1, 20), columns = zoo::number(argc, argv, 2, 500);
  const char* kind = zoo::word(argc, argv, 3, "large");
  const std::vector<float> in = zoo::floats(rows * columns, kind);
  float *mean = zoo::device<float>(rows), *variance = zoo::device<float>(rows);
  moments<<<rows, 128>>>(zoo::device(in), mean, variance, columns);
  std::vector<double> means(rows), variances(rows);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) means[r] += in[r * columns + c] / double(columns);
    for (int c = 0; c < columns; ++c) {
      const double off = in[r * columns + c] - means[r];
      variances[r] += off * off / columns;
    }
  }
  zoo::check("mean", zoo::host(mean, rows), means, 1e-5);
  zoo::check("variance", zoo::host(variance, rows), variances, 1e-2);
  return zoo::failed;
}
