// What each block finds, which the host adds up: products, and how many are positive.
// ./app [count] [kind] [repeats]
#include <numeric>

#include "zoo.h"

__global__ void parts(const float* x, const float* y, float* sums, int* counts, int n) {
  __shared__ float s[128];
  __shared__ int c[128];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  const float product = i < n ? x[i] * y[i] : 0.0f;
  s[t] = product;
  c[t] = product > 0.0f;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) {
      s[t] += s[t + d];
      c[t] += c[t + d];
    }
    __syncthreads();
  }
  if (t == 0) {
    sums[blockIdx.x] = s[0];
    counts[blockIdx.x] = c[0];
  }
}

template <class T>
void fetch(T* to, const T* from, int count) {
  if (cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyDeviceToHost)) exit(8);
}

int main(int argc, char** argv) {
  const int n = zoo::number(argc, argv, 1, 30000);
  const char* kind = zoo::word(argc, argv, 2, "signed");
  const int repeats = zoo::number(argc, argv, 3, 2);
  int blocks = (n + 127) / 128;
  float* sums = nullptr;
  int* counts = nullptr;
  if (cudaMalloc(&sums, blocks * sizeof(float))) exit(9);
  if (cudaMalloc(&counts, blocks * sizeof(int))) exit(9);
  for (int r = 0; r < repeats; ++r) {
    const std::vector<float> x = zoo::floats(n, kind, 1 + r), y = zoo::floats(n, "plain", 9 + r);
    const float *dx = zoo::device(x), *dy = zoo::device(y);
    parts<<<blocks, 128>>>(dx, dy, sums, counts, n);
    if (cudaDeviceSynchronize()) exit(8);

    std::vector<float> each(blocks);
    fetch(each.data(), sums, blocks);
    const double sum = std::accumulate(each.begin(), each.end(), 0.0);

    int* positive = new int[blocks];
    fetch(positive, counts, blocks);
    long total = 0;
    for (int b = 0; b < blocks; ++b) total += positive[b];
    delete[] positive;

    double exact = 0;
    long above = 0;
    for (int i = 0; i < n; ++i) {
      exact += double(x[i]) * y[i];
      above += x[i] * y[i] > 0.0f;
    }
    zoo::check("sum", {float(sum)}, {exact}, 1e-5);
    zoo::same("positive", std::vector<long>{total}, std::vector<long>{above});
  }
  return zoo::failed;
}
