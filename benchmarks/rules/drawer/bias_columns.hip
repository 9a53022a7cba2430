// One-dimensional blocks down the rows, a column for each block of the grid's second dimension.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

__global__ void addBias(float* m, const float* bias, int height, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y;
  if (x < width) {
    float v = m[y * width + x] + bias[x];
    m[y * width + x] = v > 0 ? v : 0;
  }
}

int main() {
  const int height = 4000, width = 700;
  std::vector<float> h(height * width), b(width);
  for (int i = 0; i < height * width; ++i) h[i] = i % 21 - 10;
  for (int i = 0; i < width; ++i) b[i] = i % 3;
  float *m, *bias;
  hipMalloc(&m, h.size() * 4);
  hipMalloc(&bias, width * 4);
  hipMemcpy(m, h.data(), h.size() * 4, hipMemcpyHostToDevice);
  hipMemcpy(bias, b.data(), width * 4, hipMemcpyHostToDevice);
  dim3 grid((width + 127) / 128, height);
  addBias<<<grid, 128>>>(m, bias, height, width);
  hipMemcpy(h.data(), m, h.size() * 4, hipMemcpyDeviceToHost);
  double s = 0;
  for (float v : h) s += v;
  printf("%.0f\n", s);
}
