// Two kinds of cells that alternate in memory: each is relaxed by its own law, many times.
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                        \
  do {                                                                                     \
    hipError_t status = (call);                                                            \
    if (status != hipSuccess) {                                                            \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(status)); \
      return 1;                                                                            \
    }                                                                                      \
  } while (0)

__global__ void relax(const float* in, float* out, int cells, int steps) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= cells) return;
  float x = in[t];
  if (t % 2 == 0) {
    for (int s = 0; s < steps; ++s) x = x * 0.998f + 0.25f;
  } else {
    for (int s = 0; s < steps; ++s) x = 1.0f - x * x * 0.125f;
  }
  out[t] = x;
}

int main(int argc, char** argv) {
  const int cells = argc > 1 ? std::atoi(argv[1]) : 1 << 17, steps = argc > 2 ? std::atoi(argv[2]) : 1000;
  std::vector<float> in(cells), out(cells);
  for (int i = 0; i < cells; ++i) in[i] = 0.001f * float(i * 17 % 1000);

  float *device_in, *device_out;
  CHECK(hipMalloc(&device_in, cells * sizeof(float)));
  CHECK(hipMalloc(&device_out, cells * sizeof(float)));
  CHECK(hipMemcpy(device_in, in.data(), cells * sizeof(float), hipMemcpyHostToDevice));
  const int threads = 256;
  relax<<<(cells + threads - 1) / threads, threads>>>(device_in, device_out, cells, steps);
  CHECK(hipGetLastError());
  CHECK(hipMemcpy(out.data(), device_out, cells * sizeof(float), hipMemcpyDeviceToHost));

  int wrong = 0;
  for (int i = 0; i < cells; i += cells / 500 + 1) {
    float x = in[i];
    for (int s = 0; s < steps; ++s) x = i % 2 == 0 ? x * 0.998f + 0.25f : 1.0f - x * x * 0.125f;
    wrong += !(std::fabs(out[i] - x) <= 1e-3f * std::fabs(x));
  }
  std::printf("%d cells, %d steps: %s\n", cells, steps, wrong ? "FAIL" : "PASS");
  CHECK(hipFree(device_in));
  CHECK(hipFree(device_out));
  return wrong != 0;
}
