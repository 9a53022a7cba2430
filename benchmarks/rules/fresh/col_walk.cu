// x and y of a grid the wrong way round: neighbours in a wave are a row apart. Template over the element.
#include <cstdio>
#include <vector>
#define AT(m, row, col, ld) m[(row) * (ld) + (col)]

template <typename T>
__global__ void scale_add(const T* a, const T* b, T* c, int rows, int cols, T alpha) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && col < cols) AT(c, row, col, cols) = alpha * AT(a, row, col, cols) + AT(b, row, col, cols);
}

int main() {
  int rows = 1200, cols = 900;
  std::vector<float> h(rows * cols);
  for (int i = 0; i < rows * cols; i++) h[i] = i % 101;
  float *a, *b, *c;
  size_t bytes = h.size() * sizeof(float);
  cudaMalloc(&a, bytes); cudaMalloc(&b, bytes); cudaMalloc(&c, bytes);
  cudaMemcpy(a, h.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(b, h.data(), bytes, cudaMemcpyHostToDevice);
  dim3 t(16, 16);
  scale_add<float><<<dim3((rows + 15) / 16, (cols + 15) / 16), t>>>(a, b, c, rows, cols, 1.5f);
  cudaMemcpy(h.data(), c, bytes, cudaMemcpyDeviceToHost);
  double s = 0;
  for (float v : h) s += v;
  printf("%.1f\n", s);
}
