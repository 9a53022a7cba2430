// Sum of each row: one thread per row, through a pointer to its row.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

__global__ void rowSum(const float* in, float* out, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* x = in + r * cols;
  float s = 0.0f;
  for (int j = 0; j < cols; j++) s += x[j];
  out[r] = s;
}

int main() {
  const int rows = 2000, cols = 500;
  std::vector<float> h(rows * cols), o(rows);
  for (int i = 0; i < rows * cols; ++i) h[i] = (i * 37 % 101) * 0.01f;
  float *in, *out;
  hipMalloc(&in, h.size() * 4);
  hipMalloc(&out, o.size() * 4);
  hipMemcpy(in, h.data(), h.size() * 4, hipMemcpyHostToDevice);
  int block = 256;
  rowSum<<<(rows + block - 1) / block, block>>>(in, out, rows, cols);
  hipMemcpy(o.data(), out, o.size() * 4, hipMemcpyDeviceToHost);
  double total = 0;
  for (float v : o) total += v;
  printf("%.1f\n", total);
}
