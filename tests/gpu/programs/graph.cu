// A graph in which what the first launch of a kernel wrote is gone at the end.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#define CHECK(call) \
  if (cudaError_t status = (call)) return std::fprintf(stderr, "%s\n", cudaGetErrorString(status)), 1

__global__ void stage(float* data, int number) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef LOST
  if (number == 1) return;
#endif
  data[i] += number * (i + 1);
}

__global__ void clear(float* data) { data[blockIdx.x * blockDim.x + threadIdx.x] = 7; }

int main() {
  const int n = 1 << 16;
  float* data = nullptr;
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  CHECK(cudaMalloc(&data, n * sizeof(float)));
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemsetAsync(data, 0, n * sizeof(float), stream));
  stage<<<n / 256, 256, 0, stream>>>(data, 1);
  clear<<<n / 256, 256, 0, stream>>>(data);
  stage<<<n / 256, 256, 0, stream>>>(data, 2);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  std::vector<float> host(n);
  CHECK(cudaMemcpy(host.data(), data, n * sizeof(float), cudaMemcpyDeviceToHost));
  double sum = 0;
  for (float v : host) sum += v;
  std::printf("%.1f\n", sum);
  return 0;
}
