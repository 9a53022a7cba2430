// A volume with the threads' x along its slowest axis.
#include <cstdio>
#include <vector>

__global__ void smooth(const float* in, float* out, int nx, int ny, int nz) {
  int z = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (z >= nz || y >= ny) return;
  for (int x = 1; x < nx - 1; ++x) {
    int at = (x * ny + y) + z * nx * ny;
    out[at] = 0.25f * in[at - ny] + 0.5f * in[at] + 0.25f * in[at + ny];
  }
}

int main() {
  const int nx = 16, ny = 128, nz = 128, n = nx * ny * nz;
  std::vector<float> h(n);
  for (int i = 0; i < n; ++i) h[i] = i % 33;
  float *a, *b;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  cudaMemcpy(a, h.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemset(b, 0, n * 4);
  dim3 threads(32, 4);
  smooth<<<dim3(nz / 32, ny / 4), threads>>>(a, b, nx, ny, nz);
  cudaMemcpy(h.data(), b, n * 4, cudaMemcpyDeviceToHost);
  double s = 0;
  for (float v : h) s += v;
  printf("%.0f\n", s);
}
