// Buckets counted through a device function of the program's own.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

constexpr int BUCKETS = 32;

__device__ inline int bucketOf(float v) { return min(max(int(v * BUCKETS), 0), BUCKETS - 1); }

__device__ void bump(unsigned* counters, int which) { atomicAdd(counters + which, 1u); }

__global__ void count(const float* values, unsigned* counters, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) bump(counters, bucketOf(values[i]));
}

int main() {
  const int n = 300000;
  std::vector<float> h(n);
  for (int i = 0; i < n; ++i) h[i] = (i * 31 % 1000) / 1000.f * ((i & 1) ? 0.2f : 1.f);
  float* v;
  unsigned* c;
  hipMalloc(&v, n * 4);
  hipMalloc(&c, BUCKETS * 4);
  hipMemcpy(v, h.data(), n * 4, hipMemcpyHostToDevice);
  hipMemset(c, 0, BUCKETS * 4);
  count<<<(n + 255) / 256, 256>>>(v, c, n);
  unsigned out[BUCKETS];
  hipMemcpy(out, c, sizeof out, hipMemcpyDeviceToHost);
  for (unsigned b : out) printf("%u ", b);
  printf("\n");
}
