#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

// Neighbouring threads read neighbouring words and write words that lie a row apart.
__global__ void turn(const float* in, float* out, int rows, int columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < columns) out[column * rows + row] = in[row * columns + column];
}

int main() {
  const int rows = 256, columns = 256, n = rows * columns;
  std::vector<float> host(n), turned(n);
  for (int i = 0; i < n; ++i) host[i] = static_cast<float>(i % 1009);
  float *in, *out;
  if (hipMalloc(reinterpret_cast<void**>(&in), n * sizeof(float)) != hipSuccess) return 1;
  if (hipMalloc(reinterpret_cast<void**>(&out), n * sizeof(float)) != hipSuccess) return 1;
  if (hipMemcpy(in, host.data(), n * sizeof(float), hipMemcpyHostToDevice) != hipSuccess) return 1;
  turn<<<dim3(columns / 32, rows / 8), dim3(32, 8)>>>(in, out, rows, columns);
  if (hipMemcpy(turned.data(), out, n * sizeof(float), hipMemcpyDeviceToHost) != hipSuccess) return 1;
  std::printf("%.1f\n", turned[1000]);
}
