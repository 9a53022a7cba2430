// Norms of rows that a list of numbers picks from a table, a row per thread.
#include <cmath>
#include <cstdio>
#include <vector>

template <typename T>
T* upload(const std::vector<T>& host) {
  T* device;
  cudaMalloc(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

template <typename T>
std::vector<T> download(const T* device, size_t count) {
  std::vector<T> host(count);
  cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
  return host;
}
__global__ void gather_norms(const float* table, const int* ids, float* out, int n, int dim) {
  int t = blockDim.x * blockIdx.x + threadIdx.x;
  if (t >= n) return;
  const float* e = table + (size_t)ids[t] * dim;
  float s = 0.0f;
  for (int d = 0; d < dim; ++d) s += fabsf(e[d]);
  out[t] = s / dim;
}
int main() {
  int V = 3000, D = 96, n = 8000; std::vector<float> t(V * D); for (int i = 0; i < V * D; ++i) t[i] = (i % 19) - 9.f;
  std::vector<int> ids(n); for (int i = 0; i < n; ++i) ids[i] = (i * 7919) % V;
  float* dt = upload(t); int* di = upload(ids); float* o; cudaMalloc(&o, n * 4);
  gather_norms<<<(n + 255) / 256, 256>>>(dt, di, o, n, D);
  auto r = download(o, n); bool ok = true; for (int i = 0; i < n; i += 91) { double s = 0; for (int d = 0; d < D; ++d) s += std::fabs(t[ids[i] * D + d]); ok &= std::fabs(s / D - r[i]) < 1e-2; }
  std::printf("%s\n", ok ? "PASS" : "FAIL");
}
