// Device printf: waves hand what they print to a thread of the host, and wait for it.
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void say(int launch) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 50 == 0) printf("launch %d thread %d half %.1f %s\n", launch, i, i * 0.5, i % 100 ? "odd" : "even");
}

int main() {
  for (int launch = 0; launch < 2; ++launch) {
    say<<<2, 128>>>(launch);
    if (hipDeviceSynchronize() != hipSuccess) return 1;
  }
  std::puts("end");
}
