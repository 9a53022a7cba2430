// Sums of rows of half-precision numbers, an element of class type.
#include <cuda_fp16.h>
#include <cstdio>
#include <vector>

__global__ void sumRows(const __half* values, float* sums, unsigned rows, unsigned cols) {
  unsigned r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float acc = 0.0f;
  for (unsigned c = 0; c < cols; ++c) acc += __half2float(values[r * cols + c]);
  sums[r] = acc;
}

int main() {
  const unsigned rows = 2048, cols = 512;
  std::vector<__half> h(rows * cols);
  for (unsigned i = 0; i < rows * cols; ++i) h[i] = __float2half(float(i % 9) * 0.25f);
  __half* v;
  float* s;
  cudaMalloc(&v, h.size() * sizeof(__half));
  cudaMalloc(&s, rows * sizeof(float));
  cudaMemcpy(v, h.data(), h.size() * sizeof(__half), cudaMemcpyHostToDevice);
  sumRows<<<rows / 128, 128>>>(v, s, rows, cols);
  std::vector<float> out(rows);
  cudaMemcpy(out.data(), s, rows * sizeof(float), cudaMemcpyDeviceToHost);
  double t = 0;
  for (float f : out) t += f;
  printf("%.2f\n", t);
}
