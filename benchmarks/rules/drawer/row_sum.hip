// Sum of each row: one thread per row, through a pointer to its row.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

__device__ float waveSum(float v) {
  for (int d = warpSize / 2; d > 0; d /= 2) v += __shfl_down(v, d);
  return v;
}

__global__ void rowSum(const float* in, float* out, int rows, int cols) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, lane = threadIdx.x % warpSize;
  if (r >= rows) return;
  const float* x = in + r * cols;
  float s = 0.0f;
  for (int j = lane; j < cols; j += warpSize) s += x[j];
  s = waveSum(s);
  if (lane == 0) out[r] = s;
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
  rowSum<<<(rows * 64 + block - 1) / block, block>>>(in, out, rows, cols);
  hipMemcpy(o.data(), out, o.size() * 4, hipMemcpyDeviceToHost);
  double total = 0;
  for (float v : o) total += v;
  printf("%.1f\n", total);
}
