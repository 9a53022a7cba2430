// Largest of all by a compare-and-swap loop on a float.
#include <cstdio>
#include <vector>

__device__ float atomicMaxFloat(float* address, float value) {
  int* as_int = (int*)address;
  int old = *as_int, assumed;
  do {
    assumed = old;
    old = atomicCAS(as_int, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
  } while (assumed != old);
  return __int_as_float(old);
}

__global__ void largest(const float* v, float* top, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMaxFloat(top, v[i]);
}

int main() {
  const int n = 200000;
  std::vector<float> h(n);
  for (int i = 0; i < n; ++i) h[i] = (i * 7919LL % 100003) * 0.5f;
  float *d, *t, top = 0;
  cudaMalloc(&d, n * 4);
  cudaMalloc(&t, 4);
  cudaMemcpy(d, h.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(t, &top, 4, cudaMemcpyHostToDevice);
  largest<<<(n + 255) / 256, 256>>>(d, t, n);
  cudaMemcpy(&top, t, 4, cudaMemcpyDeviceToHost);
  printf("%.1f\n", top);
}
