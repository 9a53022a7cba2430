// Maximum of all readings with a global atomicMax per thread; macro for the global index.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
#define GLOBAL_ID (blockIdx.x * blockDim.x + threadIdx.x)
#define HIP_OK(x) if ((x) != hipSuccess) { printf("failed: %s\n", #x); return 1; }

__global__ void peak(const int* readings, int* best, int n) {
  unsigned id = GLOBAL_ID;
  if (id >= n) return;
  int v = readings[id];
  atomicMax(best, v);
}

int main() {
  int n = 3000000;
  std::vector<int> h(n);
  for (int i = 0; i < n; ++i) h[i] = (i * 2654435761u) >> 8;
  int *d, *b, out = -1;
  HIP_OK(hipMalloc(&d, n * 4)); HIP_OK(hipMalloc(&b, 4));
  HIP_OK(hipMemcpy(d, h.data(), n * 4, hipMemcpyHostToDevice));
  HIP_OK(hipMemcpy(b, &out, 4, hipMemcpyHostToDevice));
  peak<<<(n + 255) / 256, 256>>>(d, b, n);
  HIP_OK(hipMemcpy(&out, b, 4, hipMemcpyDeviceToHost));
  printf("%d\n", out);
}
