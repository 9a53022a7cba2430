// Dot product the way it should be done: grid-stride loop, warp shuffles, one atomic per block.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

constexpr int kThreads = 256;
constexpr unsigned kAllLanes = 0xffffffffu;

__device__ float warpSum(float value) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) value += __shfl_down_sync(kAllLanes, value, offset);
  return value;
}

__global__ void dot(const float* __restrict__ x, const float* __restrict__ y, float* result, int n) {
  __shared__ float partial[kThreads / 32];
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += x[i] * y[i];

  sum = warpSum(sum);
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  if (lane == 0) partial[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < kThreads / 32 ? partial[lane] : 0.0f;
    sum = warpSum(sum);
    if (lane == 0) atomicAdd(result, sum);
  }
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1 << 22;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) {
    x[i] = (i % 17) * 0.125f;
    y[i] = (i % 5) * 0.5f;
  }
  const double expected = std::inner_product(x.begin(), x.end(), y.begin(), 0.0);

  float *dx, *dy, *dresult;
  float result = -1.0f;
  const size_t bytes = n * sizeof(float);
  bool fine = cudaMalloc(&dx, bytes) == cudaSuccess && cudaMalloc(&dy, bytes) == cudaSuccess &&
              cudaMalloc(&dresult, sizeof(float)) == cudaSuccess;
  fine = fine && cudaMemcpy(dx, x.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess &&
         cudaMemcpy(dy, y.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess &&
         cudaMemset(dresult, 0, sizeof(float)) == cudaSuccess;
  if (fine) {
    int device = 0, multiprocessors = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    dot<<<4 * multiprocessors, kThreads>>>(dx, dy, dresult, n);
    fine = cudaMemcpy(&result, dresult, sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess;
  }
  cudaFree(dx);
  cudaFree(dy);
  cudaFree(dresult);
  if (!fine) {
    std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 1;
  }
  const bool close = std::fabs(result - expected) <= 1e-4 * expected;
  std::printf("dot product of %d elements: %.2f, expected %.2f: %s\n", n, result, expected, close ? "PASS" : "FAIL");
  return close ? 0 : 1;
}
