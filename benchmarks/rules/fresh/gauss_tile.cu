// A tile in shared memory read by columns without padding, written out transposed.
#include <cstdio>
#include <vector>
const int T = 32;

__global__ void flip(const float* src, float* dst, int n) {
  __shared__ float t[T][T];
  int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
  t[threadIdx.y][threadIdx.x] = src[y * n + x];
  __syncthreads();
  int tx = blockIdx.y * T + threadIdx.x, ty = blockIdx.x * T + threadIdx.y;
  dst[ty * n + tx] = t[threadIdx.x][threadIdx.y] * 0.5f;
}

int main() {
  const int n = 1024;
  std::vector<float> h(n * n);
  for (int i = 0; i < n * n; ++i) h[i] = i % 1000;
  float *a, *b;
  cudaMalloc(&a, n * n * 4); cudaMalloc(&b, n * n * 4);
  cudaMemcpy(a, h.data(), n * n * 4, cudaMemcpyHostToDevice);
  flip<<<dim3(n / T, n / T), dim3(T, T)>>>(a, b, n);
  cudaMemcpy(h.data(), b, n * n * 4, cudaMemcpyDeviceToHost);
  double s = 0;
  for (int i = 0; i < n; ++i) s += h[i * n + (i * 7) % n];
  printf("%.1f\n", s);
}
