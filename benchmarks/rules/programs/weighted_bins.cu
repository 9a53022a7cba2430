// Weights added to few bins.
#include <cstdio>
#include <vector>
typedef float weight_t;
const int kBins = 64;

__global__ void fill(const int* key, const weight_t* weight, weight_t* bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    const int bin = key[i] & (kBins - 1);
    atomicAdd(&bins[bin], weight[i]);
  }
}

int main() {
  const int n = 300000;
  std::vector<int> k(n);
  std::vector<float> w(n);
  for (int i = 0; i < n; ++i) { k[i] = i * 13 % 1021; w[i] = (i % 4) * 0.5f; }
  int* dk;
  float *dw, *db, out[kBins];
  cudaMalloc(&dk, n * 4); cudaMalloc(&dw, n * 4); cudaMalloc(&db, sizeof out);
  cudaMemcpy(dk, k.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dw, w.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemset(db, 0, sizeof out);
  fill<<<48, 256>>>(dk, dw, db, n);
  cudaMemcpy(out, db, sizeof out, cudaMemcpyDeviceToHost);
  double s = 0;
  for (int i = 0; i < kBins; ++i) s += out[i] * i;
  printf("%.0f\n", s);
}
