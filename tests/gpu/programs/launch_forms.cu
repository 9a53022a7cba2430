// One kernel launched in every way that the driver knows, on memory of every kind. Prints the sum of all results.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                       \
  do {                                                                                    \
    cudaError_t status = (call);                                                          \
    if (status != cudaSuccess) {                                                          \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status));        \
      std::exit(1);                                                                       \
    }                                                                                     \
  } while (0)

struct View {
  float* data;
  int count;
};

__device__ float offset = 1.0f;
__constant__ float factors[4] = {1.0f, 2.0f, 3.0f, 4.0f};

__global__ void scale(View view, const float* __restrict__ in, int which) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < view.count) view.data[i] += factors[which & 3] * in[i] + offset;
}

__global__ void together(float* data, int count) {
  cooperative_groups::this_grid().sync();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] += 1.0f;
}

int main() {
  const int n = 1 << 16, threads = 256, blocks = n / threads;
  float *plain, *in, *managed, *pooled, *pinned;
  CHECK(cudaMalloc(&plain, n * sizeof(float)));
  CHECK(cudaMalloc(&in, n * sizeof(float)));
  CHECK(cudaMallocManaged(&managed, n * sizeof(float)));
  CHECK(cudaMallocHost(&pinned, n * sizeof(float)));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMallocAsync(&pooled, n * sizeof(float), stream));
  for (int i = 0; i < n; ++i) pinned[i] = managed[i] = 0.5f * (i % 100);
  CHECK(cudaMemcpy(in, pinned, n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(plain, 0, n * sizeof(float)));
  CHECK(cudaMemsetAsync(pooled, 0, n * sizeof(float), stream));

  scale<<<blocks, threads>>>({plain, n}, in, 0);
  scale<<<blocks, threads>>>({managed, n}, in, 1);
  scale<<<blocks, threads, 0, stream>>>({pooled, n}, in + 0, 2);

  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.stream = stream;
  CHECK(cudaLaunchKernelEx(&config, scale, View{pooled, n}, static_cast<const float*>(in), 3));

  int count = n;
  void* arguments[] = {&plain, &count};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(together), dim3(64), dim3(threads), arguments, 0, nullptr));

  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  scale<<<blocks, threads, 0, stream>>>({plain, n}, in, 1);
  scale<<<blocks, threads, 0, stream>>>({plain, n}, in, 2);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));

  double sum = 0;
  for (float* source : {plain, managed, pooled}) {
    CHECK(cudaMemcpy(pinned, source, n * sizeof(float), cudaMemcpyDefault));
    for (int i = 0; i < n; ++i) sum += pinned[i];
  }
  CHECK(cudaFreeAsync(pooled, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaFree(plain));
  CHECK(cudaFree(in));
  std::printf("%.1f\n", sum);
  return 0;
}
