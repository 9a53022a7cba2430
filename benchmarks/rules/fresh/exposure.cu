// How bright the pixels of an image are, in bins whose number only the host knows.
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
#define BINS 256
#define BIN_OF(v) ((int)((v) * (BINS - 1)))
__global__ void histogram2d(const float* image, int width, int height, unsigned int* hist) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int bin = BIN_OF(image[y * width + x]);
  atomicAdd(&hist[bin], 1u);
}
int main() {
  int W = 800, H = 600; std::vector<float> h(W * H);
  for (int i = 0; i < W * H; ++i) h[i] = (float)((i * 7919u) % 1000) / 1000.f * 0.2f + 0.4f;
  float* d = upload(h); unsigned* b; cudaMalloc(&b, BINS * 4); cudaMemset(b, 0, BINS * 4);
  dim3 t(32, 8); dim3 g((W + 31) / 32, (H + 7) / 8);
  histogram2d<<<g, t>>>(d, W, H, b);
  auto o = download(b, BINS); size_t s = 0; for (auto v : o) s += v;
  std::printf("%s\n", s == (size_t)W * H ? "PASS" : "FAIL");
}
