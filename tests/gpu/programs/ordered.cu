// Sums of columns: every run of one build gives the same bits, and another order of adding gives others.
#include <cstdio>
#include <vector>

constexpr int kColumns = 4096, kRows = 1000;

__global__ void sums(const float* a, float* out, int columns, int rows) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
#if defined(TREE)
  float parts[4] = {};
  for (int row = 0; row < rows; ++row) parts[row % 4] += a[row * columns + column];
  out[column] = (parts[0] + parts[1]) + (parts[2] + parts[3]);
#elif defined(FEWER)
  float sum = 0.0f;
  for (int row = 0; row < rows - 1; ++row) sum += a[row * columns + column];
  out[column] = sum;
#else
  float sum = 0.0f;
  for (int row = 0; row < rows; ++row) sum += a[row * columns + column];
  out[column] = sum;
#endif
}

int main() {
  std::vector<float> host(size_t(kColumns) * kRows);
  for (size_t i = 0; i < host.size(); ++i) host[i] = float((i * 2654435761u >> 8) % 1000) / 999.0f;
  float *a, *out;
  cudaMalloc(&a, host.size() * sizeof(float));
  cudaMalloc(&out, kColumns * sizeof(float));
  cudaMemcpy(a, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  sums<<<kColumns / 128, 128>>>(a, out, kColumns, kRows);
  cudaMemcpy(host.data(), out, kColumns * sizeof(float), cudaMemcpyDeviceToHost);
  printf("%.3g\n", host[0]);
  return cudaDeviceSynchronize() != cudaSuccess;
}
