// What NVIDIA's L1 keeps of a block's stores, against the same in LDS.
#include <cstdio>

__global__ void exchanged_in_memory(float* y) {
  float* own = y + blockIdx.x * 256;
  own[threadIdx.x] = float(threadIdx.x);
  for (int step = 1; step < 256; step *= 2) {
    __syncthreads();
    const float other = own[threadIdx.x ^ step];
    __syncthreads();
    own[threadIdx.x] = other + 1;
  }
}

__global__ void exchanged_in_lds(float* y) {
  __shared__ float own[256];
  own[threadIdx.x] = float(threadIdx.x);
  for (int step = 1; step < 256; step *= 2) {
    __syncthreads();
    const float other = own[threadIdx.x ^ step];
    __syncthreads();
    own[threadIdx.x] = other + 1;
  }
  y[blockIdx.x * 256 + threadIdx.x] = own[threadIdx.x];
}

template <class Launch>
static void timed(const char* name, Launch launch) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin), cudaEventCreate(&end);
  cudaEventRecord(begin);
  launch();
  cudaEventRecord(end);
  float milliseconds = 0;
  cudaEventElapsedTime(&milliseconds, begin, end);
  std::printf("%s %.9f\n", name, milliseconds);
}

int main() {
  constexpr int blocks = 128;
  float* y;
  cudaMalloc(&y, blocks * 256 * sizeof(float));
  timed("exchanged_in_memory", [&] { exchanged_in_memory<<<blocks, 256>>>(y); });
  timed("exchanged_in_lds", [&] { exchanged_in_lds<<<blocks, 256>>>(y); });
  return 0;
}
