// Rows divided by their largest value; the kernel is written by a macro and launched with a rounded grid.
#include <cstdio>
#include <vector>
#define FOR_ROW(var, limit) \
  int var = blockIdx.x * blockDim.x + threadIdx.x; \
  if (var < limit)

__global__ void normalizeRows(float* m, int rows, int cols) {
  FOR_ROW(r, rows) {
    float top = 0;
    for (int c = 0; c < cols; ++c) {
      float v = fabsf(m[r * cols + c]);
      if (v > top) top = v;
    }
    for (int c = 0; c < cols; ++c) m[r * cols + c] = m[r * cols + c] / top;
  }
}

int main() {
  const int rows = 1800, cols = 260;
  std::vector<float> h(rows * cols);
  for (int i = 0; i < rows * cols; ++i) h[i] = 1 + (i * 3 % 47);
  float* d;
  cudaMalloc(&d, h.size() * 4);
  cudaMemcpy(d, h.data(), h.size() * 4, cudaMemcpyHostToDevice);
  const int block = 128;
  const int grid = (rows + block - 1) / block;
  normalizeRows<<<grid, block>>>(d, rows, cols);
  cudaMemcpy(h.data(), d, h.size() * 4, cudaMemcpyDeviceToHost);
  double s = 0;
  for (float v : h) s += v;
  printf("%.1f\n", s);
}
