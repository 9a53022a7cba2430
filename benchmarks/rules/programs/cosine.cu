// Cosine of each row with a query; the row is walked by device functions.
#include <cstdio>
#include <vector>

__device__ float dot(const float* a, const float* b, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

__device__ inline float length(const float* a, int n) { return sqrtf(dot(a, a, n)); }

__global__ void similarity(const float* items, const float* query, float* score, int count, int dims) {
  int item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item >= count) return;
  const float* mine = items + (size_t)item * dims;
  score[item] = dot(mine, query, dims) / (length(mine, dims) * length(query, dims));
}

int main() {
  const int count = 2500, dims = 256;
  std::vector<float> items(count * dims), query(dims), score(count);
  for (size_t i = 0; i < items.size(); ++i) items[i] = 1 + (i * 13 % 29) * 0.1f;
  for (int i = 0; i < dims; ++i) query[i] = 1 + i % 3;
  float *a, *q, *s;
  cudaMalloc(&a, items.size() * 4);
  cudaMalloc(&q, dims * 4);
  cudaMalloc(&s, count * 4);
  cudaMemcpy(a, items.data(), items.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(q, query.data(), dims * 4, cudaMemcpyHostToDevice);
  similarity<<<(count + 255) / 256, 256>>>(a, q, s, count, dims);
  cudaMemcpy(score.data(), s, count * 4, cudaMemcpyDeviceToHost);
  double total = 0;
  for (float v : score) total += v;
  printf("%.2f\n", total);
}
