// Two-dimensional blocks with x for the row.
#include <cstdio>
#include <vector>

__global__ void add(const float* a, const float* b, float* c, int rows, int cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && col < cols) {
    int at = row * cols + col;
    c[at] = a[at] + b[at];
  }
}

int main() {
  const int rows = 2000, cols = 1500;
  std::vector<float> h(rows * cols);
  for (int i = 0; i < rows * cols; ++i) h[i] = i % 37;
  float *a, *b, *c;
  cudaMalloc(&a, h.size() * 4); cudaMalloc(&b, h.size() * 4); cudaMalloc(&c, h.size() * 4);
  cudaMemcpy(a, h.data(), h.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(b, h.data(), h.size() * 4, cudaMemcpyHostToDevice);
  dim3 block(32, 8);
  dim3 grid((cols + 31) / 32, (rows + 7) / 8);
  add<<<grid, block>>>(a, b, c, rows, cols);
  cudaMemcpy(h.data(), c, h.size() * 4, cudaMemcpyDeviceToHost);
  double s = 0;
  for (float v : h) s += v;
  printf("%.0f\n", s);
}
