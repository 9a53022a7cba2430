// Squared error summed by a block reduction in LDS, one element per thread, double accumulators.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
constexpr int BLOCK = 256;

__global__ void loss(const float* p, const float* q, double* total, int n) {
  __shared__ double part[BLOCK];
  int lid = threadIdx.x, gid = blockIdx.x * BLOCK + lid;
  double d = gid < n ? double(p[gid]) - double(q[gid]) : 0.0;
  part[lid] = d * d;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (lid < half) part[lid] += part[lid + half];
    __syncthreads();
  }
  if (lid == 0) atomicAdd(total, part[0]);
}

int main() {
  const int n = 2500000;
  std::vector<float> a(n), b(n);
  for (int i = 0; i < n; ++i) { a[i] = i % 17; b[i] = i % 19; }
  float *p, *q; double *t, out = 0;
  hipMalloc(&p, n * 4); hipMalloc(&q, n * 4); hipMalloc(&t, 8);
  hipMemcpy(p, a.data(), n * 4, hipMemcpyHostToDevice);
  hipMemcpy(q, b.data(), n * 4, hipMemcpyHostToDevice);
  hipMemcpy(t, &out, 8, hipMemcpyHostToDevice);
  loss<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(p, q, t, n);
  hipMemcpy(&out, t, 8, hipMemcpyDeviceToHost);
  printf("%.1f\n", out / n);
}
