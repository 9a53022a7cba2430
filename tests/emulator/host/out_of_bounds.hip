// Writes `argv[1]` elements behind a buffer of 256, then says what the runtime says.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>

__global__ void write(int* p, int at) { p[at] = 1; }

int main(int, char** argv) {
  int *p, *q;
  if (hipMalloc(&p, 1024) != hipSuccess) return 1;
  write<<<1, 1>>>(p, 255 + std::atoi(argv[1]));
  std::printf("launch %s\n", hipGetErrorName(hipGetLastError()));
  std::printf("synchronize %s\n", hipGetErrorName(hipDeviceSynchronize()));
  std::printf("allocate %s\n", hipGetErrorName(hipMalloc(&q, 4)));
  std::printf("reset %s\n", hipGetErrorName(hipDeviceReset()));
  std::printf("allocate %s\n", hipGetErrorName(hipMalloc(&q, 4)));
}
