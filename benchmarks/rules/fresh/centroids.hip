// Sums and numbers of the points of each cluster, by atomics.
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdio>
#include <vector>

template <typename T>
T* upload(const std::vector<T>& host) {
  T* device;
  hipMalloc(&device, host.size() * sizeof(T));
  hipMemcpy(device, host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice);
  return device;
}

template <typename T>
std::vector<T> download(const T* device, size_t count) {
  std::vector<T> host(count);
  hipMemcpy(host.data(), device, count * sizeof(T), hipMemcpyDeviceToHost);
  return host;
}
#define K 8
#define DIM 4
__global__ void accumulate(const float* pts, const int* assign, float* sums, int* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int c = assign[i];
  for (int d = 0; d < DIM; ++d) atomicAdd(&sums[c * DIM + d], pts[i * DIM + d]);
  atomicAdd(&counts[c], 1);
}
int main() {
  int n = 100000; std::vector<float> p(n * DIM); std::vector<int> a(n); for (int i = 0; i < n; ++i) { a[i] = (i * 31) % K; for (int d = 0; d < DIM; ++d) p[i * DIM + d] = (i + d) % 10; }
  float* dp = upload(p); int* da = upload(a); float* s; int* c; hipMalloc(&s, K * DIM * 4); hipMalloc(&c, K * 4);
  hipMemset(s, 0, K * DIM * 4); hipMemset(c, 0, K * 4);
  accumulate<<<(n + 255) / 256, 256>>>(dp, da, s, c, n);
  auto r = download(c, K); int t = 0; for (int v : r) t += v;
  std::printf("%s\n", t == n ? "PASS" : "FAIL");
}
