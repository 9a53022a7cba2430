// Several elements per thread, next to each other; the number is a template's.
#include <cstdio>
#include <vector>

template <int PER_THREAD>
__global__ void scale(const float* in, float* out, float factor, int n) {
  int first = blockIdx.x * blockDim.x * PER_THREAD + threadIdx.x;
  for (int k = 0; k < PER_THREAD; ++k) {
    int at = first + k * blockDim.x;
    if (at < n) out[at] = in[at] * factor + 1.0f;
  }
}

int main() {
  const int n = 1 << 22;
  std::vector<float> h(n);
  for (int i = 0; i < n; ++i) h[i] = i % 19;
  float *a, *b;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  cudaMemcpy(a, h.data(), n * 4, cudaMemcpyHostToDevice);
  scale<16><<<(n + 256 * 16 - 1) / (256 * 16), 256>>>(a, b, 3.0f, n);
  cudaMemcpy(h.data(), b, n * 4, cudaMemcpyDeviceToHost);
  double s = 0;
  for (float v : h) s += v;
  printf("%.0f\n", s);
}
