// Transposition without shared memory.
#include <cstdio>
#include <vector>

__global__ void transpose(const double* in, double* out, int w, int h) {
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 8 + threadIdx.y;
  if (x < w && y < h) out[x * h + y] = in[y * w + x];
}

int main() {
  const int w = 1280, h = 960;
  std::vector<double> v(w * h);
  for (int i = 0; i < w * h; ++i) v[i] = i % 101;
  double *a, *b;
  cudaMalloc(&a, v.size() * 8);
  cudaMalloc(&b, v.size() * 8);
  cudaMemcpy(a, v.data(), v.size() * 8, cudaMemcpyHostToDevice);
  transpose<<<dim3(w / 32, h / 8), dim3(32, 8)>>>(a, b, w, h);
  cudaMemcpy(v.data(), b, v.size() * 8, cudaMemcpyDeviceToHost);
  double s = 0;
  for (size_t i = 0; i < v.size(); ++i) s += v[i] * (i % 9);
  printf("%.0f\n", s);
}
