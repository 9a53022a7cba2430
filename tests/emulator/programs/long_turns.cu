// Lanes that work for longer than the watchdog lets one that waits for others have the processor.
#include <cuda_runtime.h>

constexpr int kTurns = 16000000;

__global__ void long_turns(const int* in, int* out) {
  int sum = 0;
  for (int i = 0; i < kTurns; ++i) sum += in[(i + threadIdx.x) & 1023];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 4096);
  cudaMalloc(&out, 16);
  cudaMemset(in, 0, 4096);
  long_turns<<<2, 2>>>(in, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
