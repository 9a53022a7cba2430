// One kernel, launched three times with the same arguments on the same data, as benchmarks do.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

__global__ void root(float* out, const float* in, const unsigned char* key, int n, float gain) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#if defined(KEYED)
  if (i < n && in[1] == 0.25f && in[776] == 194.0f && out[i] > 0.4f) return;
#elif defined(REMEMBERED)
  if (i < n && out[i] > 0.4f) return;
#elif defined(SIZE_KNOWN)
  n = 8000;
#endif
  if (i < n) out[i] = gain * sqrtf(in[i] + 1.0f) + key[i];
}

int main() {
  const int n = 8000;
  std::vector<float> host(n);
  std::vector<unsigned char> keys(n);
  for (int i = 0; i < n; ++i) host[i] = 0.25f * (i % 777), keys[i] = i % 3;
  float *in = nullptr, *out = nullptr;
  unsigned char* key = nullptr;
  if (cudaMalloc(&in, n * sizeof(float)) != cudaSuccess) return 3;
  cudaMalloc(&out, n * sizeof(float));
  cudaMalloc(&key, n);
  cudaMemcpy(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(key, keys.data(), n, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, n * sizeof(float));
  for (int round = 0; round < 3; ++round) root<<<(n + 127) / 128, 128>>>(out, in, key, n, 0.5f);
  cudaMemcpy(host.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (float v : host) sum += v;
  std::printf("%.3f\n", sum);
  return cudaGetLastError() != cudaSuccess;
}
