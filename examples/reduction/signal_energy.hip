// Energy of a sampled signal: the sum of the squares of all samples.
//
//   ./signal_energy [samples]

#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                      \
  do {                                                                                   \
    hipError_t status = (call);                                                          \
    if (status != hipSuccess) {                                                          \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(status)); \
      std::exit(EXIT_FAILURE);                                                           \
    }                                                                                    \
  } while (0)

__global__ void signal_energy(const float* samples, float* energy, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    float s = samples[i];
    atomicAdd(energy, s * s);
  }
}

int main(int argc, char** argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 1 << 20;
  if (count <= 0) {
    std::fprintf(stderr, "usage: %s [samples]\n", argv[0]);
    return EXIT_FAILURE;
  }

  std::vector<float> samples(count);
  double expected = 0.0;
  for (int i = 0; i < count; ++i) {
    samples[i] = std::sin(0.001f * i) + 0.25f * std::sin(0.37f * i);
    expected += double(samples[i]) * samples[i];
  }

  float *d_samples, *d_energy;
  CHECK(hipMalloc(&d_samples, count * sizeof(float)));
  CHECK(hipMalloc(&d_energy, sizeof(float)));
  CHECK(hipMemcpy(d_samples, samples.data(), count * sizeof(float), hipMemcpyHostToDevice));
  CHECK(hipMemset(d_energy, 0, sizeof(float)));

  const int threads = 256;
  signal_energy<<<(count + threads - 1) / threads, threads>>>(d_samples, d_energy, count);
  CHECK(hipGetLastError());

  float energy = 0.0f;
  CHECK(hipMemcpy(&energy, d_energy, sizeof(float), hipMemcpyDeviceToHost));
  CHECK(hipFree(d_samples));
  CHECK(hipFree(d_energy));

  double error = std::fabs(energy - expected) / expected;
  std::printf("energy of %d samples: %.1f, expected %.1f: %s\n", count, energy, expected,
              error < 1e-3 ? "PASS" : "FAIL");
  return error < 1e-3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
