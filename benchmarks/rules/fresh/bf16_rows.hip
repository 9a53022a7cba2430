// bf16 rows summed to float, a row per thread, through a small loader function.
#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <cstdio>
#include <vector>

__device__ float load(const __hip_bfloat16* p, int i) { return __bfloat162float(p[i]); }

__global__ void sums(const __hip_bfloat16* m, float* out, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += load(m, r * cols + c);
    out[r] = s;
  }
}

int main() {
  const int rows = 4096, cols = 600;
  std::vector<__hip_bfloat16> h(rows * cols);
  for (int i = 0; i < rows * cols; ++i) h[i] = __float2bfloat16((i % 8) * 0.5f);
  __hip_bfloat16* m; float* o;
  hipMalloc(&m, h.size() * 2); hipMalloc(&o, rows * 4);
  hipMemcpy(m, h.data(), h.size() * 2, hipMemcpyHostToDevice);
  sums<<<rows / 256, 256>>>(m, o, rows, cols);
  std::vector<float> r(rows);
  hipMemcpy(r.data(), o, rows * 4, hipMemcpyDeviceToHost);
  double s = 0;
  for (float v : r) s += v;
  printf("%.1f\n", s);
}
