// Transposition without shared memory.
#include <cstdio>
#include <vector>

__global__ void transpose(const double* in, double* out, int w, int h) {
  __shared__ double tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (x < w && y + k < h) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * w + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (x < h && y + k < w) out[(y + k) * h + x] = tile[threadIdx.x][threadIdx.y + k];
}

int main() {
  const int w = 1280, h = 960;
  std::vector<double> v(w * h);
  for (int i = 0; i < w * h; ++i) v[i] = i % 101;
  double *a, *b;
  cudaMalloc(&a, v.size() * 8);
  cudaMalloc(&b, v.size() * 8);
  cudaMemcpy(a, v.data(), v.size() * 8, cudaMemcpyHostToDevice);
  transpose<<<dim3(w / 32, h / 32), dim3(32, 8)>>>(a, b, w, h);
  cudaMemcpy(v.data(), b, v.size() * 8, cudaMemcpyDeviceToHost);
  double s = 0;
  for (size_t i = 0; i < v.size(); ++i) s += v[i] * (i % 9);
  printf("%.0f\n", s);
}
