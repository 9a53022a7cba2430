// Running total along each row, in place.
#include <cstdio>
#include <vector>
using std::vector;

__global__ void runningTotal(int *table, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    int *line = &table[row * cols];
    int total = 0;
    for (int k = 0; k < cols; k++) {
      total += line[k];
      line[k] = total;
    }
  }
}

int main() {
  int rows = 2048, cols = 300;
  vector<int> h(rows * cols);
  for (size_t i = 0; i < h.size(); i++) h[i] = int(i % 11);
  int *d;
  cudaMalloc(&d, h.size() * sizeof(int));
  cudaMemcpy(d, h.data(), h.size() * sizeof(int), cudaMemcpyHostToDevice);
  int threads = 64;
  int blocks = (rows + threads - 1) / threads;
  runningTotal<<<blocks, threads>>>(d, rows, cols);
  cudaMemcpy(h.data(), d, h.size() * sizeof(int), cudaMemcpyDeviceToHost);
  long long s = 0;
  for (size_t i = 0; i < h.size(); i++) s += (long long)h[i] * (i % 5);
  printf("%lld\n", s);
}
