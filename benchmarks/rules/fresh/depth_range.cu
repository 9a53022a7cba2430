// The least and the greatest depth of an image, by atomics on the members of a structure.
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
struct Range { unsigned lo, hi; };
__global__ void value_range(const unsigned short* depth, int w, int h, Range* range) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) {
    unsigned v = depth[y * w + x];
    if (v != 0) { atomicMin(&range->lo, v); atomicMax(&range->hi, v); }
  }
}
int main() {
  int W = 640, H = 480; std::vector<unsigned short> d(W * H); for (int i = 0; i < W * H; ++i) d[i] = (i * 7919u) % 4000;
  std::vector<Range> r(1, Range{~0u, 0u});
  auto* dd = upload(d); auto* dr = upload(r);
  value_range<<<dim3((W + 31) / 32, (H + 7) / 8), dim3(32, 8)>>>(dd, W, H, dr);
  auto o = download(dr, 1)[0]; unsigned lo = ~0u, hi = 0; for (auto v : d) if (v) { lo = v < lo ? v : lo; hi = v > hi ? v : hi; }
  std::printf("%s\n", o.lo == lo && o.hi == hi ? "PASS" : "FAIL");
}
